/* Odds between plans: laws that hold whatever the numbers. */
#include "trust/odds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/job.h"
#include "tests/plan_values.h"
#include "trust/effects/differences.h"
#include "trust/effects/groups.h"

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

/* Own errors of plans under presets, by hand: of plan, kind, release and run (trust/effects/groups.h). */
static double own_of_presets(void) {
    return 1.25 / 1.645 * sqrt(0.05 * 0.05 / 2 + 0.05 * 0.05 + 0.041 * 0.041 + 0.02 * 0.02);
}

/* The errors of two plans may differ by this. */
static double apart(const struct fr_job *job, const struct fr_plan *a,
                    const struct fr_plan *b) {
    struct fr_differ_point of[2];
    fr_differ_point_of(&job->workload, a, &of[0]);
    fr_differ_point_of(&job->workload, b, &of[1]);
    return sqrt(fr_differ_variance(&of[0], &of[1]));
}

/* A plan against itself: all they share cancels, which is all there is, and they share what chances there are; of the same
 * plan with fewer iterations the better is certain. */
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
    FR_NEAR(odds[0].best, 0.5, 1e-9);
    assert_true(odds[0].regret == 0 && odds[1].regret == 0 && odds[0].luck == 0);
    const double times[] = {1, 1.001};
    assert_int_equal(fr_odds_make(&known, &job.workload, list, times, 2, odds, NULL), FR_OK);
    FR_NEAR(odds[0].best, 1, 1e-9);
    FR_NEAR(odds[1].regret, 0.001, 1e-9);
    fr_job_free(&job);
}

/* With certain coefficients the errors of what plans differ in decide: the one that is 3 % behind wins as often as a normal
 * deviate is beyond that over the deviation of their difference, as much larger as intervals of the runs' are. */
static void what_differs_decides(void **state) {
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[N];
    const struct fr_plan *list[N];
    struct fr_odds odds[N];
    double best[2], difference, deviation;
    (void)state;
    setting(&job, &known, plans, list);
    plans[1] = plans[0];
    plans[1].micro_batch = 2;
    memset(known.covariance, 0, sizeof known.covariance);
    for (int kept = 0; kept < 2; kept++) {
        known.unmoved = kept;
        known.stretch = 1.5;
        double wide = apart(&job, &plans[0], &plans[1]) * (kept ? 1 : 1.5 / 1.25);
        assert_int_equal(fr_odds_pair(&known, &job.workload, &plans[0], &plans[1], &difference,
                                      &deviation, NULL),
                         FR_OK);
        FR_NEAR(deviation, wide, 1e-5); /* a little is added to certain coefficients */
        const double times[] = {exp(-difference - 0.03), 1};
        assert_int_equal(fr_odds_make(&known, &job.workload, list, times, 2, odds, NULL),
                         FR_OK);
        double wanted = 0.5 * erfc(-0.03 / wide / sqrt(2));
        FR_TRUE(fabs(odds[0].best - wanted) < 0.025, "kept %d: got %g, wanted %g", kept,
                odds[0].best, wanted);
        best[kept] = odds[0].best;
    }
    assert_true(best[1] > best[0]);
    fr_job_free(&job);
}

/* Every plan's odds are its own, bit for bit, in whatever order plans stand; only what trying them in turn finds hangs on
 * the order. */
