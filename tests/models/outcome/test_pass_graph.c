/* The choice of clocks for passes stands on these: curves of energy beside all chords of their points, and the event
 * graph beside the recurrence and the event engine, at clocks drawn at random. */
#include <math.h>
#include <stdlib.h>

#include "models/outcome/pass_graph.h"
#include "models/outcome/pipeline_op_curve.h"
#include "models/outcome/recurrence.h"
#include "models/price/clock.h"
#include "tests/cmocka.h"
#include "tests/job.h"
#include "tests/pipeline_case.h"
#include "tests/plan_values.h"

/* ---- curves ------------------------------------------------------------------------------------ */

enum { POINTS = 12 };

/* The least of all mixtures of two points that take no longer. */
static double mixed_J(int n, const double *x, const double *y, double at) {
    double least = at >= x[n - 1] ? y[n - 1] : INFINITY;
    for (int i = 0; i < n && x[i] <= at; i++) {
        least = fmin(least, y[i]);
        for (int k = i + 1; k < n; k++)
            if (x[k] >= at)
                least = fmin(least, y[i] + (at - x[i]) / (x[k] - x[i]) * (y[k] - y[i]));
    }
    return least;
}

/* Whole numbers, so that three points of one line are one line's to the last bit. */
static void a_curve_is_the_least_of_all_mixtures(void **state) {
    uint64_t dice = 5;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        double x[POINTS], y[POINTS], corner_s[POINTS], corner_J[POINTS];
        int n = 1 + (int)fr_test_random(&dice, POINTS);
        struct fr_pass_curve c = {0, corner_s, corner_J};
        x[0] = 0, y[0] = 200;
        for (int i = 1; i < n; i++) {
            x[i] = x[i - 1] + 1 + (double)fr_test_random(&dice, 3);
            y[i] = y[i - 1] - 1 - (double)fr_test_random(&dice, 1 + 12 / (uint64_t)i);
        }
        for (int i = 0; i < n; i++) fr_pass_curve_add(&c, x[i], y[i]);
        for (double at = 0; at <= x[n - 1] + 1; at += 0.25)
            FR_NEAR(fr_pass_curve_J(&c, at, 0), mixed_J(n, x, y, at), 1e-12);
        /* no corner lies on the line of its neighbours, or above it */
        for (int i = 1; i + 1 < c.n; i++)
            assert_true((corner_J[i] - corner_J[i - 1]) * (corner_s[i + 1] - corner_s[i - 1]) <
                        (corner_J[i + 1] - corner_J[i - 1]) * (corner_s[i] - corner_s[i - 1]));
        assert_true(isinf(fr_pass_curve_J(&c, -0.2, 0.1)));
        FR_NEAR(fr_pass_curve_J(&c, -0.2, 0.2), y[0], 0);
    }
}

/* The points of a pass are those of the clocks down to the one of least energy; a rank that computes nothing, or
 * draws less in no time, stays at the highest. */
