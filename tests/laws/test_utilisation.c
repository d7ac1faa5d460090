/* Utilisation counts what the plan's network makes: its products are those of the plan's list of operations, adapters
 * and ghost neurons included; and no plan on any preset is above the data sheet's peak. */
#include "models/job/preset.h"
#include "models/outcome/cost.h"
#include "models/outcome/rates.h"
#include "models/plan/method.h"
#include "models/work/method.h"
#include "models/workload/attention.h"
#include "models/workload/flop.h"
#include "models/workload/hybrid.h"
#include "tests/drawn_plans.h"
#include "tests/work.h"

static struct fr_counted network_of(const struct fr_job *job) {
    bool phantom = job->plan.method == &fr_method_phantom;
    return (struct fr_counted){.workload = &job->workload,
                               .ghost_neurons = phantom ? (double)job->plan.ghost : 0,
                               .phantom_attention =
                                   phantom && job->plan.phantom_parts != FR_PHANTOM_MLP,
                               .dense_mlp = job->plan.phantom_parts == FR_PHANTOM_ATTENTION,
                               .ranks = phantom ? (double)job->plan.tp : 0};
}

/* Counts a sample, without attention's scores: by the formula, and by the lists of all ranks of a replica. */
static double counted_flop(const struct fr_job *job) {
    const struct fr_counted n = network_of(job);
    double core = fr_counted_layers_flop(&n).core;
    return job->plan.forward ? fr_counted_forward_flop(&n) - core
                             : fr_counted_flop(&n) - 3 * core;
}

/* Every rank of a tensor group makes all of the narrow values of latent attention (Megatron-LM's duplicated linear
 * layers): what the list has beyond one of them, a sample. */
static double repeated_flop(const struct fr_job *job) {
    const struct fr_transformer *t = &job->workload.transformer;
    const struct fr_attention_sizes sizes = fr_attention_of(t);
    double narrow = sizes.q_latent + sizes.kv_latent, passes = job->plan.forward ? 1 : 3;
    return passes * 2 * (double)(t->layers * t->sequence) * (double)t->hidden * narrow *
           (double)(job->plan.tp - 1);
}

static double listed_flop(const struct fr_job *job) {
    const struct fr_plan *plan = &job->plan;
    double sum = 0;
    for (int64_t i = 0; i < plan->pp; i++) {
        struct fr_rank_work work;
        test_stage(&job->workload, plan, i, &work);
        for (int pass = FR_PASS_FORWARD; pass <= (plan->forward ? 0 : FR_PASS_WEIGHT); pass++)
            sum += test_sum(&work, FR_WORK_PRODUCT, (fr_pass_kind)pass);
    }
    return sum * (double)(plan->tp * plan->cp) / (double)fr_plan_micro_batch(plan) -
           repeated_flop(job);
}

/* Twice the rank is so much more of adapters in both: they are too small beside the rest to be seen otherwise. */
static void adapters_count(struct fr_job *job, const char *stated) {
    int64_t *rank = &job->workload.transformer.lora_rank;
    double counted = counted_flop(job), listed = listed_flop(job);
    *rank *= 2;
    double more = counted_flop(job) - counted, in_list = listed_flop(job) - listed;
    *rank /= 2;
    FR_TRUE(more > 0 && fabs(in_list / more - 1) < 1e-6,
            "adapters: %g FLOP counted, %g listed: %s", more, in_list, stated);
}

/* All experts equally busy: the list is of the fullest rank, and its share beyond the mean is no flop of the network. */
static void spread_evenly(struct fr_transformer *t) {
    t->balance = FR_BALANCE_EVEN;
    t->imbalance = 0;
}

/* Vocabularies are padded, and routers are no products of the list. */
static void counts_what_the_list_makes(void **state) {
    const int plans = fr_sample(3000, 1000);
    uint64_t dice = 0xd1342543de82ef95u;
    int n = 0, adapters = 0, phantom = 0;
    (void)state;
    for (int k = 0; k < plans; k++) {
        struct drawn words;
        struct fr_job job;
        size_t start;
        drawn_plan(&dice, &words, &start);
        if (!drawn_load(&words, start, &job)) continue;
        const struct fr_transformer *t = &job.workload.transformer;
        struct fr_outcome out;
        fr_cost(&job, &job.plan, &out);
        if (t->layers && !out.reasons && !fr_transformer_is_hybrid(t) &&
            job.plan.method != &fr_method_subgraph) {
            spread_evenly(&job.workload.transformer);
            double counted = counted_flop(&job), listed = listed_flop(&job);
            FR_TRUE(fabs(listed / counted - 1) < 0.01, "%g FLOP counted, %g listed: %s, %s",
                    counted, listed, drawn_starts[start].model, words.word[words.n - 1]);
            if (t->lora_rank > 0) adapters_count(&job, drawn_starts[start].model);
            n++;
            adapters += t->lora_rank > 0;
            phantom += job.plan.method == &fr_method_phantom;
        }
        fr_job_free(&job);
    }
    FR_TRUE(n > plans / 15 && adapters > plans / 150 && phantom > plans / 150, "%d, %d, %d", n,
            adapters, phantom);
}

