/* A network gets the power of each class of work: the energy that it counts from it, as SimGrid does, is the closed
 * form's on random plans, where some ranks wait for others that compute for them (cSub) as elsewhere. */
#include "models/outcome/cost.h"
#include "sim/run.h"
#include "tests/drawn_plans.h"

static double counted_J;

static fr_status open_none(const struct fr_network_work *work, void **state,
                           struct fr_error *err) {
    static int none;
    (void)work, (void)err;
    *state = &none;
    return FR_OK;
}

static void close_none(void *state) { (void)state; }

/* All replicas of a rank draw what waiting does, and of each class's work so much more. */
static fr_status run(const struct fr_network_work *work, void *state, const double *class_s,
                     double *start_s, double *end_s, double *makespan_s, struct fr_error *err) {
    const struct fr_program *program = work->program;
    double replicas = (double)(work->rank_map.tp * work->rank_map.dp);
    FR_TRY(fr_network_isolated.run(work, state, class_s, start_s, end_s, makespan_s, err));
    counted_J = replicas * program->n_ranks * work->waiting_W * *makespan_s;
    for (int32_t k = 0; work->class_W && k < program->n_tasks; k++) {
        int32_t c = program->tasks[k].class_id;
        counted_J += replicas * work->class_W[c] * class_s[c];
    }
    return FR_OK;
}

static double energy_J(void *state) {
    (void)state;
    return counted_J;
}

static const struct fr_network counting = {.name = "counting",
                                           .engine = "event",
                                           .open = open_none,
                                           .close = close_none,
                                           .run = run,
                                           .energy_J = energy_J};

static void counts_what_the_closed_form_does(void **state) {
    enum { PLANS = 1500 };
    const struct fr_simulate_options how = {.network = &counting};
    uint64_t dice = 0xa0761d6478bd642fu;
    int n = 0, subgrids = 0;
    (void)state;
    for (int k = 0; k < PLANS; k++) {
        struct drawn words;
        struct fr_job job;
        struct fr_outcome closed;
        struct fr_simulation s;
        size_t start;
        drawn_plan(&dice, &words, &start);
        drawn_say(&words, "clock", "full", 4); /* passes draw beyond their stage's elsewhere */
        drawn_say(&words, "power_cap", "none", 4);
        drawn_say(&words, "cluster.device.fixed", "0 s", 3);
        bool branches = strstr(drawn_starts[start].sets, "subgraph") != NULL;
        if (branches && fr_test_random(&dice, 2)) drawn_say(&words, "common", "subgrid", 7);
        if (!drawn_load(&words, start, &job)) continue;
        fr_cost(&job, &job.plan, &closed);
        bool runs = !closed.reasons && isfinite(closed.energy_J) && job.plan.tp > 0;
        if (runs && fr_simulate(&job, &job.plan, &how, &s, NULL) == FR_OK) {
            FR_TRUE(fabs(s.outcome.energy_J - closed.energy_J) <= 1e-9 * closed.energy_J,
                    "%.12g J counted, %.12g J: %s %s, tp %d pp %d, method %s, subgrid %d",
                    s.outcome.energy_J, closed.energy_J, words.word[0],
                    drawn_starts[start].model, (int)job.plan.tp, (int)job.plan.pp,
                    job.plan.method->name, job.plan.common_subgrid);
            n++;
            subgrids += job.plan.common_subgrid;
        }
        if (runs) fr_simulation_free(&s);
        fr_job_free(&job);
    }
    FR_TRUE(n > PLANS / 5 && subgrids > 5, "%d plans, %d of sub-grids", n, subgrids);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_what_the_closed_form_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
