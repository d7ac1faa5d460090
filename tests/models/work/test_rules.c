/* Why a plan cannot divide a transformer: reasons and how many sentences each has, beside the same rules counted a
 * second time in plain arithmetic, of random networks and plans of awkward numbers. */
#include "models/work/transformer.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static const char *const networks[] = {
    "\"layers\": 6, \"heads\": 12, \"kv_heads\": 4, \"hidden\": 480",
    "\"layers\": 7, \"heads\": 8, \"hidden\": 512, \"ffn\": 1530",
    "\"layers\": 6, \"heads\": 6, \"hidden\": 510, \"cross_layers\": 3",
    "\"layers\": 4, \"heads\": 12, \"hidden\": 480, \"experts\": 6, \"expert_ffn\": 90, "
    "\"shared_ffn\": 128",
    "\"layers\": 5, \"heads\": 8, \"hidden\": 512, \"experts\": 8, \"expert_ffn\": 100, "
    "\"dense_layers\": 1",
    "\"layers\": 4, \"heads\": 8, \"hidden\": 512, \"lora_rank\": 6",
    "\"layers\": 6, \"heads\": 12, \"hidden\": 480, \"pattern\": \"M*M\", \"ffn\": 90, "
    "\"ssm_heads\": 12, \"ssm_groups\": 6",
    "\"layers\": 6, \"hidden\": 480, \"pattern\": \"M-\", \"ffn\": 90, \"ssm_heads\": 12, "
    "\"ssm_groups\": 4",
    "\"layers\": 4, \"heads\": 8, \"hidden\": 512, \"head_dim\": 64, \"kv_latent\": 64",
    "\"layers\": 4, \"heads\": 12, \"hidden\": 480, \"predicted_tokens\": 1",
};
static const char *const choices[] = {"tp=2",
                                      "tp=3",
                                      "tp=4",
                                      "tp=6",
                                      "pp=2",
                                      "pp=3",
                                      "pp=4",
                                      "dp=2",
                                      "dp=3",
                                      "cp=2",
                                      "cp=3",
                                      "context=all-to-all",
                                      "ep=2",
                                      "ep=3",
                                      "ep=4",
                                      "etp=1",
                                      "etp=2",
                                      "etp=3",
                                      "dispatch_ranks=2",
                                      "dispatch_ranks=3",
                                      "method=grid",
                                      "method=grid",
                                      "method=tensor",
                                      "divide=pairs",
                                      "micro_batch=1",
                                      "micro_batch=2",
                                      "micro_batch=3",
                                      "sequence_parallel=true",
                                      "layer_tp=[1,2,2]",
                                      "layer_tp=[2,6,3]",
                                      "layer_tp=[4,2,1]",
                                      "layer_tp=[3,3,6]",
                                      "layer_tp=[2,2]",
                                      "chunks=2",
                                      "chunks=3",
                                      "schedule=interleaved",
                                      "schedule=interleaved",
                                      "schedule=zero-bubble-v",
                                      "stage_layers=[2,4]",
                                      "stage_layers=[3,3]",
                                      "stage_layers=[2,2]",
                                      "stage_layers=[1,2,2]"};

static bool draw(uint64_t *dice, struct fr_job *job, char *stated, size_t capacity) {
    enum { MOST = 9, CHOICES = sizeof choices / sizeof *choices };
    char model[400];
    const char *sets[MOST + 3] = {"model.defaults=2019", "global_batch=48"};
    struct fr_job_names names = {
        .cluster = "dgx-h100", .model = model, .sets = sets, .n_sets = 2};
    struct fr_error err = {0};
    snprintf(model, sizeof model,
             "{\"kind\": \"transformer\", \"sequence\": %d, \"vocabulary\": 1000, %s}",
             fr_test_random(dice, 2) ? 256 : 186,
             networks[fr_test_random(dice, sizeof networks / sizeof *networks)]);
    for (uint64_t n = 1 + fr_test_random(dice, MOST); n-- > 0;)
        sets[names.n_sets++] = choices[fr_test_random(dice, CHOICES)];
    size_t at = (size_t)snprintf(stated, capacity, "%s", model);
    for (int i = 2; i < names.n_sets && at < capacity; i++)
        at += (size_t)snprintf(stated + at, capacity - at, " %s", sets[i]);
    bool is = fr_job_load(&names, job, &err) == FR_OK;
    if (!is) fr_job_free(job);
    return is;
}

/* ---- the rules ---------------------------------------------------------------------------------- */

static bool divides(int64_t n, int64_t of) { return of % n == 0; }

/* How many rules are broken, by reason. */
struct broken {
    int heads, width, sequence, experts, grids;
    bool method, stages, pipeline;
};

