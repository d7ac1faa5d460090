/* Hybrids on every pair of axes: an attention and an MLP (or experts) a layer written as two layers of one block each
 * are the same plan; and with state-space blocks between, the event engine agrees with the closed form. */
#include <math.h>
#include <string.h>

#include "answer/search/compositions.h"
#include "models/workload/hybrid.h"
#include "sim/run.h"
#include "tests/job.h"

static void load(const struct fr_axis_setting *a, const struct fr_axis_setting *b,
                 struct fr_job *job) {
    struct fr_error err = {0};
    if (fr_axes_load(&fr_method_tensor, a, b, NULL, job, &err) != FR_OK)
        fail_msg("%s, %s: %s: %s", a->name, b->name, err.where, err.detail);
}

static void make_hybrid(struct fr_transformer *t, const char *pattern) {
    t->layers *= (int64_t)strlen(pattern);
    snprintf(t->pattern, sizeof t->pattern, "%s", pattern);
    if (!strchr(pattern, 'M')) return;
    t->ssm_heads = 12;
    t->ssm_head_dim = t->ssm_state = 64;
    t->ssm_groups = 4;
    t->ssm_chunk = 128;
    t->ssm_conv = 4;
}

/* These go layer by layer, and there are twice as many layers. */
static bool by_layers(const struct fr_plan *plan) {
    return plan->zero >= 2 || (plan->zero && plan->overlap) || plan->offload != FR_OFFLOAD_NONE;
}

static void one_equivalent(const struct fr_axis_setting *a, const struct fr_axis_setting *b,
                           struct fr_job *job, const struct fr_outcome *plain) {
    struct fr_outcome equivalent;
    make_hybrid(&job->workload.transformer, job->workload.transformer.experts ? "*E" : "*-");
    fr_cost(job, &job->plan, &equivalent);
    if (fr_recompute_saves(job->plan.recompute)) {
        assert_true(equivalent.reasons & FR_BECAUSE(FR_REASON_RECOMPUTE));
        return;
    }
    FR_TRUE(equivalent.reasons == plain->reasons, "%s, %s", a->name, b->name);
    if (plain->reasons) return;
    FR_NEAR(equivalent.parameters, plain->parameters, 0);
    if (!by_layers(&job->plan))
        FR_TRUE(fabs(equivalent.time_s / plain->time_s - 1) < 1e-12,
                "%s, %s: %.17g s, one layer of both %.17g s", a->name, b->name,
                equivalent.time_s, plain->time_s);
    if (!by_layers(&job->plan) && job->plan.recompute != FR_RECOMPUTE_FULL)
        FR_NEAR(equivalent.memory_peak_B, plain->memory_peak_B, 1e-12);
}

static void engine_agrees(const struct fr_axis_setting *a, const struct fr_axis_setting *b) {
    struct fr_job job;
    struct fr_outcome out;
    struct fr_simulation event;
    load(a, b, &job);
    make_hybrid(&job.workload.transformer, job.workload.transformer.experts ? "M*E" : "M*-");
    fr_cost(&job, &job.plan, &out);
    if (out.reasons == 0) {
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &event, NULL), FR_OK);
        FR_TRUE(fabs(event.outcome.time_s / out.time_s - 1) < 1e-9, "%s, %s: %.17g, %.17g",
                a->name, b->name, event.outcome.time_s, out.time_s);
        fr_simulation_free(&event);
    }
    fr_job_free(&job);
}

static void every_pair(void **state) {
    int priced = 0, refused = 0;
    (void)state;
    for (const struct fr_axis_setting *a = fr_axis_settings; a->name; a++)
        for (const struct fr_axis_setting *b = a; b->name; b++) {
            struct fr_job job;
            struct fr_outcome plain;
            if (!fr_axes_meet(a, b)) continue;
            load(a, b, &job);
            if (job.workload.transformer.lora_rank > 0) { /* refused as the file is read */
                fr_job_free(&job);
                continue;
            }
            fr_cost(&job, &job.plan, &plain);
            one_equivalent(a, b, &job, &plain);
            *(plain.reasons ? &refused : &priced) += 1;
            fr_job_free(&job);
            engine_agrees(a, b);
        }
    print_message("%d priced, %d refused\n", priced, refused);
    assert_true(priced > 150);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