static void a_curve_is_of_all_clocks_that_save(void **state) {
    static const char *const sets[] = {"cluster.device.clock.step=37 MHz", NULL};
    struct fr_job job;
    (void)state;
    fr_test_job("dgx-a100", "gpt-2", sets, &job);
    const struct fr_device *device = &job.cluster.device;
    int clocks = fr_device_clocks(&device->clock);
    uint64_t dice = 9;
    job.cluster.device.power.communicating_W = 0; /* so that the slowest draws most */
    int rises = 0;
    assert_true(clocks > 4 && clocks <= 64);
    for (int round = 0; round < 200; round++) {
        double x[64], y[64], corner_s[64], corner_J[64];
        const struct fr_clocked_pass pass = {round % 7 ? case_uniform01(&dice) : 0,
                                             1 + (round % 2 ? 3 : 0) * case_uniform01(&dice),
                                             round % 3 ? 1 : case_uniform01(&dice)};
        struct fr_pass_curve c = {3, corner_s, corner_J};
        int n = 0;
        for (int k = clocks; k-- > 0;) {
            double clock_Hz = fr_device_clock_at(&device->clock, k);
            x[n] = fr_clocked_longer_s(device, &pass, clock_Hz);
            y[n] = fr_clocked_J(device, &pass, clock_Hz);
            if (n > 0 && !(pass.compute_s > 0)) break;
            rises += n > 0 && y[n] >= y[n - 1];
            if (n > 0 && y[n] >= y[n - 1]) break;
            n++;
        }
        fr_pass_curve_make(device, &pass, &c);
        if (!(pass.compute_s > 0)) assert_int_equal(c.n, 1);
        assert_true(c.n <= n);
        FR_NEAR(c.longer_s[c.n - 1], x[n - 1], 0);
        for (int i = 0; i <= 40; i++) {
            double at = 1.1 * x[n - 1] * i / 40;
            FR_NEAR(fr_pass_curve_J(&c, at, 0), mixed_J(n, x, y, at), 1e-9);
        }
    }
    /* a stage's products all take longer by one factor, common ones too */
    for (int k = 0; k < clocks; k++) {
        double clock_Hz = fr_device_clock_at(&device->clock, k),
               slower = fr_device_clock_slower(&device->clock, clock_Hz);
        struct fr_stage stage = {.common_s = 2};
        stage.forward.compute_s = 3, stage.backward.compute_s = 5;
        fr_clock_set(device, clock_Hz, &stage);
        FR_NEAR(stage.common_s, 2 * slower, 1e-12);
        FR_NEAR(stage.forward.compute_s, 3 * slower, 1e-12);
        FR_NEAR(stage.backward.compute_s, 5 * slower, 1e-12);
    }
    FR_TRUE(rises > 10, "%d of 200", rises);
    fr_job_free(&job);
}

/* ---- the graph --------------------------------------------------------------------------------- */

static const struct {
    const char *model, *sets[6];
    bool pins;
} plans[] = {
    {"gpt-2", {"schedule=1f1b"}, false},
    {"gpt-2", {"schedule=gpipe", "global_batch=8"}, false},
    {"gpt-2", {"schedule=interleaved", "chunks=3"}, false},
    {"gpt-2", {"schedule=zero-bubble"}, false},
    {"gpt-2", {"schedule=zero-bubble-v", "chunks=2"}, false},
    {"gpt-2", {"schedule=dualpipe-v", "chunks=2"}, false},
    {"gpt-2", {"pp=1"}, false},
    {"gpt-2", {"pp=2"}, false},
    {"gpt-2", {"pp=6", "tp=2"}, false},
    {"gpt-2", {"dp=2", "zero=2"}, false},
    {"gpt-2", {"dp=2", "zero=1", "schedule=zero-bubble"}, false},
    {"gpt-2", {"dp=2", "zero=3"}, false},
    {"gpt-2", {"dp=2", "overlap=gradient", "pp=2", "bucket=2 MiB"}, true},
    {"gpt-2", {"dp=2", "overlap=gradient", "schedule=interleaved", "chunks=2"}, true},
    {"gpt-2", {"dp=2", "overlap=gradient", "schedule=zero-bubble"}, true},
    {"gpt-2", {"dp=2", "compression.gradient.stages=2"}, false},
    {"gpt-2", {"dp=2", "compression.embedding=fused"}, false},
    {"gpt-2", {"compression.backward.scope=all"}, false},
    {"gpt-2", {"compression.backward.scope=all", "schedule=interleaved", "chunks=2"}, false},
    {"gpt-2", {"compression.backward.scope=epilogue"}, false},
    {"gpt-2", {"pass=forward"}, false}};