/* Phantom layers by hand: two matrices of 4096 x 4096 over 4 ranks, 8 ghost neurons each. */
static void ghosts_by_hand(void **state) {
    const char *const sets[] = {"method=phantom",  "tp=4", "ghost=8", "model.layers=2",
                                "global_batch=64", NULL};
    struct fr_job job;
    struct fr_outcome out;
    (void)state;
    fr_test_job("frontier", "ffn-4096", sets, &job);
    fr_cost(&job, &job.plan, &out);
    struct fr_rates r = fr_rates_of(&job, &out);
    double n = 4096, products = n * n / 4 + 8 * n + 3 * 8 * n;
    FR_NEAR(r.model_flop_per_s_per_device * out.time_s * 4 / 64, 6 * 2 * products, 1e-12);
    FR_NEAR(r.mfu * 47.9e12, r.model_flop_per_s_per_device, 1e-12);
    fr_job_free(&job);
}

static const char *const models[] = {"llama-3-8b",  "mixtral-8x7b",      "gpt-2",
                                     "deepseek-v3", "nemotron-h-8b",     "transformer-base",
                                     "ffn-16384",   "qwen3-30b-a3b",     "gpt3-175b",
                                     "llama-2-70b", "attention-branches"};
static const char *const changes[] = {"model.sequence=2048",
                                      "model.sequence=32768",
                                      "model.sequence=1048576",
                                      "recompute=full",
                                      "recompute=selective",
                                      "attention=flash",
                                      "attention=plain",
                                      "model.window=1024",
                                      "model.document=512",
                                      "model.lora_rank=16",
                                      "method=phantom",
                                      "ghost=4",
                                      "tp=4",
                                      "tp=8",
                                      "dp=2",
                                      "micro_batch=4",
                                      "global_batch=64",
                                      "sequence_parallel=true",
                                      "pass=forward",
                                      "cp=4",
                                      "model.layers=4",
                                      "zero=1",
                                      "model.vocabulary=512",
                                      "cluster.levels.0.bandwidth=100 TB/s"};

/* Every preset's device at every width that it has. */
static void no_plan_is_above_the_peak(void **state) {
    enum {
        CHANGES = sizeof changes / sizeof *changes,
        MODELS = sizeof models / sizeof *models
    };
    const int plans = fr_sample(4000, 1000);
    const char *clusters[64];
    uint64_t dice = 0x9fb21c651e98df25u;
    int n = 0, n_clusters = 0;
    double most = 0;
    (void)state;
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        if (strcmp(p->kind, "cluster") == 0) clusters[n_clusters++] = p->name;
    assert_true(n_clusters > 10);
    for (int k = 0; k < plans; k++) {
        const char *sets[16] = {"cluster.device.memory=0 B"};
        char dtype[32];
        struct fr_job_names names = {.cluster =
                                         clusters[fr_test_random(&dice, (uint64_t)n_clusters)],
                                     .model = models[fr_test_random(&dice, MODELS)],
                                     .sets = sets,
                                     .n_sets = 2};
        struct fr_job job;
        struct fr_outcome out;
        struct fr_error err = {0};
        snprintf(dtype, sizeof dtype, "model.dtype=%s",
                 fr_dtype_names[fr_test_random(&dice, FR_DTYPE_COUNT)]);
        sets[1] = dtype;
        for (uint64_t c = fr_test_random(&dice, 9); c-- > 0;)
            sets[names.n_sets++] = changes[fr_test_random(&dice, CHANGES)];
        if (fr_job_load(&names, &job, &err) == FR_OK) {
            fr_cost(&job, &job.plan, &out);
            struct fr_rates r = fr_rates_of(&job, &out);
            if (!out.reasons && isfinite(r.mfu)) {
                FR_TRUE(r.mfu > 0 && r.mfu <= r.hfu * (1 + 1e-12) && r.hfu <= 1,
                        "MFU %g, HFU %g: %s on %s, %s %s %s %s %s", r.mfu, r.hfu, names.model,
                        names.cluster, sets[1], sets[2] ? sets[2] : "", sets[3] ? sets[3] : "",
                        sets[4] ? sets[4] : "", sets[5] ? sets[5] : "");
                most = fmax(most, r.hfu);
                n++;
            }
        }
        fr_job_free(&job);
    }
    print_message("%d plans, at most %.3f\n", n, most);
    FR_TRUE(n > plans / 10 && most > 0.5, "%d plans, at most %g", n, most);
}

/* Scores: all of them by convention palm, as many as the mask leaves by the other. */
static void conventions_by_hand(void **state) {
    static const struct {
        const char *model, *set;
        double made;
    } rows[] = {{"llama-3-8b", "model.sequence=8192", 0.5},
                {"llama-3-8b", "model.document=1024", 0.0625},
                {"llama-3-8b", "model.window=2048", 0.5 * (1 - 0.75 * 0.75)},
                {"llama-3-8b", "model.causal=false", 1}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_job job;
        fr_test_job("dgx-h100", rows[k].model, (const char *[]){rows[k].set, NULL}, &job);
        struct fr_counted n = {.workload = &job.workload};
        double core = 12 * 32 * 8192.0 * 8192 * 4096, causal = fr_counted_flop(&n);
        n.palm = true;
        FR_NEAR((fr_counted_flop(&n) - causal) / core, 1 - rows[k].made, 1e-9);
        FR_NEAR(fr_transformer_made(&job.workload.transformer), rows[k].made, 1e-12);
        fr_job_free(&job);
    }
    struct fr_job
        job; /* encoder whole, decoder's own half, what it reads of the encoder whole */
    fr_test_job("dgx-h100", "transformer-base", NULL, &job);
    FR_NEAR(fr_transformer_made(&job.workload.transformer), (6 + 3 + 6) / 18.0, 1e-12);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_the_list_makes), cmocka_unit_test(ghosts_by_hand),
        cmocka_unit_test(no_plan_is_above_the_peak), cmocka_unit_test(conventions_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