static void order_does_not_matter(void **state) {
    enum { MANY = 7 };
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[MANY], few[N];
    const struct fr_plan *list[MANY], *turned[MANY], *first[N];
    struct fr_odds odds[MANY], again[MANY];
    (void)state;
    setting(&job, &known, few, first);
    for (int i = 0; i < MANY; i++) {
        plans[i] = few[i % N];
        plans[i].micro_batch = 1 << i / N;
        list[i] = &plans[i];
    }
    for (int i = 0; i < MANY; i++) turned[i] = list[(3 * i + 2) % MANY];
    assert_int_equal(fr_odds_make(&known, &job.workload, list, NULL, MANY, odds, NULL), FR_OK);
    assert_int_equal(fr_odds_make(&known, &job.workload, turned, NULL, MANY, again, NULL),
                     FR_OK);
    for (int i = 0; i < MANY; i++) {
        const struct fr_odds *one = &odds[(3 * i + 2) % MANY];
        FR_TRUE(one->best == again[i].best && one->regret == again[i].regret &&
                    one->luck == again[i].luck && one->low_s == again[i].low_s,
                "%d: %.17g, %.17g", i, one->best, again[i].best);
        assert_true(i == 0 || odds[i].tried >= odds[i - 1].tried);
    }
    assert_true(odds[0].tried == 0);
    FR_NEAR(odds[MANY - 1].tried, odds[0].regret, 1e-12); /* all of them: nothing is lost */
    fr_job_free(&job);
}

/* The winner of a draw is lucky, never unlucky, next to the best as predicted; of that 15 % are said. */
static void winners_are_lucky(void **state) {
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[N];
    const struct fr_plan *list[N];
    struct fr_odds odds[N];
    int chosen = 0;
    (void)state;
    setting(&job, &known, plans, list);
    for (int i = 0; i < N; i++) {
        plans[i] = plans[0];
        plans[i].micro_batch = 4 >> i;
    }
    assert_int_equal(fr_odds_make(&known, &job.workload, list, NULL, N, odds, NULL), FR_OK);
    for (int i = 1; i < N; i++)
        if (odds[i].predicted_s < odds[chosen].predicted_s) chosen = i;
    const struct fr_interval of = fr_odds_chosen(&odds[chosen]);
    FR_TRUE(odds[chosen].luck > 0 && odds[chosen].luck < 0.2, "%g", odds[chosen].luck);
    FR_NEAR(of.expected_s, odds[chosen].predicted_s * exp(0.15 * odds[chosen].luck), 1e-12);
    FR_NEAR(log(of.high_s / of.expected_s),
            hypot(log(odds[chosen].high_s / odds[chosen].predicted_s), 0.2 * odds[chosen].luck),
            1e-12);
    fr_job_free(&job);
}

/* ---- collectives' own intervals ------------------------------------------------------------- */

/* Half-width in logarithms of a tp = 8 plan's interval where all-reduces are off by @p p90. */
static double half_width(const char *p90, bool alone, double *comm_share) {
    char residuals[160];
    const char *sets[] = {"model.dtype=fp16", "global_batch=32", "tp=8", "pp=2",
                          "overlap=gradient", residuals,         NULL};
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_interval of;
    double moved_s;
    snprintf(residuals, sizeof residuals,
             "cluster.collectives.all_reduce={\"form\":\"log\",\"c1\":\"20 "
             "us\",\"message\":\"total\",\"c2\":\"0.01 "
             "ns/B\",\"residuals\":{\"median\":0,\"p90\":%s,\"points\":9}}",
             p90);
    fr_test_job("dgx-a100", "gpt-2.5b", sets, &job);
    fr_interval_known(&job.cluster, FR_FP16, &known);
    known.distant = false;
    for (int k = 0; alone && k < FR_EFFECTS; k++) known.effect[k] = 0;
    if (alone)
        for (int a = 0; a < known.n_known; a++)
            if (known.index[a] < FR_COEFFICIENT_MAX)
                known.covariance[a * known.n_known + a] = 0;
    fr_interval_plan(&known, &job.workload, &job.plan, &of);
    const struct fr_run run = {.workload = job.workload, .plan = job.plan};
    struct fr_cluster slower = job.cluster;
    slower.price[FR_OP_ALL_REDUCE].c1_s *= 1.01;
    slower.price[FR_OP_ALL_REDUCE].c2_s_per_B *= 1.01;
    moved_s = fr_run_predict_s(&slower, &run);
    *comm_share = log(moved_s / of.model_s) / log(1.01);
    fr_job_free(&job);
    return log(of.high_s / of.low_s) / 2;
}

/* No width of its own, none from it; alone, its share of the time times ln(1 + p90); with the rest,
 * variances add; wider it only grows. */
