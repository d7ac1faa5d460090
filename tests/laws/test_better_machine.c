/* On random plans of every schedule: no number of a machine, made better, makes an iteration longer, and more
 * layers or tokens never make it shorter.  A schedule that splits the backward pass is priced as two passes, which the
 * event engine takes as long for as the closed form, and which together take no less than the whole. */
#include "models/outcome/cost.h"
#include "models/price/pipeline.h"
#include "models/workload/hybrid.h"
#include "sim/run.h"
#include "tests/drawn_plans.h"

/* ---- numbers of a machine ---------------------------------------------------------------------- */

#define OF(name, expression)                                                                   \
    static double name(const struct fr_cluster *c, fr_dtype t) {                               \
        (void)t;                                                                               \
        return expression;                                                                     \
    }
OF(launch, c->device.launch_s)
OF(host_launch, c->device.host_launch_s)
OF(host_skew, c->device.host_skew)
OF(host_pass, c->device.host_pass_s)
OF(host_experts, c->device.host_experts_s)
OF(host_overlap, c->device.host_overlap)
OF(host_link, c->device.host_link_B_per_s)
OF(host_rate, c->device.host_rate_B_per_s)
OF(fixed, c->device.fixed_s)
OF(interference, c->device.interference)
OF(memory_rate, c->device.memory_rate_B_per_s)
OF(plain, c->device.attention.plain)
OF(half_keys, c->device.attention.half_keys)
OF(bandwidth_0, c->levels.level[0].rate_B_per_s)
OF(bandwidth_1, c->levels.count > 1 ? c->levels.level[1].rate_B_per_s : 0)
OF(latency_0, c->levels.level[0].latency_s)
OF(latency_1, c->levels.count > 1 ? c->levels.level[1].latency_s : 0)
OF(peak, c->device.gemm[t].peak_flop_per_s)
#undef OF

