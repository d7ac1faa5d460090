/* Odds between plans: laws that hold whatever the numbers. */
#include "calibrate/odds.h"

#include <math.h>

#include "tests/job.h"

enum { N = 3 };

static void setting(struct fr_job *job, struct fr_tune_result *known, struct fr_plan *plans,
                    const struct fr_plan **list) {
    const char *sets[] = {"model.dtype=fp16", "global_batch=32", NULL};
    fr_test_job("dgx-a100", "gpt-2.5b", sets, job);
    fr_interval_known(&job->cluster, FR_FP16, known);
    for (int i = 0; i < N; i++) {
        plans[i] = job->plan;
        plans[i].tp = 1 << i;
        plans[i].micro_batch = 4;
        list[i] = &plans[i];
    }
}

static void odds_add_up(void **state) {
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[N];
    const struct fr_plan *list[N];
    struct fr_odds odds[N], again[N];
    double sum = 0;
    (void)state;
    setting(&job, &known, plans, list);
    assert_int_equal(fr_odds_make(&known, &job.workload, list, NULL, N, odds, NULL), FR_OK);
    assert_int_equal(fr_odds_make(&known, &job.workload, list, NULL, N, again, NULL), FR_OK);
    for (int i = 0; i < N; i++) {
        sum += odds[i].best;
        assert_true(odds[i].low_s < odds[i].predicted_s &&
                    odds[i].predicted_s < odds[i].high_s);
        assert_true(odds[i].regret >= 0);
        assert_true(odds[i].best == again[i].best && odds[i].regret == again[i].regret);
    }
    if (fabs(sum - 1) > 1e-9) fail_msg("probabilities: got %.12g, wanted 1", sum);
    fr_job_free(&job);
}

/* A plan against itself: all they share cancels, and a coin decides; without any spread the sure
 * winner wins always. */
static void what_plans_share_cancels(void **state) {
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[N];
    const struct fr_plan *list[N];
    struct fr_odds odds[N];
    (void)state;
    setting(&job, &known, plans, list);
    list[1] = list[0];
    assert_int_equal(fr_odds_make(&known, &job.workload, list, NULL, 2, odds, NULL), FR_OK);
    if (fabs(odds[0].best - 0.5) > 0.03) fail_msg("twins: got %g, wanted 0.5", odds[0].best);
    known.spread = 1e-9;
    const double times[] = {1, 1.001};
    assert_int_equal(fr_odds_make(&known, &job.workload, list, times, 2, odds, NULL), FR_OK);
    if (odds[0].best < 0.999) fail_msg("sure winner: got %g", odds[0].best);
    if (fabs(odds[1].regret - 0.001) > 1e-6) fail_msg("regret: got %g", odds[1].regret);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odds_add_up),
        cmocka_unit_test(what_plans_share_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
