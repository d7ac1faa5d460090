/* Every plan's peak is the largest of its moments, whose tensors are its parts; more samples at once are never less;
 * recomputed tensors are saved less; and where a loss holds more, the peak is no lower. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/moments.h"
#include "tests/drawn_plans.h"

enum { PLANS = 800 };

static struct fr_outcome cost(const struct fr_job *job, const struct fr_plan *plan) {
    struct fr_outcome out;
    fr_cost(job, plan, &out);
    return out;
}

static bool known(const struct fr_outcome *out) {
    return isfinite(out->time_s) && isfinite(out->parameters);
}

static void about(const struct drawn *w, size_t start, struct fr_text *text) {
    fr_text_addf(text, "%s on %s", drawn_starts[start].model, drawn_starts[start].cluster);
    for (int i = 0; i < w->n; i++) fr_text_addf(text, " %s", w->word[i]);
}

static void adds_up(const struct fr_job *job, const struct fr_outcome *out, const char *of) {
    struct fr_moment_memory memory[FR_MOMENTS];
    double total_B[FR_MOMENTS], most_B = 0, parts_B = 0,
                                slack_B = 1e-9 * out->memory_peak_B + 1e-6;
    if (!fr_moments_of_peak_stage(job, out, memory, total_B)) return;
    for (int k = 0; k < FR_MOMENTS; k++) {
        double sum_B = 0;
        if (total_B[k] < 0) continue;
        for (int j = 0; j < FR_TENSORS; j++) {
            FR_TRUE(memory[k].tensor_B[j] >= -slack_B, "%s: %s at %s is %g B", of,
                    fr_tensor_names[j], fr_moment_names[k], memory[k].tensor_B[j]);
            sum_B += memory[k].tensor_B[j];
        }
        FR_TRUE(fabs(sum_B - total_B[k]) <= slack_B, "%s: %s has %g B, not %g", of,
                fr_moment_names[k], total_B[k], sum_B);
        most_B = fmax(most_B, total_B[k]);
    }
    for (int k = 0; k < FR_MEMORY_COUNT; k++) {
        FR_TRUE(out->memory_B[k] >= -slack_B, "%s: %s is %g B", of, fr_memory_names[k],
                out->memory_B[k]);
        parts_B += out->memory_B[k];
    }
    FR_TRUE(fabs(parts_B - out->memory_peak_B) <= slack_B, "%s: parts %g B, peak %g", of,
            parts_B, out->memory_peak_B);
    most_B += out->memory_B[FR_MEMORY_FRAGMENTATION];
    FR_TRUE(fabs(most_B - out->memory_peak_B) <= slack_B, "%s: moments %g B, peak %g", of,
            most_B, out->memory_peak_B);
}

/* Twice as many samples, in as many micro-batches. */
static bool grows(const struct fr_job *job, const struct fr_outcome *out, const char *of) {
    struct fr_plan twice = out->plan;
    if (twice.micro_batch <= 0 || twice.global_batch <= 0) return false;
    twice.micro_batch *= 2;
    twice.global_batch *= 2;
    struct fr_outcome more = cost(job, &twice);
    if (!known(&more)) return false;
    FR_TRUE(more.memory_peak_B >= out->memory_peak_B * (1 - 1e-12),
            "%s: twice the samples hold %g of %g B", of, more.memory_peak_B,
            out->memory_peak_B);
    return true;
}

static bool made_again(const struct fr_job *job, const struct fr_outcome *out, const char *of) {
    struct fr_plan again = out->plan, saved = out->plan;
    again.recompute = FR_RECOMPUTE_FULL;
    saved.recompute = FR_RECOMPUTE_NONE;
    if (job->workload.transformer.layers == 0 || out->plan.offload) return false;
    struct fr_outcome less = cost(job, &again), all = cost(job, &saved);
    if (!known(&less) || !known(&all)) return false;
    FR_TRUE(less.memory_peak_B <= all.memory_peak_B * (1 + 1e-12),
            "%s: full recomputation holds %g of %g B", of, less.memory_peak_B,
            all.memory_peak_B);
    return true;
}

static bool losses_in_order(const struct fr_job *job, const struct fr_outcome *out,
                            const char *of) {
    static const fr_loss order[] = {FR_LOSS_FUSED, FR_LOSS_NATIVE, FR_LOSS_UNFUSED,
                                    FR_LOSS_EAGER, FR_LOSS_PARALLEL};
    struct fr_plan plan = out->plan;
    double before_B = 0, before_s = NAN;
    if (job->workload.transformer.layers == 0 || plan.forward) return false;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        plan.loss = order[k];
        struct fr_outcome now = cost(job, &plan);
        if (!known(&now)) return false;
        FR_TRUE(now.memory_peak_B >= before_B * (1 - 1e-12), "%s: loss %s holds %g of %g B", of,
                fr_loss_names[order[k]], now.memory_peak_B, before_B);
        before_B = now.memory_peak_B;
        if (order[k] == FR_LOSS_EAGER) continue; /* its kernels move other bytes */
        FR_TRUE(k == 0 || now.time_s == before_s, "%s: loss %s takes %g of %g s", of,
                fr_loss_names[order[k]], now.time_s, before_s);
        before_s = now.time_s;
    }
    return true;
}

static void any_plan(void **state) {
    static const char *const dummies[] = {"0", "1", "2"};
    uint64_t dice = 20261126;
    int priced = 0, grown = 0, again = 0, ordered = 0;
    (void)state;
    for (int i = 0; i < PLANS; i++) {
        struct drawn w;
        struct fr_job job;
        struct fr_text text = {0};
        size_t start;
        drawn_plan(&dice, &w, &start);
        drawn_say(&w, "cluster.device.dummy_gradients", dummies[fr_test_random(&dice, 3)], 1);
        if (!drawn_load(&w, start, &job)) continue;
        struct fr_outcome out = cost(&job, &job.plan);
        if (known(&out)) {
            about(&w, start, &text);
            adds_up(&job, &out, fr_text_get(&text));
            grown += grows(&job, &out, fr_text_get(&text));
            again += made_again(&job, &out, fr_text_get(&text));
            ordered += losses_in_order(&job, &out, fr_text_get(&text));
            priced++;
        }
        fr_text_free(&text);
        fr_job_free(&job);
    }
    FR_TRUE(priced > PLANS / 5 && grown > 50 && again > 50 && ordered > 50,
            "%d priced, %d with more samples, %d made again, %d losses", priced, grown, again,
            ordered);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