/* Each is made so, and stated in this unit. */
static const struct {
    const char *key, *unit;
    double (*now)(const struct fr_cluster *cluster, fr_dtype dtype);
    double times;
} numbers[] = {{"device.launch", " s", launch, 0.5},
               {"device.host_launch", " s", host_launch, 0.7},
               {"device.host_launch", " s", host_launch, 0.3},
               {"device.host_skew", "", host_skew, 0.5},
               {"device.host_pass", " s", host_pass, 0.5},
               {"device.host_experts", " s", host_experts, 0.5},
               {"device.host_overlap", "", host_overlap, 0.5},
               {"device.host_link", " B/s", host_link, 2},
               {"device.host_bandwidth", " B/s", host_rate, 2},
               {"device.fixed", " s", fixed, 0.5},
               {"device.interference", "", interference, 0.5},
               {"device.memory_bandwidth", " B/s", memory_rate, 2},
               {"device.attention.plain", "", plain, 1.1},
               {"device.attention.half_keys", "", half_keys, 0.5},
               {"levels.0.bandwidth", " B/s", bandwidth_0, 2},
               {"levels.1.bandwidth", " B/s", bandwidth_1, 2},
               {"levels.0.latency", " s", latency_0, 0.5},
               {"levels.1.latency", " s", latency_1, 0.5},
               {"device.gemm.%s.peak", " FLOP/s", peak, 2}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* ---- plans ------------------------------------------------------------------------------------- */

/* @return NaN: it is no plan, or cannot run */
static double time_s(const struct drawn *words, size_t start) {
    struct fr_job job;
    struct fr_outcome out;
    if (!drawn_load(words, start, &job)) return NAN;
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out.reasons ? NAN : out.time_s;
}

static void tell(const struct drawn *w, size_t start, char *stated, size_t capacity) {
    *stated = 0;
    for (int i = 0; i < w->n; i++)
        snprintf(stated + strlen(stated), capacity - strlen(stated), "%s ", w->word[i]);
    snprintf(stated + strlen(stated), capacity - strlen(stated), "of %s on %s",
             drawn_starts[start].model, drawn_starts[start].cluster);
}

static const char *const splitting[] = {"zero-bubble", "zero-bubble-v", "dualpipe-v"};

/* Half of the plans split the backward pass, and of mixtures half overlap their exchanges, some of them with sequences so
 * short that the host decides. */
static void draw(uint64_t *dice, struct drawn *w, size_t *start) {
    drawn_plan(dice, w, start);
    if (fr_test_random(dice, 2) && strstr(drawn_starts[*start].sets, "ep=")) {
        drawn_say(w, "overlap_experts", "true", 4);
        if (fr_test_random(dice, 2)) drawn_say(w, "model.sequence", "512", 3);
    }
    uint64_t k = fr_test_random(dice, 6);
    if (k >= 3) return;
    drawn_say(w, "schedule", splitting[k], 20);
    drawn_say(w, "chunks", k ? "2" : "1", 1);
    drawn_say(w, "pp", fr_test_random(dice, 2) ? "2" : "4", 1);
}

/* ---- laws -------------------------------------------------------------------------------------- */

static void better_is_never_slower(const struct drawn *words, size_t start,
                                   const struct fr_job *job, double before_s, int which,
                                   int *held) {
    char stated[DRAWN_WORDS * DRAWN_WORD], key[64], value[64];
    fr_dtype dtype = job->workload.dtype;
    double now = numbers[which].now(&job->cluster, dtype);
    struct drawn changed = *words;
    if (!(now > 0)) return;
    snprintf(key, sizeof key, "cluster.%s", numbers[which].key);
    if (strchr(key, '%'))
        snprintf(key, sizeof key, "cluster.device.gemm.%s.peak", fr_dtype_names[dtype]);
    snprintf(value, sizeof value, "%.17g%s", now * numbers[which].times, numbers[which].unit);
    drawn_say(&changed, key, value, 64);
    double after_s = time_s(&changed, start);
    if (isnan(after_s)) return; /* a measured product has no peak to change */
    tell(&changed, start, stated, sizeof stated);
    FR_TRUE(after_s <= before_s * (1 + 1e-9), "%s from %g to %s: %.12g s, then %.12g s: %s",
            key, now, value, before_s, after_s, stated);
    held[which] += after_s < before_s;
}

/* Twice the samples, the tokens of a sequence, or a layer more a chunk; where blocks of several kinds take turns a layer more is
 * another network. */
static void more_is_never_faster(const struct drawn *words, size_t start,
                                 const struct fr_job *job, double before_s, int *held) {
    const struct fr_transformer *t = &job->workload.transformer;
    char stated[DRAWN_WORDS * DRAWN_WORD], value[32];
    for (int k = t->layers ? 0 : 2; k < 3; k++) {
        struct drawn changed = *words;
        if (k == 1 && (fr_transformer_is_hybrid(t) || t->cross_layers > 0)) continue;
        long long more = k == 2   ? 2 * fr_job_batch(job, &job->plan)
                         : k == 1 ? t->layers + job->plan.pp * job->plan.chunks
                                  : 2 * t->sequence;
        snprintf(value, sizeof value, "%lld", more);
        drawn_say(&changed,
                  k == 2   ? "global_batch"
                  : k == 1 ? "model.layers"
                           : "model.sequence",
                  value, 32);
        double after_s = time_s(&changed, start);
        if (isnan(after_s)) continue;
        tell(&changed, start, stated, sizeof stated);
        FR_TRUE(after_s >= before_s * (1 - 1e-9), "%.12g s, then %.12g s: %s", before_s,
                after_s, stated);
        held[k]++;
    }
}

/* Each part of a split pass is work of its own, and both together are no less than the whole. */
static bool parts_are_passes(const struct fr_job *job, const char *stated) {
    struct fr_plan whole = job->plan;
    struct fr_pipeline split, one;
    uint32_t extrapolated = 0;
    if (!fr_schedule_splits(job->plan.schedule, &(struct fr_schedule_args){0}) ||
        job->plan.forward || job->plan.pp == 1)
        return false;
    whole.schedule = &fr_schedule_one_f_one_b;
    assert_int_equal(fr_pipeline_make(job, &job->plan, &split, &extrapolated, NULL), FR_OK);
    if (fr_pipeline_check(job, &whole) == 0) {
        assert_int_equal(fr_pipeline_make(job, &whole, &one, &extrapolated, NULL), FR_OK);
        for (int32_t i = 0; i < split.args.stages; i++) {
            const struct fr_stage *s = &split.stage[i];
            double both_s = fr_pass_s(&s->backward, FR_WITH_ALL),
                   whole_s = fr_pass_s(&one.stage[i].backward, FR_WITH_ALL);
            FR_TRUE(both_s >= whole_s * (1 - 1e-12), "stage %d: %g s and %g s whole: %s",
                    (int)i, both_s, whole_s, stated);
        }
        fr_pipeline_free(&one);
    }
    for (int32_t i = 0; i < split.args.stages; i++) {
        const struct fr_pass *b = &split.stage[i].backward, *w = &split.stage[i].weight;
        double least_s = -1e-12 * fr_pass_s(b, FR_WITH_ALL);
        FR_TRUE(b->compute_s - w->compute_s >= least_s &&
                    b->launch_s - w->launch_s >= least_s && b->tp_s - w->tp_s >= least_s &&
                    b->dp_s - w->dp_s >= least_s && b->ep_s - w->ep_s >= least_s &&
                    b->cp_s - w->cp_s >= least_s,
                "stage %d: %g, %g s: %s", (int)i, b->launch_s, w->launch_s, stated);
    }
    fr_pipeline_free(&split);
    return true;
}

static void engine_agrees(const struct fr_job *job, double before_s, const char *stated) {
    struct fr_simulation event;
    if (fr_simulate(job, &job->plan, NULL, &event, NULL) == FR_OK)
        FR_TRUE(fabs(event.outcome.time_s - before_s) <= 1e-11 * before_s,
                "%.12g and %.12g s: %s", before_s, event.outcome.time_s, stated);
    fr_simulation_free(&event);
}

static void random_plans(void **state) {
    uint64_t dice = 0x2545f4914f6cdd1du;
    int priced = 0, split = 0, held[NUMBERS] = {0}, more[3] = {0};
    const int plans = fr_sample(1500, 800);
    (void)state;
    for (int k = 0; k < plans; k++) {
        char stated[DRAWN_WORDS * DRAWN_WORD];
        struct drawn words;
        struct fr_job job;
        struct fr_outcome out;
        size_t start;
        draw(&dice, &words, &start);
        if (!drawn_load(&words, start, &job)) continue;
        fr_cost(&job, &job.plan, &out);
        if (!out.reasons) {
            tell(&words, start, stated, sizeof stated);
            priced++;
            if (parts_are_passes(&job, stated)) {
                split++;
                engine_agrees(&job, out.time_s, stated);
            }
            for (int n = 0; n < 6; n++)
                better_is_never_slower(&words, start, &job, out.time_s,
                                       (int)fr_test_random(&dice, NUMBERS), held);
            more_is_never_faster(&words, start, &job, out.time_s, more);
        }
        fr_job_free(&job);
    }
    FR_TRUE(priced > plans / 4 && split > plans / 20 && more[0] > plans / 30 &&
                more[1] > plans / 30 && more[2] > plans / 30,
            "%d plans, %d split, %d, %d and %d more", priced, split, more[0], more[1], more[2]);
    for (int n = 0; n < NUMBERS; n++)
        FR_TRUE(held[n] > plans / 1500, "%s: made a difference %d times", numbers[n].key,
                held[n]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
