/* Clocks of a pipeline's stages: what they do by hand, and whether anything better than what is chosen
 * exists, by trying all. */
#include "models/outcome/clocks.h"
#include "models/outcome/pipeline_ops.h"

#include <math.h>
#include <stdio.h>

#include "models/outcome/cost.h"
#include "models/outcome/energy.h"
#include "sim/run.h"
#include "tests/cmocka.h"
#include "tests/job.h"
#include "tests/plan_values.h"

/* Six clocks: 855, 966, ... 1410 MHz. */
#define CLUSTER "dgx-a100"
#define SIX "cluster.device.clock.step=111 MHz"
#define UNEVEN SIX, "pp=4", "stage_layers=[2,5,3,2]", "micro_batch=1", "global_batch=8"
enum { STAGES = 4, CLOCKS = 6 };

static struct fr_outcome price(const struct fr_job *job, const int64_t *clock_Hz, int n) {
    struct fr_plan plan = job->plan;
    struct fr_outcome out;
    plan.clock_Hz = clock_Hz;
    plan.n_clock_Hz = n;
    fr_cost(job, &plan, &out);
    assert_int_equal(out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY), 0);
    return out;
}

/* Finds the least energy within the time over all 6^4 settings. */
static double least_J(const struct fr_job *job, double deadline_s) {
    double least = INFINITY;
    for (int k = 0; k < 6 * 6 * 6 * 6; k++) {
        int64_t clock_Hz[STAGES];
        for (int i = 0, left = k; i < STAGES; i++, left /= CLOCKS)
            clock_Hz[i] =
                llround(fr_device_clock_at(&job->cluster.device.clock, left % CLOCKS));
        struct fr_outcome out = price(job, clock_Hz, STAGES);
        if (out.time_s <= deadline_s * (1 + 1e-9)) least = fmin(least, out.energy_J);
    }
    return least;
}

static void nothing_is_better_than_what_is_chosen(void **state) {
    static const char *const layers[] = {"stage_layers=[2,5,3,2]", "stage_layers=[4,1,6,1]",
                                         "stage_layers=[3,3,3,3]"};
    static const double slowdowns[] = {0, 0.01, 0.05, 0.2};
    (void)state;
    for (int l = 0; l < 3; l++) {
        const char *sets[] = {SIX, "pp=4", layers[l], "micro_batch=1", "global_batch=8", NULL};
        struct fr_job job;
        fr_test_job(CLUSTER, "gpt-2", sets, &job);
        assert_int_equal(fr_device_clocks(&job.cluster.device.clock), CLOCKS);
        struct fr_outcome full = price(&job, NULL, 0);
        for (int d = 0; d < 4; d++) {
            int64_t clock_Hz[STAGES];
            double deadline_s = (1 + slowdowns[d]) * full.time_s;
            assert_int_equal(fr_clocks_choose(&job, &job.plan, slowdowns[d], clock_Hz, NULL),
                             FR_OK);
            struct fr_outcome out = price(&job, clock_Hz, STAGES);
            double best_J = least_J(&job, deadline_s);
            FR_TRUE(out.time_s <= deadline_s * (1 + 1e-9), "%s, %g: %g s, not %g", layers[l],
                    slowdowns[d], out.time_s, deadline_s);
            FR_TRUE(out.energy_J <= best_J * 1.01, "%s, %g: got %g J, best %g J", layers[l],
                    slowdowns[d], out.energy_J, best_J);
        }
        fr_job_free(&job);
    }
}

/* More clocks than can all be tried: of twenty thousand settings drawn around the chosen one (within three
 * steps) and anywhere, none is better by a percent. */
static void nothing_drawn_is_better(void **state) {
    const char *sets[] = {"pp=4", "stage_layers=[4,1,6,1]", "micro_batch=1", "global_batch=8",
                          NULL};
    struct fr_job job;
    uint64_t dice = 11;
    (void)state;
    fr_test_job(CLUSTER, "gpt-2", sets, &job);
    const struct fr_device_clock *clock = &job.cluster.device.clock;
    struct fr_outcome full = price(&job, NULL, 0);
    int64_t chosen_Hz[STAGES], clock_Hz[STAGES];
    assert_int_equal(fr_clocks_choose(&job, &job.plan, 0.05, chosen_Hz, NULL), FR_OK);
    struct fr_outcome out = price(&job, chosen_Hz, STAGES);
    assert_true(out.time_s <= 1.05 * full.time_s * (1 + 1e-9));
    for (int n = 0; n < 20000; n++) {
        for (int i = 0; i < STAGES; i++) {
            double near = (double)chosen_Hz[i] +
                          clock->step_Hz * ((double)fr_test_random(&dice, 7) - 3),
                   any = fr_device_clock_at(clock, (int)fr_test_random(&dice, 38));
            clock_Hz[i] = llround(fmin(clock->max_Hz, fmax(clock->min_Hz, n % 2 ? near : any)));
        }
        struct fr_outcome x = price(&job, clock_Hz, STAGES);
        FR_TRUE(x.time_s > 1.05 * full.time_s || x.energy_J > 0.99 * out.energy_J,
                "chosen %g J, drawn %g J", out.energy_J, x.energy_J);
    }
    fr_job_free(&job);
}

