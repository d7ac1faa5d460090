/* Clocks of a pipeline's passes: no slower, no dearer than clocks of stages, and no better ones by trying
 * all; both engines agree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/outcome/clocks.h"
#include "models/outcome/cost.h"
#include "models/outcome/pipeline_ops.h"
#include "models/price/clock.h"
#include "sim/run.h"
#include "tests/cmocka.h"
#include "tests/job.h"
#include "tests/plan_values.h"

#define CLUSTER "dgx-a100"

static struct fr_outcome price(const struct fr_job *job, const int16_t *clock) {
    struct fr_plan plan = job->plan;
    struct fr_outcome out;
    plan.pass_clock = clock;
    fr_cost(job, &plan, &out);
    assert_int_equal(out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
    return out;
}

/* All settings of so few passes and clocks, as an odometer. */
static double least_J(const struct fr_job *job, int passes, int clocks, double deadline_s) {
    int16_t clock[16] = {0};
    double least = INFINITY;
    for (;;) {
        int at = 0;
        struct fr_outcome out = price(job, clock);
        if (out.time_s <= deadline_s * (1 + 1e-9)) least = fmin(least, out.energy_J);
        while (at < passes && ++clock[at] == clocks) clock[at++] = 0;
        if (at == passes) return least;
    }
}

static void nothing_is_better_than_what_is_chosen(void **state) {
    static const struct {
        int passes, clocks;
        const char *sets[8];
    } rows[] = {
        {8,
         3,
         {"pp=2", "stage_layers=[4,8]", "global_batch=2", "cluster.device.clock.step=270 MHz"}},
        {8,
         3,
         {"pp=4", "stage_layers=[2,5,3,2]", "global_batch=1",
          "cluster.device.clock.step=270 MHz"}},
        {8,
         4,
         {"pp=2", "stage_layers=[7,5]", "global_batch=2",
          "cluster.device.clock.step=185 MHz"}}};
    static const double slowdowns[] = {0, 0.02, 0.2};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const char *sets[12] = {"micro_batch=1"};
        struct fr_job job;
        for (int i = 0; i < 8 && rows[r].sets[i]; i++) sets[1 + i] = rows[r].sets[i];
        fr_test_job(CLUSTER, "gpt-2", sets, &job);
        assert_int_equal(fr_device_clocks(&job.cluster.device.clock), rows[r].clocks);
        double full_s = price(&job, NULL).time_s;
        for (size_t d = 0; d < 3; d++) {
            int16_t *clock = NULL;
            /* the slowdown is of what the passes and their tail take, without the fixed part */
            double deadline_s = full_s + slowdowns[d] * (full_s - job.cluster.device.fixed_s);
            assert_int_equal(
                fr_pipeline_ops_choose(&job, &job.plan, slowdowns[d], &clock, NULL), FR_OK);
            struct fr_outcome out = price(&job, clock);
            double best_J = least_J(&job, rows[r].passes, rows[r].clocks, deadline_s);
            FR_TRUE(out.time_s <= deadline_s * (1 + 1e-9), "row %zu: %g s, not %g", r,
                    out.time_s, deadline_s);
            FR_TRUE(out.energy_J <= 1.01 * best_J, "row %zu, %g: got %g J, best %g J", r,
                    slowdowns[d], out.energy_J, best_J);
            free(clock);
        }
        fr_job_free(&job);
    }
}

/* Many passes: of settings drawn within three steps of what was chosen none that is as fast is better by a
 * percent, and stages at one clock each are none of them. */
static void nothing_drawn_is_better(void **state) {
    static const char *const sets[] = {"pp=4", "stage_layers=[2,5,3,2]", "micro_batch=1",
                                       "global_batch=12", NULL};
    enum { PASSES = 4 * 2 * 12 };
    struct fr_job job;
    int16_t *clock = NULL, drawn[PASSES];
    int64_t stage_Hz[4];
    uint64_t dice = 3;
    (void)state;
    fr_test_job(CLUSTER, "gpt-2", sets, &job);
    int clocks = fr_device_clocks(&job.cluster.device.clock);
    assert_int_equal(fr_pipeline_ops_choose(&job, &job.plan, 0.02, &clock, NULL), FR_OK);
    struct fr_outcome out = price(&job, clock);
    for (int n = 0; n < 20000; n++) {
        for (int k = 0; k < PASSES; k++) {
            int to = clock[k] + (int)fr_test_random(&dice, n % 2 ? 7 : 3) - (n % 2 ? 3 : 1);
            drawn[k] = (int16_t)(to < 0 ? 0 : to >= clocks ? clocks - 1 : to);
        }
        struct fr_outcome x = price(&job, drawn);
        FR_TRUE(x.time_s > out.time_s * (1 + 1e-9) || x.energy_J > 0.99 * out.energy_J,
                "chosen %g J, drawn %g J", out.energy_J, x.energy_J);
    }
    assert_int_equal(fr_clocks_choose(&job, &job.plan, 0.02, stage_Hz, NULL), FR_OK);
    job.plan.clock_Hz = stage_Hz, job.plan.n_clock_Hz = 4;
    struct fr_outcome by_stage = price(&job, NULL);
    FR_TRUE(out.energy_J < by_stage.energy_J, "%g J by passes, %g J by stages", out.energy_J,
            by_stage.energy_J);
    free(clock);
    fr_job_free(&job);
}