static void collectives_widen_the_interval(void **state) {
    double share, none = half_width("0", true, &share), rest = half_width("0", false, &share);
    double alone = half_width("0.3", true, &share), both = half_width("0.3", false, &share);
    double wide = half_width("0.6", false, &share);
    (void)state;
    if (none != 0) fail_msg("no spread: got %g, wanted 0", none);
    if (fabs(alone / (share * log(1.3)) - 1) > 0.02)
        fail_msg("alone: got %g, wanted %g", alone, share * log(1.3));
    if (fabs(both / hypot(rest, alone) - 1) > 1e-6)
        fail_msg("got %.9g, wanted %.9g", both, hypot(rest, alone));
    if (!(wide > both && both > rest)) fail_msg("%g, %g, %g do not grow", rest, both, wide);
}

/* The difference of two plans' logarithms is normal: its variance is d'Cd of their gradients' difference d
 * and the covariance C, here of coefficients that go together or against each other, and the spread of both. */
static void two_plans_by_hand(void **state) {
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[N];
    const struct fr_plan *list[N];
    struct fr_odds odds[2];
    double gradient[2][FR_KNOWN_MAX], variance = 0;
    (void)state;
    setting(&job, &known, plans, list);
    int n = known.n_known;
    known.stretch = 1.645; /* as wide as stated */
    /* what is missed of the model both plans share */
    memset(known.effect, 0, sizeof known.effect);
    known.effect[FR_EFFECT_MODEL] = 0.5;
    known.effect[FR_EFFECT_PLAN] = 0.003, known.effect[FR_EFFECT_KIND] = 0.004;
    known.effect[FR_EFFECT_RELEASE] = 0.004, known.effect[FR_EFFECT_ROW] = 0.003;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            known.covariance[a * n + b] = (a == b ? 0.04 : 0.02) * (a % 3 == b % 3 ? 1 : -0.4);
    for (int i = 0; i < 2; i++) {
        const struct fr_run run = {.workload = job.workload, .plan = plans[i]};
        fr_tune_gradient(&known, &run, gradient[i]);
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            variance += (gradient[1][a] - gradient[0][a]) * (gradient[1][b] - gradient[0][b]) *
                        known.covariance[a * n + b];
    double scale = sqrt(0.00005) / own_of_presets();
    double sigma = sqrt(variance + pow(scale * apart(&job, &plans[0], &plans[1]), 2));
    assert_int_equal(fr_odds_make(&known, &job.workload, list, NULL, 2, odds, NULL), FR_OK);
    for (int k = -1; k <= 1; k++) { /* the second k sigmas ahead */
        double times[] = {1, odds[0].predicted_s / odds[1].predicted_s * exp(-k * sigma)};
        struct fr_odds got[2];
        assert_int_equal(fr_odds_make(&known, &job.workload, list, times, 2, got, NULL), FR_OK);
        double wanted = 0.5 * erfc(-k / sqrt(2));
        FR_TRUE(fabs(got[1].best - wanted) < 0.02, "%d: %g, not %g", k, got[1].best, wanted);
    }
    fr_job_free(&job);
}

/* The difference of logarithms of two plans is normal: its variance is d' S d of the covariance S of what they share
 * and the difference d of their gradients, and of what differs between them; counted draws meet its integral. */
static void two_plans_by_the_normal_integral(void **state) {
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[N];
    const struct fr_plan *list[N];
    uint64_t dice = 0x94d049bb133111ebu;
    int spread = 0;
    (void)state;
    setting(&job, &known, plans, list);
    int n = known.n_known;
    assert_true(n > 1);
    for (int round = 0; round < 24; round++) {
        double half[FR_KNOWN_MAX][FR_KNOWN_MAX], gradient[2][FR_KNOWN_MAX], own[2],
            times[] = {1, 1};
        struct fr_odds odds[2];
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                half[a][b] = 0.5 * ((double)fr_test_random(&dice, 2001) / 1000 - 1);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                known.covariance[a * n + b] = 0;
                for (int k = 0; k < n; k++)
                    known.covariance[a * n + b] += half[a][k] * half[b][k];
            }
        double mean = 0, variance = 0, by = fr_tune_drawn(&known), log_s[2];
        for (int i = 0; i < 2; i++) {
            const struct fr_run run = {.workload = job.workload, .plan = plans[i]};
            log_s[i] = log(fr_tune_gradient(&known, &run, gradient[i]));
            log_s[i] += fr_tune_model_error(&known, gradient[i]);
            own[i] = by * fr_tune_own(&known, &run) / own_of_presets();
        }
        assert_true(own[0] == own[1]);
        variance += pow(own[0] * apart(&job, &plans[0], &plans[1]), 2);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                double d_a = gradient[0][a] - gradient[1][a],
                       d_b = gradient[0][b] - gradient[1][b],
                       of_a = fr_known_is_measured(known.index[a]) ? 1 : by,
                       of_b = fr_known_is_measured(known.index[b]) ? 1 : by;
                variance += of_a * d_a * known.covariance[a * n + b] * of_b * d_b;
            }
        times[0] = exp(log_s[1] - log_s[0] + 0.5 * sqrt(variance) * ((double)(round % 5) - 2));
        mean = log_s[1] - log_s[0] - log(times[0]);
        double want = 0.5 * erfc(-mean / sqrt(2 * variance));
        assert_int_equal(fr_odds_make(&known, &job.workload, list, times, 2, odds, NULL),
                         FR_OK);
        double difference, deviation;
        assert_int_equal(fr_odds_pair(&known, &job.workload, &plans[0], &plans[1], &difference,
                                      &deviation, NULL),
                         FR_OK);
        FR_TRUE(fabs(difference - log_s[0] + log_s[1]) < 1e-12 &&
                    fabs(deviation / sqrt(variance) - 1) < 1e-6,
                "round %d: %g, %g", round, deviation, sqrt(variance));
        FR_TRUE(fabs(odds[0].best - want) < 0.035, "round %d: %g, not %g", round, odds[0].best,
                want);
        spread += want < 0.3 || want > 0.7;
    }
    assert_true(spread > 4);
    fr_job_free(&job);
}