/* More clocks than can all be tried: no other clock of one stage, nor of two at once, saves anything in time. */
static void no_pair_is_better(void **state) {
    static const char *const layers[] = {"stage_layers=[2,5,3,2]", "stage_layers=[4,1,6,1]",
                                         "stage_layers=[1,1,1,9]", "stage_layers=[3,3,2,4]"};
    static const double slowdowns[] = {0, 0.03, 0.1};
    (void)state;
    for (int l = 0; l < 4; l++) {
        const char *sets[] = {"cluster.device.clock.step=50 MHz",
                              "pp=4",
                              layers[l],
                              "micro_batch=1",
                              "global_batch=8",
                              NULL};
        struct fr_job job;
        fr_test_job(CLUSTER, "gpt-2", sets, &job);
        const struct fr_device_clock *clock = &job.cluster.device.clock;
        int clocks = fr_device_clocks(clock);
        assert_true(clocks * clocks * clocks * clocks > 5000);
        struct fr_outcome full = price(&job, NULL, 0);
        for (int d = 0; d < 3; d++) {
            int64_t chosen_Hz[STAGES], clock_Hz[STAGES];
            assert_int_equal(fr_clocks_choose(&job, &job.plan, slowdowns[d], chosen_Hz, NULL),
                             FR_OK);
            struct fr_outcome out = price(&job, chosen_Hz, STAGES);
            for (int i = 0; i < STAGES; i++)
                for (int k = i; k < STAGES; k++)
                    for (int c = 0; c < clocks * clocks; c++) {
                        memcpy(clock_Hz, chosen_Hz, sizeof clock_Hz);
                        clock_Hz[i] = llround(fr_device_clock_at(clock, c % clocks));
                        if (k > i) clock_Hz[k] = llround(fr_device_clock_at(clock, c / clocks));
                        struct fr_outcome x = price(&job, clock_Hz, STAGES);
                        FR_TRUE(x.time_s > (1 + slowdowns[d]) * full.time_s * (1 + 1e-8) ||
                                    x.energy_J >= out.energy_J * (1 - 1e-8),
                                "%s, %g: stages %d, %d: %.12g J, chosen %.12g J", layers[l],
                                slowdowns[d], i, k, x.energy_J, out.energy_J);
                        if (k == i && c + 1 == clocks) break;
                    }
        }
        fr_job_free(&job);
    }
}

/* More stages than every step of every clock is priced for (coarse steps first): in the end no stage can be one
 * step slower, in time and for less. */
static void no_step_is_left(void **state) {
    enum { MANY = 36 };
    static const double slowdowns[] = {0.002, 0.01, 0.03, 0.05};
    const char *sets[] = {"pp=36", "micro_batch=1", "global_batch=37", NULL};
    struct fr_job job;
    (void)state;
    fr_test_job(CLUSTER, "gpt-8.3b", sets, &job);
    const struct fr_device_clock *clock = &job.cluster.device.clock;
    assert_true(MANY * MANY * fr_device_clocks(clock) > 40000);
    struct fr_outcome full = price(&job, NULL, 0);
    for (int d = 0; d < 4; d++) {
        int64_t chosen_Hz[MANY], clock_Hz[MANY];
        assert_int_equal(fr_clocks_choose(&job, &job.plan, slowdowns[d], chosen_Hz, NULL),
                         FR_OK);
        struct fr_outcome out = price(&job, chosen_Hz, MANY);
        int lowered = 0;
        for (int i = 0; i < MANY; i++) {
            memcpy(clock_Hz, chosen_Hz, sizeof clock_Hz);
            clock_Hz[i] = llround((double)chosen_Hz[i] - clock->step_Hz);
            lowered += (double)chosen_Hz[i] < clock->max_Hz - 0.5;
            if ((double)clock_Hz[i] < clock->min_Hz - 0.5) continue;
            struct fr_outcome x = price(&job, clock_Hz, MANY);
            FR_TRUE(x.time_s > (1 + slowdowns[d]) * full.time_s * (1 + 1e-8) ||
                        x.energy_J >= out.energy_J * (1 - 1e-8),
                    "%g, stage %d: %.12g J, chosen %.12g J", slowdowns[d], i, x.energy_J,
                    out.energy_J);
        }
        FR_TRUE(lowered > 0, "%g: none lowered", slowdowns[d]);
    }
    fr_job_free(&job);
}

