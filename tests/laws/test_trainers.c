/* Emitted scripts come in again: random plans as scripts of every framework are read as the plans that they were, or
 * the key is named that the framework cannot say. */
#include <inttypes.h>
#include <math.h>

#include "answer/emit.h"
#include "answer/trainer/plan.h"
#include "answer/trainer/trainer.h"
#include "base/random.h"
#include "models/outcome/cost.h"
#include "models/plan/key.h"
#include "models/work/transformer.h"
#include "tests/job.h"
#include "tests/plan_values.h"

/* Values that go together, between bars. */
static const char *const values[][10] = {
    {"tp=1|sequence_parallel=false", "tp=2|sequence_parallel=true",
     "tp=4|sequence_parallel=false", "tp=8|sequence_parallel=true",
     "tp=8|sequence_parallel=true|overlap_tp=true"},
    {"pp=1", "pp=1", "pp=2|schedule=1f1b", "pp=4|schedule=interleaved|chunks=2",
     "pp=4|schedule=interleaved|chunks=4|p2p=duplex", "pp=2|schedule=gpipe",
     "pp=8|stage_layers=best", "pp=4|schedule=zero-bubble-v|chunks=2"},
    {"dp=2", "dp=4", "dp=8", "dp=16"},
    {"cp=1", "cp=1", "cp=1", "cp=2|context=ring", "cp=2|context=all-to-all"},
    {"ep=1", "ep=1", "ep=2", "ep=8", "ep=8|etp=1|overlap_experts=true"},
    {"zero=0", "zero=1", "zero=1|overlap=gradient", "zero=2", "zero=3",
     "zero=3|reshard_after_forward=false", "zero=1|overlap=gradient|bucket=40 MiB",
     "zero=0|overlap=gradient"},
    {"", "", "zero_ranks=2"},
    {"recompute=none", "recompute=full", "recompute=selective", "recompute=mlp+core_attn",
     "recompute=selective_op", "recompute=full|recompute_layers=3",
     "recompute=none|offload=activations|offload_layers=3"},
    {"attention=flash", "attention=plain", "attention=flash-2"},
    {"graphs=none", "graphs=layers", "graphs=iteration"},
    {"accumulation=fused", "accumulation=apart"},
    {"loss=fused", "loss=native", "loss=unfused", "loss=eager", "loss=parallel-compiled"},
    {"micro_batch=1", "micro_batch=2", "micro_batch=4"},
    {"global_batch=512", "global_batch=1024"},
    {"", "", "offload=optimizer"},
    {"dispatch_ranks=0", "dispatch_ranks=8", "dispatch_ranks=1"},
    {"rank_order=tp-dp-pp", "rank_order=tp-dp-pp", "rank_order=tp-pp-dp"},
    {"iterations=1000", ""},
    {"", "", "model.dtype=fp8|model.attention_dtype=fp8",
     "model.dtype=fp8|model.logits_dtype=fp8"},
};
enum { KEYS = sizeof values / sizeof *values };

/* Llama's with a window in three layers of four. */
#define WINDOWED                                                                               \
    "{\"schema\": \"forerun/model/1\", \"name\": \"windowed\", \"kind\": \"transformer\", "    \
    "\"layers\": 32, \"hidden\": 4096, \"heads\": 32, \"kv_heads\": 8, \"ffn\": 14336, "       \
    "\"sequence\": 8192, \"vocabulary\": 32000, \"gated\": true, \"norm\": \"rms\", "          \
    "\"biases\": false, \"positions\": \"rotary\", \"dropout\": false, \"window\": 1024, "     \
    "\"window_layers\": 24}"
static const char *const models[] = {"llama-3-8b", "mixtral-8x7b", "gpt3-175b", "deepseek-v3",
                                     WINDOWED};

/* A random plan; false where it cannot be loaded. */
static bool draw(uint64_t *rng, const char *model, struct fr_job *job) {
    static char words[KEYS][80];
    const char *sets[4 * KEYS] = {"cluster.device.host_link=25 GB/s",
                                  "cluster.device.host_bandwidth=30 GB/s"};
    int n = 2;
    for (int k = 0; k < KEYS; k++) {
        int many = 0;
        while (many < 10 && values[k][many]) many++;
        snprintf(words[k], sizeof words[k], "%s",
                 values[k][fr_test_random(rng, (uint64_t)many)]);
        bool experts = strstr(model, "mixtral") || strstr(model, "deepseek");
        if (!experts && (strncmp(words[k], "ep=", 3) == 0 || words[k][0] == 'd')) {
            if (strncmp(words[k], "dp=", 3) != 0) continue;
        }
        for (char *word = strtok(words[k], "|"); word; word = strtok(NULL, "|"))
            sets[n++] = word;
    }
    struct fr_job_names names = {
        .cluster = "dgx-h100", .model = model, .sets = sets, .n_sets = n};
    if (fr_job_load(&names, job, NULL) == FR_OK) return true;
    fr_job_free(job);
    return false;
}