/* No chosen pass can go one clock lower and save anything in time. */
static void no_pass_has_room_left(void **state) {
    static const char *const more[][3] = {
        {"schedule=1f1b", "stage_layers=[2,5,3,2]", "global_batch=6"},
        {"schedule=gpipe", "stage_layers=[4,2,3,3]", "global_batch=4"},
        {"schedule=zero-bubble", "stage_layers=[3,3,3,3]", "global_batch=6"},
        {"schedule=interleaved", "chunks=3", "global_batch=8"}};
    static const double slowdowns[] = {0, 0.03, 0.5};
    enum { PASSES = 4 * 3 * 8 * 3 };
    (void)state;
    for (size_t r = 0; r < sizeof more / sizeof *more; r++) {
        const char *sets[] = {"pp=4",     "micro_batch=1", "cluster.device.clock.step=111 MHz",
                              more[r][0], more[r][1],      more[r][2],
                              NULL};
        struct fr_job job;
        fr_test_job(CLUSTER, "gpt-2", sets, &job);
        const struct fr_plan *p = &job.plan;
        int passes = (int)(p->pp * p->global_batch * p->chunks) * (r == 2 ? 3 : 2), lowered = 0;
        double full_s = price(&job, NULL).time_s, fixed_s = job.cluster.device.fixed_s;
        assert_true(passes <= PASSES);
        for (size_t d = 0; d < 3; d++) {
            int16_t *clock = NULL;
            double deadline_s = full_s + slowdowns[d] * (full_s - fixed_s);
            assert_int_equal(fr_pipeline_ops_choose(&job, p, slowdowns[d], &clock, NULL),
                             FR_OK);
            struct fr_outcome out = price(&job, clock);
            for (int k = 0; k < passes; k++) {
                if (clock[k] == 0) {
                    lowered++;
                    continue;
                }
                clock[k]--;
                struct fr_outcome x = price(&job, clock);
                clock[k]++;
                FR_TRUE(x.time_s > deadline_s * (1 + 1e-8) ||
                            x.energy_J >= out.energy_J * (1 - 1e-8),
                        "row %zu, %g, pass %d: %.12g s of %.12g, %.12g J of %.12g", r,
                        slowdowns[d], k, x.time_s, deadline_s, x.energy_J, out.energy_J);
            }
            free(clock);
        }
        assert_true(lowered > 0);
        fr_job_free(&job);
    }
}

/* The choice depends on no unit: a device that draws a millionth of it in every state chooses as before. */
static void a_choice_hangs_on_no_unit(void **state) {
    static const char *const sets[] = {"pp=4", "stage_layers=[2,5,3,2]", "micro_batch=1",
                                       "global_batch=6", NULL};
    enum { PASSES = 4 * 2 * 6 };
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct fr_job job;
        int16_t *clock = NULL, *small = NULL;
        fr_test_job(CLUSTER, "gpt-2", sets, &job);
        assert_int_equal(fr_pipeline_ops_choose(&job, &job.plan, 0.1 * d, &clock, NULL), FR_OK);
        struct fr_power *power = &job.cluster.device.power;
        power->busy_W *= 1e-6, power->communicating_W *= 1e-6, power->idle_W *= 1e-6;
        assert_int_equal(fr_pipeline_ops_choose(&job, &job.plan, 0.1 * d, &small, NULL), FR_OK);
        for (int k = 0; k < PASSES; k++)
            FR_TRUE(clock[k] == small[k], "slowdown %g, pass %d: %d, %d", 0.1 * d, k, clock[k],
                    small[k]);
        free(clock), free(small);
        fr_job_free(&job);
    }
}

/* "slack" takes no longer, saves where a pipeline fills and drains, and meets every axis of a pipeline: the
 * event engine says the same of time and energy. */