/* A pipeline whose messages, tails and passes are each of their own length. */
static void make(size_t row, struct fr_job *job, struct fr_pipeline *p,
                 struct fr_pass_graph *g) {
    const char *sets[12] = {"pp=4", "micro_batch=1", "global_batch=16",
                            "cluster.device.memory=0 B", "cluster.device.clock.step=111 MHz"};
    uint32_t extrapolated = 0;
    uint64_t dice = 1 + row;
    struct fr_error err = {0};
    for (int i = 0; i < 6 && plans[row].sets[i]; i++) sets[5 + i] = plans[row].sets[i];
    fr_test_job("dgx-a100", plans[row].model, sets, job);
    if (fr_pipeline_make(job, &job->plan, p, &extrapolated, &err) != FR_OK)
        fail_msg("row %zu: %s: %s", row, err.where, err.detail);
    for (int32_t i = 0; i < p->args.stages; i++) {
        struct fr_stage *s = &p->stage[i];
        s->repeats = false;
        double pass_s = s->forward.compute_s;
        s->message_s += pass_s * case_uniform01(&dice);
        s->forward.compute_s += pass_s * case_uniform01(&dice);
        s->backward.compute_s += pass_s * case_uniform01(&dice);
        s->weight.compute_s += pass_s * case_uniform01(&dice);
        s->optimizer_s += pass_s * case_uniform01(&dice);
        if (s->gradient_s > 0) s->gradient_s += pass_s * case_uniform01(&dice);
    }
    assert_int_equal(fr_pass_graph_make(&job->cluster.device, p, g, NULL), FR_OK);
    assert_int_equal(g->n, p->args.stages * p->n_slots);
    FR_TRUE(g->ordered, "row %zu: no order", row);
    for (int32_t k = 0; k < g->n; k++) assert_int_equal(g->clock[k], g->n_clocks - 1);
}

static void order_is_behind_what_it_waits_for(const struct fr_pass_graph *g) {
    int32_t *at = malloc((size_t)g->n * sizeof *at);
    for (int32_t k = 0; k < g->n; k++) at[k] = -1;
    for (int32_t j = 0; j < g->n; j++) {
        assert_int_equal(at[g->order[j]], -1);
        at[g->order[j]] = j;
    }
    for (int32_t k = 0; k < g->n; k++) {
        if (k % g->p->n_slots) assert_true(at[k - 1] < at[k]);
        if (g->needs[k] >= 0) assert_true(at[g->needs[k]] < at[k]);
    }
    free(at);
}

/* At clocks drawn at random all is over when the recurrence says so, gradients in buckets and all, where those who
 * send them keep the highest. */