/* Is the key named as one that the framework cannot say, or that the model's code says?  Zero 2 and 3 run beside the passes
 * whatever `overlap` is. */
static bool names_key(const struct fr_emitted *e, const char *key) {
    static const char *const elsewhere[] = {
        "program's code",        "model's configuration",     "training program's",
        "autograd adds",         "option for their number",   "how the script reads back",
        "a layer's gradients",   "topology that the program", "as nobody chose one",
        "XLA's compiler decides"};
    if (e->plan.pp == 1 && (strcmp(key, "schedule") == 0 || strcmp(key, "stage_layers") == 0))
        return true;
    bool named = strcmp(key, "zero") != 0 && names_key(e, "zero"),
         beside = e->plan.zero >= 2 && strcmp(key, "zero_ranks") != 0;
    if ((named || beside) && (strcmp(key, "overlap") == 0 || strcmp(key, "bucket") == 0 ||
                              strcmp(key, "zero_ranks") == 0))
        return true;
    if (strcmp(key, "bucket") == 0 && names_key(e, "overlap"))
        return true; /* a size of nothing */
    for (int i = 0; i < e->n; i++) {
        if (strcmp(e->line[i].about, key) != 0 || e->line[i].name[0]) continue;
        if (e->line[i].lacks) return true;
        for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
            if (strstr(e->line[i].text, elsewhere[k])) return true;
    }
    return false;
}

/* Left open and stated as what it then is are the same. */
static bool same(const struct fr_emitted *e, const struct fr_plan_key *key,
                 const struct fr_plan *back) {
    const struct fr_transformer *t = &e->job->workload.transformer;
    if (strcmp(key->name, "etp") == 0)
        return fr_plan_expert_tp(&e->plan) == fr_plan_expert_tp(back);
    if (strcmp(key->name, "zero_ranks") == 0 && e->plan.zero == back->zero) {
        int64_t all = fr_plan_replicas(&e->plan), a = e->plan.zero_ranks, b = back->zero_ranks;
        return (a == 0 || a > all ? all : a) == (b == 0 || b > all ? all : b);
    }
    if (strcmp(key->name, "stage_layers") != 0 || back->pp != e->plan.pp)
        return key->type->same(key, &e->plan, back);
    for (int64_t i = 0; i < back->pp; i++)
        if (fr_transformer_stage_layers(t, &e->plan, i) !=
            fr_transformer_stage_layers(t, back, i))
            return false;
    return true;
}

/* Are both plans the same in what anything reads of them? */
static int compare(const struct fr_emitted *e, const struct fr_plan *back, const char *script) {
    int differ = 0;
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        char ours[FR_PLAN_WORD], theirs[FR_PLAN_WORD];
        if (fr_plan_missing_of(key->needs, &e->job->workload, &e->plan)) continue;
        if (same(e, key, back) || names_key(e, key->name)) continue;
        print_error("%s: %s %s was read as %s\n", e->to->name, key->name,
                    key->type->text(key, &e->plan, ours, sizeof ours),
                    key->type->text(key, back, theirs, sizeof theirs));
        differ++;
    }
    if (differ) print_error("%s\n", script);
    return differ;
}