/* Stages alone off the critical path: only the last one's gradients are long, and who is done earlier may
 * compute more slowly; nothing at all where all stages fill and drain.  "slack", of passes, saves no less. */
static void slack_costs_no_time(void **state) {
    const char *late[] = {SIX,
                          "pp=4",
                          "dp=2",
                          "stage_layers=[2,5,3,2]",
                          "micro_batch=8",
                          "global_batch=16",
                          "cluster.levels.1.bandwidth=1 GB/s",
                          NULL};
    const char *filled[] = {UNEVEN, NULL};
    const char *const *const sets[] = {filled, late};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct fr_job job;
        int64_t clock_Hz[STAGES];
        fr_test_job(CLUSTER, "gpt-2", sets[k], &job);
        struct fr_outcome full = price(&job, NULL, 0), slack;
        assert_int_equal(fr_clocks_choose(&job, &job.plan, 0, clock_Hz, NULL), FR_OK);
        struct fr_outcome by_hand = price(&job, clock_Hz, STAGES);
        job.plan.clock_slack = true;
        fr_cost(&job, &job.plan, &slack);
        FR_NEAR(slack.time_s, full.time_s, 1e-9);
        FR_TRUE(slack.energy_J <= by_hand.energy_J * (1 + 1e-9), "%g J of %g J by stages",
                slack.energy_J, by_hand.energy_J);
        FR_TRUE(by_hand.energy_J <= full.energy_J, "%g J of %g J", by_hand.energy_J,
                full.energy_J);
        assert_true(slack.plan.clock_slack && !slack.plan.clock_Hz);
        fr_job_free(&job);
    }
}

/* At 855 MHz of 1410 computing takes 0.17 + 0.83 * 1410 / 855; of one stage alone that is all there is,
 * and what it draws is 0.13 + 0.87 * (855 / 1410) / 1.25^2 of its highest. */
static void one_clock_by_hand(void **state) {
    const char *sets[] = {"global_batch=4", "micro_batch=4", "cluster.device.fixed=0 s", NULL};
    const int64_t low_Hz = 855000000;
    struct fr_job job;
    (void)state;
    fr_test_job(CLUSTER, "gpt-2", sets, &job);
    struct fr_outcome full = price(&job, NULL, 0), low = price(&job, &low_Hz, 1);
    const struct fr_device *device = &job.cluster.device;
    double slower = 0.17 + 0.83 * 1410 / 855,
           less = 0.13 + 0.87 * (855.0 / 1410) / (1.25 * 1.25);
    FR_NEAR(fr_device_clock_slower(&device->clock, 855e6), slower, 1e-12);
    FR_NEAR(fr_device_busy_W(device, 855e6), less * device->power.busy_W, 1e-9);
    double compute_s = full.part_s[FR_PART_COMPUTE];
    FR_TRUE(low.part_s[FR_PART_COMPUTE] < slower * compute_s, "the optimiser is slower too");
    FR_TRUE(low.part_s[FR_PART_COMPUTE] > 1.1 * compute_s, "got %g s of %g s",
            low.part_s[FR_PART_COMPUTE], compute_s);
    FR_NEAR(low.part_s[FR_PART_LAUNCH], full.part_s[FR_PART_LAUNCH], 1e-12);
    FR_NEAR(low.energy_J, low.time_s * less * device->power.busy_W, 1e-9);
    fr_job_free(&job);
}