static struct broken rules(const struct fr_transformer *t, const struct fr_plan *p) {
    struct broken b = {0};
    bool hybrid = *t->pattern, attends = !hybrid || strchr(t->pattern, '*'),
         mlps = !hybrid || strchr(t->pattern, '-'), grid = p->method == &fr_method_grid;
    bool whole = divides(p->tp, t->heads);
    /* every rank has whole heads, of keys too, of state-space groups too */
    if (attends && !whole) b.heads++;
    if (attends && whole && !divides(p->tp, t->kv_heads)) b.heads++;
    if (attends && whole && p->context_heads && p->cp > 1 &&
        !(divides(p->tp * p->cp, t->heads) && divides(p->tp * p->cp, t->kv_heads)))
        b.heads++;
    if (!divides(p->tp * p->cp, t->ssm_groups)) b.heads++;
    /* whole columns */
    const int64_t widths[] = {t->lora_rank, t->shared_ffn, mlps ? t->ffn : 0,
                              grid && !p->pairs ? t->hidden : 0};
    for (int i = 0; i < 4; i++) b.width += !divides(p->tp, widths[i]);
    /* whole tokens */
    if (!divides(p->cp, t->sequence))
        b.sequence++;
    else if (p->sequence_parallel && !divides(p->cp * p->tp, t->sequence))
        b.sequence++;
    /* whole experts, each over tp or one rank */
    int64_t etp = p->etp ? p->etp : p->tp, ranks = p->tp * p->dp * p->cp;
    if (etp != p->tp && !(etp == 1 && p->sequence_parallel)) b.experts++;
    if (!t->experts && p->ep > 1) b.experts++;
    if (t->experts) {
        if (p->dispatch_ranks && !divides(p->dispatch_ranks, p->ep)) b.experts++;
        if (!divides(p->ep, t->experts)) b.experts++;
        if (!divides(etp, t->expert_ffn)) b.experts++;
        if (p->ep > 1 && !divides(p->ep * etp, ranks)) b.experts++;
    }
    /* grids of three groups */
    if (p->layer_tp) {
        bool three = p->n_layer_tp == 3;
        if (!three || !grid) b.grids++;
        if (three && p->cp > 1 && p->layer_tp[0] != p->tp) b.grids++;
        if (three && t->experts && p->layer_tp[1] != p->tp) b.grids++;
        for (int g = 0; three && g < 3; g++) {
            int64_t P = p->layer_tp[g], next = p->layer_tp[(g + 1) % 3],
                    micro = p->micro_batch ? p->micro_batch : 1,
                    parts = g == 0 ? micro : micro * (t->sequence / p->cp);
            b.grids += !divides(P, ranks);
            b.grids += !divides(P, next) && !divides(next, P);
            b.grids += !divides(p->tp, parts * P);
            if (g == 0 && !t->experts) b.grids += !divides(P, t->heads);
            if (g == 0) b.grids += !divides(P, t->kv_heads);
            if (g == 1 && !t->experts) b.grids += !divides(P, t->ffn);
            if (g < 2 && !p->pairs) b.grids += !divides(P, t->hidden);
        }
    }
    b.method = grid && (t->kv_latent || t->predicted || hybrid);
    /* every chunk has a layer; of an interleaved schedule the ends stand for one each */
    int64_t sum = 0, ends = p->chunks > 1 && p->pp > 1 && !p->schedule->folds ? 2 : 0;
    for (int i = 0; p->stage_layers && i < p->n_stage_layers; i++) sum += p->stage_layers[i];
    b.stages = p->stage_layers ? p->n_stage_layers != p->pp || sum != t->layers
                               : p->pp * p->chunks > t->layers + ends;
    b.pipeline = t->cross_layers && p->pp > 1 && p->chunks > 1;
    return b;
}

/* Sentences of a reason: all of them, parted by semicolons, none empty. */
static int sentences(const struct fr_job *job, int reason) {
    struct fr_text text = {0};
    int n = 0;
    fr_transformer_say(&job->workload, &job->plan, reason, &text);
    const char *text_read = fr_text_get(&text);
    if (*text_read) n = 1;
    for (const char *c = text_read; (c = strstr(c, "; ")); c++) n++;
    assert_false(n && (*text_read == ';' || text_read[strlen(text_read) - 1] == ' '));
    fr_text_free(&text);
    return n;
}

static void plans_are_refused_for_what_they_break(void **state) {
    uint64_t dice = 0xbf58476d1ce4e5b9u;
    int n = 0, fine = 0, times[5] = {0};
    (void)state;
    const int draws = fr_sample(6000, 1500);
    for (int k = 0; k < draws; k++) {
        char stated[800];
        struct fr_job job;
        if (!draw(&dice, &job, stated, sizeof stated)) continue;
        if (job.plan.method == &fr_method_tensor || job.plan.method == &fr_method_grid) {
            const struct broken b = rules(&job.workload.transformer, &job.plan);
            const int count[] = {b.heads, b.width, b.sequence, b.experts, b.grids};
            static const int reason[] = {FR_REASON_HEADS, FR_REASON_WIDTH, FR_REASON_SEQUENCE,
                                         FR_REASON_EXPERTS, FR_REASON_LAYER_TP};
            fr_reasons want = 0, got = fr_transformer_check(&job.workload, &job.plan);
            for (int i = 0; i < 5; i++) {
                if (count[i]) want |= FR_BECAUSE(reason[i]);
                FR_TRUE(sentences(&job, reason[i]) == count[i],
                        "reason %d: %d sentences, not %d: %s", i, sentences(&job, reason[i]),
                        count[i], stated);
                times[i] += count[i] > 0;
            }
            if (b.method) want |= FR_BECAUSE(FR_REASON_METHOD);
            if (b.stages) want |= FR_BECAUSE(FR_REASON_STAGES);
            if (b.pipeline) want |= FR_BECAUSE(FR_REASON_PIPELINE);
            FR_TRUE(got == want, "%#llx, not %#llx: %s", (unsigned long long)got,
                    (unsigned long long)want, stated);
            n++;
            fine += want == 0;
        }
        fr_job_free(&job);
    }
    FR_TRUE(n > draws / 3 && fine > draws / 30, "%d, %d", n, fine);
    for (int i = 0; i < 5; i++)
        FR_TRUE(times[i] > draws / 120, "reason %d: %d times", i, times[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_are_refused_for_what_they_break)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
