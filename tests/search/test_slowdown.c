/* Plans at lower clocks within a time: none later, none dearer than it was, none left out, in order of what
 * they need; each priced anew costs what it says. */
#include <math.h>
#include <stdlib.h>

#include "models/outcome/clocks.h"
#include "search/search.h"
#include "search/slowdown.h"
#include "search/space.h"
#include "search/stage_layers.h"
#include "tests/job.h"

struct found {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_result result;
    struct fr_slowdown slowdown;
    struct fr_outcome before[FR_SEARCH_PRICED];
    size_t n_before;
};

/* The best 24 of the space, and these at lower clocks. */
static void find_in(const char *const *vary, int n_vary, const char *const *sets, double most,
                    struct found *f) {
    const struct fr_search_options options = {.objective = FR_OBJECTIVE_TIME,
                                              .per_iteration = true,
                                              .top = 24,
                                              .max_lossy = 1,
                                              .threads = 1};
    struct fr_error err = {0};
    fr_test_job("dgx-a100", "gpt-2", sets, &f->job);
    if (fr_space_make("4", vary, n_vary, &f->job.plan, false, true, NULL, &f->space, &err) !=
            FR_OK ||
        fr_search(&f->job, &f->space, &options, &f->result, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    f->n_before = f->result.top.count;
    for (size_t i = 0; i < f->n_before; i++) f->before[i] = f->result.top.items[i].outcome;
    f->slowdown = (struct fr_slowdown){.asked = true, .most = most};
    assert_int_equal(fr_slowdown_apply(&f->job, &f->slowdown, &f->result, &err), FR_OK);
}

static void find(const char *const *sets, double most, struct found *f) {
    const char *const vary[] = {"pp=1,2,4", "micro_batch=1,2"};
    find_in(vary, 2, sets, most, f);
}

static void drop(struct found *f) {
    fr_slowdown_free(&f->slowdown);
    assert_true(!f->slowdown.asked && !f->slowdown.clock_Hz[0]);
    fr_search_result_free(&f->result);
    fr_space_free(&f->space);
    fr_job_free(&f->job);
}

static const struct fr_outcome *was(const struct found *f, int64_t pp, int64_t micro_batch) {
    for (size_t i = 0; i < f->n_before; i++)
        if (f->before[i].plan.pp == pp && f->before[i].plan.micro_batch == micro_batch)
            return &f->before[i];
    fail_msg("no plan of pp %d", (int)pp);
    return NULL;
}

static void every_plan_in_time_is_there(const struct found *f) {
    const struct fr_found_list *top = &f->result.top;
    double deadline_s = (1 + f->slowdown.most) * f->before[0].time_s * (1 + 1e-9);
    size_t in_time = 0;
    for (size_t i = 0; i < f->n_before; i++) in_time += f->before[i].time_s <= deadline_s;
    assert_int_equal(top->count, in_time);
    assert_int_equal(f->result.ranked.count, in_time);
    FR_NEAR(f->slowdown.fastest_s, f->before[0].time_s, 0);
    FR_NEAR(f->slowdown.fastest_J, f->before[0].energy_J, 0);
    for (size_t i = 0; i < top->count; i++) {
        const struct fr_outcome *out = &top->items[i].outcome;
        const struct fr_outcome *own = was(f, out->plan.pp, out->plan.micro_batch);
        struct fr_outcome again;
        fr_cost(&f->job, &out->plan, &again);
        if (!out->plan.stage_layers_best) {
            FR_NEAR(again.time_s, out->time_s, 1e-12);
            FR_NEAR(again.energy_J, out->energy_J, 1e-12);
        }
        FR_TRUE(out->time_s <= deadline_s && out->energy_J <= own->energy_J * (1 + 1e-12),
                "plan %zu: %.12g s of %.12g, %.12g J of %.12g", i, out->time_s, deadline_s,
                out->energy_J, own->energy_J);
        FR_TRUE(out->plan.n_clock_Hz == own->plan.n_clock_Hz || out->energy_J < own->energy_J,
                "plan %zu", i);
        FR_NEAR(f->result.ranked.items[i].value, out->energy_J, 1e-12);
        assert_int_equal(f->result.ranked.items[i].index, top->items[i].index);
        assert_true(i == 0 || out->energy_J >= top->items[i - 1].outcome.energy_J);
        if (i == 0) FR_NEAR(f->slowdown.own_J, own->energy_J, 0);
    }
}

/* Less energy in more time, each point in its share of it. */
static void the_curve_falls(const struct found *f) {
    struct fr_curve_point curve[FR_CURVE_POINTS];
    const struct fr_outcome *best = &f->result.top.items[0].outcome;
    const struct fr_outcome *own = was(f, best->plan.pp, best->plan.micro_batch);
    int n = fr_slowdown_curve(&f->job, &f->slowdown, best, curve);
    assert_true(n >= 1 && n <= FR_CURVE_POINTS);
    for (int k = 0; k < n; k++) {
        assert_true(curve[k].low_J < curve[k].energy_J && curve[k].energy_J < curve[k].high_J);
        assert_true(curve[k].time_s <= own->time_s * (1 + f->slowdown.most) * (1 + 1e-9));
        assert_true(k == 0 || (curve[k].energy_J < curve[k - 1].energy_J &&
                               curve[k].time_s > curve[k - 1].time_s));
    }
    assert_true(curve[0].time_s <= own->time_s * (1 + 1e-9));
    assert_true(f->slowdown.most < 0.2 || n > 1);
}

static void plans_within_a_time(void **state) {
    static const char *const rows[][3] = {{"global_batch=16"},
                                          {"global_batch=16", "stage_layers=best"},
                                          {"global_batch=32", "recompute=full"},
                                          {"global_batch=16", "clock=1.2 GHz"}};
    static const double most[] = {0, 0.02, 0.3, 2};
    (void)state;
    int lowered = 0;
    for (size_t r = 0; r < 4; r++)
        for (int m = 0; m < 4; m++) {
            struct found f = {.n_before = 0};
            const char *sets[4] = {"cluster.device.clock.step=60 MHz"};
            for (int i = 0; i < 3 && rows[r][i]; i++) sets[1 + i] = rows[r][i];
            find(sets, most[m], &f);
            assert_true(f.n_before >= 4);
            every_plan_in_time_is_there(&f);
            assert_int_equal(f.slowdown.clocks, r != 3);
            for (size_t i = 0; i < f.result.top.count && r != 3; i++) {
                const struct fr_plan *plan = &f.result.top.items[i].outcome.plan;
                lowered += plan->n_clock_Hz > 0;
                assert_true(plan->n_clock_Hz == 0 || plan->n_clock_Hz == plan->pp);
                /* so much time is of use to all */
                FR_TRUE(most[m] < 2 || plan->n_clock_Hz > 0, "row %zu, plan %zu", r, i);
            }
            if (r != 3) the_curve_falls(&f);
            drop(&f);
        }
    assert_true(lowered > 20);
}

/* ---- by a second hand ------------------------------------------------------------------------- */

/* The plan at the clocks that need least within so much more time than its own, where it has such clocks. */
static bool at_clocks(const struct fr_job *job, const struct fr_outcome *own, double slowdown,
                      struct fr_outcome *out) {
    int64_t clock_Hz[8], layers[8];
    struct fr_plan plan = own->plan;
    plan.n_clock_Hz = 0;
    assert_true(plan.pp <= 8);
    if (plan.stage_layers_best) {
        assert_int_equal(fr_stage_layers_best(job, &plan, layers, NULL), FR_OK);
        plan.stage_layers = layers;
        plan.n_stage_layers = (int)plan.pp;
        plan.stage_layers_best = false;
    }
    if (fr_clocks_choose(job, &plan, slowdown, clock_Hz, NULL) != FR_OK) return false;
    plan.clock_Hz = clock_Hz;
    plan.n_clock_Hz = (int)plan.pp;
    fr_cost(job, &plan, out);
    return true;
}

static double least_J(const struct fr_job *job, const struct fr_outcome *own, double slowdown) {
    struct fr_outcome out;
    bool lower = at_clocks(job, own, slowdown, &out) && !out.reasons;
    return lower ? fmin(out.energy_J, own->energy_J) : own->energy_J;
}

static double samples_of(const struct fr_outcome *out, bool batches) {
    return batches ? (double)out->plan.global_batch : 1;
}

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The first sixteen have those in time, each at its least: the deadline is of what is ranked, an iteration or a
 * sample of it, and the energy that orders them likewise. */
static void the_first_sixteen_at_their_least(const struct found *f, bool batches) {
    double wanted[FR_SLOWDOWN_PLANS];
    size_t n = 0;
    assert_int_equal(f->result.by, batches ? FR_RANK_SAMPLE : FR_RANK_ITERATION);
    double fastest_s = f->before[0].time_s / samples_of(&f->before[0], batches);
    for (size_t i = 0; i < f->n_before && i < 16; i++) {
        const struct fr_outcome *own = &f->before[i];
        double of = samples_of(own, batches),
               left = (1 + f->slowdown.most) * fastest_s / (own->time_s / of) - 1;
        if (left > -1e-9) wanted[n++] = least_J(&f->job, own, fmax(left, 0)) / of;
    }
    assert_int_equal(f->result.top.count, n);
    qsort(wanted, n, sizeof *wanted, ascending);
    for (size_t i = 0; i < n; i++) {
        const struct fr_outcome *out = &f->result.top.items[i].outcome;
        FR_NEAR(f->result.ranked.items[i].value, wanted[i], 1e-9);
        FR_NEAR(out->energy_J / samples_of(out, batches), wanted[i], 1e-9);
        assert_true(out->plan.n_clock_Hz == 0 ||
                    out->plan.clock_Hz == f->slowdown.clock_Hz[i]); /* freed with it */
    }
}

/* Nine equal steps of time, without those that save nothing more than the one before. */
static void the_curve_is_of_equal_steps(const struct found *f) {
    struct fr_curve_point curve[FR_CURVE_POINTS + 1];
    const struct fr_outcome *best = &f->result.top.items[0].outcome;
    int n = fr_slowdown_curve(&f->job, &f->slowdown, best, curve), found = 0;
    double last_J = INFINITY;
    for (int k = 0; k <= 8; k++) {
        struct fr_outcome out;
        if (!at_clocks(&f->job, best, f->slowdown.most * k / 8, &out)) break;
        if (out.energy_J >= last_J) continue;
        assert_true(found < n);
        FR_NEAR(curve[found].energy_J, out.energy_J, 1e-12);
        FR_NEAR(curve[found].time_s, out.time_s, 1e-12);
        found++;
        last_J = out.energy_J;
    }
    assert_int_equal(n, found);
}

static void against_a_second_hand(void **state) {
    static const struct {
        const char *sets[3], *vary[4];
        int n;
        bool batches;
    } rows[] = {
        {{"global_batch=16"}, {"pp=1,2,4", "micro_batch=1,2"}, 2, false},
        {{"recompute=none"},
         {"pp=1,2,4", "micro_batch=1,2", "global_batch=16,32", "overlap=none,gradient"},
         4,
         true},
        {{"global_batch=16"},
         {"pp=2,4", "micro_batch=1,2", "method=tensor,grid", "zero=0,1"},
         4,
         false},
        {{"global_batch=16", "model.layers=5"},
         {"pp=2,4", "stage_layers=equal,best"},
         2,
         false},
    };
    static const double most[] = {0, 0.01, 0.05, 0.3, 2};
    size_t cut = 0;
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
            struct found f = {.n_before = 0};
            const char *sets[4] = {"cluster.device.clock.step=60 MHz"};
            for (int i = 0; i < 3 && rows[r].sets[i]; i++) sets[1 + i] = rows[r].sets[i];
            find_in(rows[r].vary, rows[r].n, sets, most[m], &f);
            cut += f.n_before > 16 && f.result.top.count == 16;
            the_first_sixteen_at_their_least(&f, rows[r].batches);
            the_curve_is_of_equal_steps(&f);
            drop(&f);
        }
    assert_true(cut > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_within_a_time),
                                       cmocka_unit_test(against_a_second_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