/* A limit is the clock that it allows, and the event engine agrees in time and energy. */
static void limits_and_engines_agree(void **state) {
    const char *sets[] = {UNEVEN, NULL};
    const int64_t cap_W = 250, caps_W[] = {400, 250, 300, 200};
    struct fr_job job;
    (void)state;
    fr_test_job(CLUSTER, "gpt-2", sets, &job);
    const struct fr_device *device = &job.cluster.device;
    int64_t within_Hz =
        llround(fr_device_clock_within(&device->clock, device->power.busy_W, 250));
    struct fr_outcome as_clock = price(&job, &within_Hz, 1), as_limit;
    FR_TRUE(fr_device_busy_W(device, (double)within_Hz) <= 250, "above the limit");
    job.plan.cap_W = &cap_W;
    job.plan.n_cap_W = 1;
    fr_cost(&job, &job.plan, &as_limit);
    FR_NEAR(as_limit.time_s, as_clock.time_s, 1e-12);
    FR_NEAR(as_limit.energy_J, as_clock.energy_J, 1e-12);
    job.plan.cap_W = caps_W;
    job.plan.n_cap_W = STAGES;
    fr_cost(&job, &job.plan, &as_limit);
    struct fr_simulation s;
    assert_int_equal(fr_simulate(&job, &job.plan, NULL, &s, NULL), FR_OK);
    FR_NEAR(s.outcome.time_s, as_limit.time_s, 1e-9);
    FR_NEAR(s.outcome.energy_J, as_limit.energy_J, 1e-9);
    fr_simulation_free(&s);
    fr_job_free(&job);
}

/* Beside every other axis of a pipeline: both engines agree in time and energy, computing takes longer,
 * and the rest as long as before. */
static void clocks_meet_every_axis(void **state) {
    static const struct {
        const char *model, *sets[8];
    } rows[] = {{"gpt-2", {"schedule=gpipe"}},
                {"gpt-2", {"schedule=interleaved", "chunks=3"}},
                {"gpt-2", {"schedule=zero-bubble"}},
                {"gpt-2", {"schedule=zero-bubble-v", "chunks=2"}},
                {"gpt-2", {"schedule=dualpipe-v", "chunks=2"}},
                {"gpt-2", {"tp=2", "sequence_parallel=true"}},
                {"gpt-2", {"tp=2", "method=grid"}},
                {"gpt-2", {"tp=2", "method=phantom", "ghost=4"}},
                {"gpt-2", {"tp=2", "method=subgraph", "common=subgrid"}},
                {"gpt-2", {"dp=2", "overlap=gradient"}},
                {"gpt-2", {"dp=2", "zero=3"}},
                {"gpt-2", {"dp=2", "compression.gradient.stages=1"}},
                {"gpt-2", {"compression.backward.scope=all"}},
                {"gpt-2", {"cp=2"}},
                {"gpt-2", {"recompute=full", "attention=flash"}},
                {"mixtral-8x7b", {"dp=2", "ep=2"}},
                {"ffn-16384", {"micro_batch=1"}}};
    static const int64_t clock_Hz[] = {1200000000, 1305000000};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *sets[16] = {"pp=2", "micro_batch=2", "global_batch=16",
                                "cluster.device.memory=0 B"};
        struct fr_job job;
        struct fr_simulation s;
        for (int i = 0, n = 4; i < 8 && rows[k].sets[i]; i++) sets[n++] = rows[k].sets[i];
        fr_test_job(CLUSTER, rows[k].model, sets, &job);
        struct fr_outcome full = price(&job, NULL, 0), out = price(&job, clock_Hz, 2);
        job.plan.clock_Hz = clock_Hz;
        job.plan.n_clock_Hz = 2;
        assert_int_equal(fr_simulate(&job, &job.plan, NULL, &s, NULL), FR_OK);
        FR_TRUE(fabs(s.outcome.time_s - out.time_s) <= 1e-9 * out.time_s &&
                    fabs(s.outcome.energy_J - out.energy_J) <= 1e-9 * out.energy_J,
                "row %zu: event %.12g s, %.12g J; closed %.12g s, %.12g J", k, s.outcome.time_s,
                s.outcome.energy_J, out.time_s, out.energy_J);
        FR_TRUE(out.part_s[FR_PART_COMPUTE] > full.part_s[FR_PART_COMPUTE] &&
                    out.time_s >= full.time_s && out.time_s < 1.2 * full.time_s,
                "row %zu: %g s after %g s", k, out.time_s, full.time_s);
        fr_simulation_free(&s);
        fr_job_free(&job);
    }
}

/* The clock of a stage as a power meter sees it: of passes the mean over their work, of stages the one chosen, of a
 * plan's own clocks those, and otherwise none but the highest, which is 0. */