static void a_graph_takes_as_long_as_the_recurrence(void **state) {
    (void)state;
    for (size_t row = 0; row < sizeof plans / sizeof *plans; row++) {
        struct fr_job job;
        struct fr_pipeline p = {0};
        struct fr_pass_graph g;
        uint64_t dice = 77 + row;
        make(row, &job, &p, &g);
        order_is_behind_what_it_waits_for(&g);
        double *at_s = malloc(2 * (size_t)g.n * sizeof *at_s);
        for (int round = 0; round < 12; round++) {
            struct fr_pipeline_times times = {0};
            struct fr_pipeline clocked = {0};
            uint32_t extrapolated = 0;
            for (int32_t k = 0; k < g.n && round; k++)
                g.clock[k] = (int16_t)(g.pinned[k] || round == 1
                                           ? g.n_clocks - 1
                                           : (int)fr_test_random(&dice, (uint64_t)g.n_clocks));
            assert_int_equal(fr_pipeline_make(&job, &job.plan, &clocked, &extrapolated, NULL),
                             FR_OK);
            for (int32_t i = 0; i < p.args.stages; i++) clocked.stage[i] = p.stage[i];
            assert_int_equal(fr_clock_set_ops(&job.cluster.device, g.clock, &clocked, NULL),
                             FR_OK);
            assert_int_equal(fr_pipeline_run(&clocked, FR_WITH_ALL, &times, NULL), FR_OK);
            double ours_s = fr_pass_graph_early(&g, at_s);
            FR_TRUE(fabs(ours_s - times.makespan_s) <= 1e-9 * ours_s,
                    "row %zu, round %d: %.15g s, recurrence %.15g s", row, round, ours_s,
                    times.makespan_s);
            fr_pipeline_free(&clocked);
        }
        free(at_s);
        fr_pass_graph_free(&g);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

/* A pass that is longer by just what it may be late makes all take as long as the deadline; so does each. */
static void who_uses_all_its_room_is_done_at_the_deadline(void **state) {
    (void)state;
    for (size_t row = 0; row < sizeof plans / sizeof *plans; row++)
        for (int more = 0; more < 2; more++) {
            struct fr_job job;
            struct fr_pipeline p = {0};
            struct fr_pass_graph g;
            uint64_t dice = 3 + row;
            make(row, &job, &p, &g);
            double *at_s = malloc(3 * (size_t)g.n * sizeof *at_s), *late_s = at_s + 2 * g.n;
            for (int32_t k = 0; k < g.n; k++)
                g.clock[k] = (int16_t)fr_test_random(&dice, (uint64_t)g.n_clocks);
            double over_s = fr_pass_graph_early(&g, at_s),
                   deadline_s = over_s * (1 + 0.1 * more);
            fr_pass_graph_late(&g, deadline_s, late_s);
            for (int32_t k = 0; k < g.n; k++) {
                double slack_s, full_s = g.full_s[k];
                fr_pass_graph_early(&g, at_s);
                slack_s = late_s[k] - at_s[2 * k + 1];
                assert_true(slack_s >= -1e-12 * over_s);
                FR_NEAR(
                    at_s[2 * k + 1] - at_s[2 * k] + 1,
                    1 + full_s +
                        fr_clocked_longer_s(g.device,
                                            &(struct fr_clocked_pass){
                                                fr_pass_graph_pass(&g, k).compute_s, 0, 0},
                                            fr_device_clock_at(&g.device->clock, g.clock[k])),
                    1e-12);
                g.full_s[k] += slack_s;
                FR_NEAR(fr_pass_graph_early(&g, at_s), deadline_s, 1e-12);
                g.full_s[k] = full_s;
            }
            free(at_s);
            fr_pass_graph_free(&g);
            fr_pipeline_free(&p);
            fr_job_free(&job);
        }
}

/* These passes send gradients in buckets beside themselves: the last of each chunk on each stage that makes them. */
static void the_last_gradients_of_chunks_are_pinned(void **state) {
    (void)state;
    for (size_t row = 0; row < sizeof plans / sizeof *plans; row++) {
        struct fr_job job;
        struct fr_pipeline p = {0};
        struct fr_pass_graph g;
        make(row, &job, &p, &g);
        int32_t pinned = 0;
        for (int32_t k = 0; k < g.n; k++) {
            const struct fr_slot *slot = &p.slots[k];
            bool none = slot->whole && slot->kind == FR_SLOT_WEIGHT, later = false,
                 makes = slot->kind == FR_SLOT_WEIGHT || (slot->kind == FR_SLOT_BACKWARD &&
                                                          (slot->whole || !p.splits_backward));
            int32_t end = (int32_t)((k / p.n_slots + 1) * p.n_slots);
            if (none) FR_NEAR(g.full_s[k] + 1, 1, 1e-6);
            for (int32_t j = k + 1; j < end; j++) {
                const struct fr_slot *x = &p.slots[j];
                later =
                    later || (x->chunk == slot->chunk && x->kind != FR_SLOT_FORWARD &&
                              !(x->whole && x->kind == FR_SLOT_WEIGHT) &&
                              (x->kind == FR_SLOT_WEIGHT || x->whole || !p.splits_backward));
            }
            bool wanted = none || (p.stage[k / p.n_slots].buckets && makes && !later);
            FR_TRUE(g.pinned[k] == wanted, "row %zu, pass %d", row, k);
            pinned += wanted && !none;
        }
        FR_TRUE(pinned == (plans[row].pins ? p.args.stages * p.args.chunks : 0), "row %zu: %d",
                row, pinned);
        fr_pass_graph_free(&g);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_is_the_least_of_all_mixtures),
        cmocka_unit_test(a_curve_is_of_all_clocks_that_save),
        cmocka_unit_test(a_graph_takes_as_long_as_the_recurrence),
        cmocka_unit_test(who_uses_all_its_room_is_done_at_the_deadline),
        cmocka_unit_test(the_last_gradients_of_chunks_are_pinned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