static void slack_meets_every_axis(void **state) {
    static const struct {
        const char *model, *sets[8];
        bool saves;
    } rows[] = {
        {"gpt-2", {"schedule=1f1b"}, true},
        {"gpt-2", {"schedule=gpipe"}, true},
        {"gpt-2", {"schedule=interleaved", "chunks=3"}, true},
        {"gpt-2", {"schedule=zero-bubble"}, true},
        {"gpt-2", {"schedule=zero-bubble-v", "chunks=2"}, true},
        {"gpt-2", {"schedule=dualpipe-v", "chunks=2"}, true},
        {"gpt-2", {"tp=2", "sequence_parallel=true"}, true},
        {"gpt-2", {"tp=2", "method=grid"}, true},
        {"gpt-2", {"tp=2", "method=phantom", "ghost=4"}, true},
        {"gpt-2", {"tp=2", "method=subgraph", "common=subgrid"}, true},
        {"gpt-2", {"dp=2", "overlap=gradient"}, true},
        {"gpt-2", {"dp=2", "overlap=gradient", "schedule=interleaved", "chunks=2"}, false},
        {"gpt-2", {"dp=2", "zero=3"}, true},
        {"gpt-2", {"dp=2", "compression.gradient.stages=1"}, true},
        {"gpt-2", {"compression.backward.scope=all"}, true},
        {"gpt-2", {"compression.backward.scope=epilogue"}, true},
        {"gpt-2", {"cp=2"}, true},
        {"gpt-2", {"recompute=full", "attention=flash"}, true},
        {"gpt-2", {"power_cap=300W"}, false},
        {"gpt-2", {"pass=forward"}, true},
        {"mixtral-8x7b", {"dp=2", "ep=2"}, true},
        {"ffn-16384", {"micro_batch=1"}, false}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *sets[16] = {"pp=2", "micro_batch=2", "global_batch=16",
                                "cluster.device.memory=0 B"};
        struct fr_job job;
        struct fr_simulation s;
        struct fr_outcome slack;
        for (int i = 0, n = 4; i < 8 && rows[k].sets[i]; i++) sets[n++] = rows[k].sets[i];
        fr_test_job(CLUSTER, rows[k].model, sets, &job);
        struct fr_outcome full = price(&job, NULL);
        job.plan.clock_slack = true;
        fr_cost(&job, &job.plan, &slack);
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &s, NULL), FR_OK);
        FR_TRUE(fabs(s.outcome.time_s - slack.time_s) <= 1e-9 * slack.time_s &&
                    fabs(s.outcome.energy_J - slack.energy_J) <= 1e-9 * slack.energy_J,
                "row %zu: event %.12g s, %.12g J; closed %.12g s, %.12g J", k, s.outcome.time_s,
                s.outcome.energy_J, slack.time_s, slack.energy_J);
        FR_TRUE(slack.time_s <= full.time_s * (1 + 1e-9), "row %zu: %.12g s after %.12g s", k,
                slack.time_s, full.time_s);
        FR_TRUE(slack.energy_J <= full.energy_J * (1 + 1e-9), "row %zu: %g J after %g J", k,
                slack.energy_J, full.energy_J);
        FR_TRUE(!rows[k].saves || slack.energy_J < 0.99 * full.energy_J,
                "row %zu: saves nothing of %g J", k, full.energy_J);
        assert_true(slack.plan.clock_slack && !slack.plan.pass_clock && !slack.plan.clock_Hz &&
                    slack.plan.n_clock_Hz == 0);
        fr_simulation_free(&s);
        fr_job_free(&job);
    }
}

/* Two stages, one micro-batch: of F0 F1 B1 B0 every pass is critical, and none is slowed. */
/* A backward pass done whole takes its weight gradient's time, whose own slot then takes none; apart each has its own. */
static void whole_passes_by_hand(void **state) {
    struct fr_stage stage = {.forward = {.compute_s = 1, .launch_s = 0.01},
                             .backward = {.compute_s = 3, .launch_s = 0.1},
                             .weight = {.compute_s = 2, .launch_s = 0.02}};
    struct fr_pipeline p = {.schedule = &fr_schedule_zero_bubble,
                            .args = {.stages = 1, .micro_batches = 1, .chunks = 1},
                            .splits_backward = true,
                            .stage = &stage};
    const struct {
        struct fr_slot slot;
        double compute_s;
    } passes[] = {{{.kind = FR_SLOT_FORWARD}, 1},
                  {{.kind = FR_SLOT_BACKWARD}, 1},
                  {{.kind = FR_SLOT_WEIGHT}, 2},
                  {{.kind = FR_SLOT_BACKWARD, .whole = true}, 3},
                  {{.kind = FR_SLOT_WEIGHT, .whole = true}, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        FR_NEAR(fr_clock_pass(&p, 0, &passes[i].slot).compute_s, passes[i].compute_s, 1e-12);
}

static void what_is_critical_stays(void **state) {
    static const char *const sets[] = {"pp=2", "micro_batch=1", "global_batch=1", NULL};
    struct fr_job job;
    int16_t *clock = NULL;
    (void)state;
    fr_test_job(CLUSTER, "gpt-2", sets, &job);
    int top = fr_device_clocks(&job.cluster.device.clock) - 1;
    assert_int_equal(fr_pipeline_ops_choose(&job, &job.plan, 0, &clock, NULL), FR_OK);
    for (int k = 0; k < 4; k++) assert_int_equal(clock[k], top);
    free(clock);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_better_than_what_is_chosen),
                                       cmocka_unit_test(nothing_drawn_is_better),
                                       cmocka_unit_test(no_pass_has_room_left),
                                       cmocka_unit_test(a_choice_hangs_on_no_unit),
                                       cmocka_unit_test(slack_meets_every_axis),
                                       cmocka_unit_test(whole_passes_by_hand),
                                       cmocka_unit_test(what_is_critical_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