static void clocks_that_a_meter_sees(void **state) {
    static const struct {
        const char *sets[8];
        bool slack, passes;
    } rows[] = {{{"schedule=1f1b"}, true, true},
                {{"schedule=zero-bubble"}, true, true},
                {{"global_batch=4096"}, true, false},
                {{"clock=[\"1.2 GHz\",\"1.1 GHz\"]"}, false, false},
                {{"schedule=gpipe"}, false, false}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const char *sets[16] = {"pp=2", "micro_batch=2", "global_batch=16",
                                "cluster.device.memory=0 B", "stage_layers=[4,8]"};
        struct fr_job job;
        struct fr_error err = {0};
        double seen_Hz[2];
        int64_t stage_Hz[2];
        int16_t *clock = NULL;
        for (int i = 0, n = 5; i < 8 && rows[r].sets[i]; i++) sets[n++] = rows[r].sets[i];
        fr_test_job("dgx-a100", "gpt-2", sets, &job);
        struct fr_plan *plan = &job.plan;
        plan->clock_slack = rows[r].slack;
        if (fr_clocks_of(&job, plan, seen_Hz, &err) != FR_OK) fail_msg("%s", err.detail);
        struct fr_outcome out;
        fr_cost(&job, plan, &out); /* what is chosen for it is not in its plan */
        assert_true(out.plan.clock_slack == rows[r].slack && !out.plan.pass_clock);
        assert_int_equal(out.plan.n_clock_Hz, plan->n_clock_Hz);
        assert_ptr_equal(out.plan.clock_Hz, plan->clock_Hz);
        fr_status by_pass = fr_pipeline_ops_choose(&job, plan, 0, &clock, NULL);
        if (rows[r].slack) FR_TRUE((by_pass == FR_OK) == rows[r].passes, "row %zu", r);
        if (rows[r].slack && !rows[r].passes)
            assert_int_equal(fr_clocks_choose(&job, plan, 0, stage_Hz, NULL), FR_OK);
        for (int i = 0; i < 2; i++)
            if (rows[r].passes) {
                const struct fr_device_clock *c = &job.cluster.device.clock;
                int n = (int)(plan->global_batch / plan->micro_batch);
                double least = INFINITY, most = 0;
                n *= r == 1 ? 3 : 2;
                for (int k = i * n; k < (i + 1) * n; k++) {
                    least = fmin(least, fr_device_clock_at(c, clock[k]));
                    most = fmax(most, fr_device_clock_at(c, clock[k]));
                }
                FR_TRUE(seen_Hz[i] >= least * (1 - 1e-12) && seen_Hz[i] <= most * (1 + 1e-12),
                        "row %zu: %g Hz", r, seen_Hz[i]);
            } else
                FR_NEAR(seen_Hz[i] + 1,
                        (rows[r].slack      ? (double)stage_Hz[i]
                         : plan->n_clock_Hz ? (double)plan->clock_Hz[i]
                                            : 0) +
                            1,
                        1e-12);
        free(clock);
        fr_job_free(&job);
    }
}

/* No clock law, a clock outside the device's, clocks of other stages than there are. */
static void what_cannot_be_is_refused(void **state) {
    static const int64_t low_Hz[] = {100000000},
                         three_Hz[] = {1200000000, 1200000000, 1200000000};
    const char *sets[] = {UNEVEN, NULL}, *none[] = {"global_batch=4", NULL};
    struct fr_outcome out;
    struct fr_job job;
    (void)state;
    fr_test_job(CLUSTER, "gpt-2", sets, &job);
    job.plan.clock_Hz = low_Hz, job.plan.n_clock_Hz = 1;
    fr_cost(&job, &job.plan, &out);
    assert_true(out.reasons & FR_BECAUSE(FR_REASON_POWER));
    job.plan.clock_Hz = three_Hz, job.plan.n_clock_Hz = 3;
    fr_cost(&job, &job.plan, &out);
    assert_true(out.reasons & FR_BECAUSE(FR_REASON_STAGES));
    fr_job_free(&job);
    fr_test_job("frontier", "gpt-2", none, &job);
    job.plan.clock_slack = true;
    fr_cost(&job, &job.plan, &out);
    assert_true(out.reasons & FR_BECAUSE(FR_REASON_POWER));
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_better_than_what_is_chosen),
                                       cmocka_unit_test(nothing_drawn_is_better),
                                       cmocka_unit_test(no_pair_is_better),
                                       cmocka_unit_test(no_step_is_left),
                                       cmocka_unit_test(slack_costs_no_time),
                                       cmocka_unit_test(one_clock_by_hand),
                                       cmocka_unit_test(limits_and_engines_agree),
                                       cmocka_unit_test(clocks_meet_every_axis),
                                       cmocka_unit_test(clocks_that_a_meter_sees),
                                       cmocka_unit_test(what_cannot_be_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