/* Each plan's time and interval are those that a prediction of it alone states, with what runs of the same model, or of
 * the same plan, missed. */
static void each_is_predicted_as_alone(void **state) {
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_plan plans[N];
    const struct fr_plan *list[N];
    struct fr_odds odds[N];
    bool shifted = false;
    (void)state;
    setting(&job, &known, plans, list);
    const struct fr_run first = {.workload = job.workload, .plan = plans[0]};
    for (int what = 0; what < 2; what++) {
        int k = known.n_known - 1 - what;
        known.seen[what] = fr_run_seen(&first, what ? FR_SEEN_PLAN : FR_SEEN_MODEL);
        known.seen[what].model_error = what ? -0.25 : 0.5;
        known.index[k] = FR_KNOWN_SEEN + what;
    }
    known.n_seen = 2;
    assert_int_equal(fr_odds_make(&known, &job.workload, list, NULL, N, odds, NULL), FR_OK);
    for (int i = 0; i < N; i++) {
        const struct fr_run run = {.workload = job.workload, .plan = plans[i]};
        struct fr_interval of;
        fr_tune_interval(&known, &run, &of);
        FR_NEAR(odds[i].predicted_s, of.expected_s, 1e-12);
        FR_NEAR(odds[i].low_s, of.low_s, 1e-12);
        FR_NEAR(odds[i].high_s, of.high_s, 1e-12);
        shifted = shifted || fabs(log(of.expected_s / of.model_s)) > 0.01;
    }
    assert_true(shifted);
    fr_job_free(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odds_add_up),
        cmocka_unit_test(what_plans_share_cancels),
        cmocka_unit_test(what_differs_decides),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(winners_are_lucky),
        cmocka_unit_test(collectives_widen_the_interval),
        cmocka_unit_test(two_plans_by_hand),
        cmocka_unit_test(two_plans_by_the_normal_integral),
        cmocka_unit_test(each_is_predicted_as_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