/* Has the model of the row, where a script states it whole, as many parameters?  @param compared  goes up then */
static int compare_models(const struct fr_emitted *e, const struct fr_run_row *row,
                          int *compared) {
    static char words[FR_RUN_KEYS_MAX][200];
    const char *sets[FR_RUN_KEYS_MAX];
    struct fr_error err = {0};
    struct fr_job back;
    int n = 0;
    for (int i = 0; i < e->n; i++)
        if (e->line[i].lacks && strcmp(e->line[i].about, "model") == 0) return 0;
    if (!fr_run_row_get(row, "model.hidden") || !fr_run_row_get(row, "model.vocabulary"))
        return 0;
    for (int i = 0; i < row->n; i++) {
        if (strncmp(row->item[i].key, "model.", 6) != 0) continue;
        snprintf(words[n], sizeof words[n], "%s=%s", row->item[i].key, row->item[i].value);
        sets[n] = words[n];
        n++;
    }
    const struct fr_job_names names = {.cluster = "dgx-h100",
                                       .model = "{\"kind\": \"transformer\"}",
                                       .sets = sets,
                                       .n_sets = n};
    if (fr_job_load(&names, &back, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    const double ours = fr_transformer_parameters(&e->job->workload),
                 theirs = fr_transformer_parameters(&back.workload);
    const struct fr_transformer *a = &e->job->workload.transformer,
                                *b = &back.workload.transformer;
    const bool windows = a->window == b->window && a->window_layers == b->window_layers,
               narrow = e->job->workload.narrow_attention == back.workload.narrow_attention &&
                        e->job->workload.narrow_logits == back.workload.narrow_logits;
    fr_job_free(&back);
    ++*compared;
    if (ours == theirs && windows && narrow) return 0;
    if (!windows || !narrow) print_error("%s: windows or narrow products\n", e->to->name);
    print_error("%s: %s of %.0f parameters was read with %.0f\n", e->to->name,
                e->job->workload.name, ours, theirs);
    for (int i = 0; i < n; i++) print_error("  %s\n", sets[i]);
    return 1;
}

/* @param slurm  as a job script */
static int round_trip(const struct fr_job *job, const struct fr_outcome *out,
                      const struct fr_emitter *to, bool slurm, int *compared) {
    struct fr_emitted *e = calloc(1, sizeof *e);
    struct fr_run_row *row = calloc(1, sizeof *row);
    struct fr_text script = {0}, plan = {0};
    struct fr_trainer_ask ask = {.by = NULL};
    struct fr_trainer_result trained;
    struct fr_error err = {0};
    struct fr_json_document *document = NULL;
    struct fr_plan_lists lists = {0};
    struct fr_plan back;
    if (fr_emit(to, job, out, e, &err) != FR_OK) fail_msg("%s", err.detail);
    struct fr_text head = {0}, line = {0};
    if (slurm && fr_emit_slurm(job, out, &head, &line, &err) != FR_OK)
        fail_msg("%s", err.detail);
    const struct fr_emit_launch launch = {fr_text_get(&head), fr_text_get(&line)};
    fr_text_addf(&script, "#!/bin/bash\n");
    fr_emit_script(&script, e, slurm ? &launch : NULL);
    /* Ranks in the launcher's line are not DeepSpeed's to divide. */
    fr_run_row_set(row, "ranks", "%" PRId64, out->ranks);
    fr_run_row_set(row, "model.layers", "%" PRId64, job->workload.transformer.layers);
    fr_run_row_set(row, "model.sequence", "%" PRId64, job->workload.transformer.sequence);
    if (fr_trainer_read(&ask, script.data, script.length, "script", row, &trained, &err) !=
        FR_OK)
        fail_msg("%s: %s: %s\n%s", to->name, err.where, err.detail, script.data);
    if (fr_trainer_plan_text(row, &plan, &err) != FR_OK ||
        fr_json_parse(plan.data, plan.length, "plan", &document, &err) != FR_OK ||
        fr_plan_read(document, &back, &lists, &err) != FR_OK)
        fail_msg("%s: %s: %s\n%s", to->name, err.where, err.detail, plan.data);
    int differ = compare(e, &back, script.data) + compare_models(e, row, compared);
    fr_plan_lists_free(&lists);
    fr_json_free(document);
    fr_trainer_result_free(&trained);
    fr_text_free(&script);
    fr_text_free(&plan);
    fr_text_free(&head);
    fr_text_free(&line);
    free(row);
    free(e);
    return differ;
}

static void out_and_in_again(void **state) {
    enum { PLANS = 4000, ENOUGH = 48 };
    uint64_t rng = 20261127;
    int drawn = 0, differ = 0, compared = 0;
    (void)state;
    for (int i = 0; i < PLANS && drawn < ENOUGH && differ < 12; i++) {
        struct fr_job job;
        struct fr_outcome out;
        if (!draw(&rng, models[i % 5], &job)) continue;
        fr_cost(&job, &job.plan, &out);
        bool runs = isfinite(out.time_s);
        drawn += runs;
        for (int f = 0; runs && fr_emitters[f]; f++)
            differ += round_trip(&job, &out, fr_emitters[f], drawn % 2, &compared);
        fr_job_free(&job);
    }
    FR_TRUE(drawn == ENOUGH, "%d plans of %d", drawn, PLANS);
    assert_int_equal(differ, 0);
    FR_TRUE(compared > ENOUGH, "models of %d scripts alone were compared", compared);
}

/* ---- verbs ---------------------------------------------------------------------------------- */

/* The time of the row as predict makes it of --from: its keys as sets. */
static double predicted_s(const struct fr_run_row *row) {
    static char words[FR_RUN_KEYS_MAX][200];
    const char *sets[FR_RUN_KEYS_MAX], *model = fr_run_row_get(row, "model");
    struct fr_error err = {0};
    struct fr_job job;
    struct fr_outcome out;
    int n = 0;
    for (int i = 0; i < row->n; i++) {
        const char *key = row->item[i].key;
        if (strncmp(key, "model.", 6) != 0 && strncmp(key, "plan.", 5) != 0 &&
            strcmp(key, "runtime") != 0)
            continue;
        snprintf(words[n], sizeof words[n], "%s=%s", key, row->item[i].value);
        sets[n] = words[n];
        n++;
    }
    const struct fr_job_names names = {.cluster = "dgx-h100",
                                       .model = model ? model : "{\"kind\": \"transformer\"}",
                                       .sets = sets,
                                       .n_sets = n};
    if (fr_job_load(&names, &job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out.time_s;
}

/* The same as score makes it of the log. */
static double scored_s(const struct fr_run_row *row) {
    const struct fr_job_names names = {.cluster = "dgx-h100"};
    struct fr_error err = {0};
    struct fr_job cluster;
    struct fr_outcome out;
    if (fr_job_load(&names, &cluster, &err) != FR_OK) fail_msg("%s", err.detail);
    struct fr_runs runs = {
        .ask = {.on = &cluster.cluster, .document = cluster.documents[FR_JOB_CLUSTER]}};
    if (fr_runs_add("log", row, &runs, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    const struct fr_run *run = &runs.items[0];
    const struct fr_job job = {
        .cluster = *run->cluster, .workload = run->workload, .plan = run->plan};
    fr_cost(&job, &job.plan, &out);
    fr_runs_free(&runs);
    fr_job_free(&cluster);
    return out.time_s;
}

/* A log is priced by score as its keys are by predict, whatever they leave open. */
static void verbs_agree(void **state) {
    static const char *const texts[][2] = {
        {"megatron",
         "  num_layers ..... 32\n  hidden_size ...... 4096\n  num_attention_heads ... 32\n"
         "  seq_length ..... 4096\n  padded_vocab_size ..... 32000\n  bf16 ..... True\n"
         "  tensor_model_parallel_size ..... 4\n  pipeline_model_parallel_size .... 2\n"
         "  micro_batch_size .... 1\n  global_batch_size .... 128\n"},
        {"nemo", "model:\n  tensor_model_parallel_size: 2\n  context_parallel_size: 2\n"
                 "train:\n  micro_batch_size: 1\n  global_batch_size: 128\n"},
        {"torchtitan",
         "[parallelism]\ntensor_parallel_degree = 4\n[training]\nlocal_batch_size = 2\n"
         "seq_len = 4096\n[activation_checkpoint]\nmode = \"full\"\n"},
        {"deepspeed", "{\"train_batch_size\": 128, \"train_micro_batch_size_per_gpu\": 2, "
                      "\"zero_optimization\": {\"stage\": 3}, \"bf16\": {\"enabled\": true}}"},
        {"nanotron", "parallelism:\n  dp: 32\n  tp: 2\ntokens:\n  micro_batch_size: 1\n"
                     "  batch_accumulation_per_replica: 4\n"},
        {"maxtext",
         "per_device_batch_size: 2\nici_fsdp_parallelism: 64\nmax_target_length: 4096\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct fr_trainer_ask ask = {.by = fr_trainer_find(texts[i][0])};
        struct fr_run_row *row = calloc(1, sizeof *row);
        struct fr_trainer_result result;
        struct fr_error err = {0};
        fr_run_row_set(row, "ranks", "64");
        fr_run_row_set(row, "measured_s", "1");
        if (i > 0) fr_run_row_set(row, "model", "llama-3-8b");
        if (fr_trainer_read(&ask, texts[i][1], strlen(texts[i][1]), "log", row, &result,
                            &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        double predicted = predicted_s(row), scored = scored_s(row);
        FR_TRUE(predicted > 0 && predicted == scored, "%s: predict %.9g s, score %.9g s",
                texts[i][0], predicted, scored);
        fr_trainer_result_free(&result);
        free(row);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(out_and_in_again),
                                       cmocka_unit_test(verbs_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
