/* Answers that differ in substance, and what the best gains over a plan of the user's: laws whatever the plans. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/search/search.h"
#include "models/outcome/cost.h"
#include "search/break_even.h"
#include "tests/job.h"
#include "tests/plan_values.h"
#include "trust/effects/differences.h"

static const char *const small[] = {"global_batch=64", "attention=flash", NULL};

/* ---- folding ----------------------------------------------------------------------------------- */

enum { LIST = 48, ROUNDS = 40 };

/* Is @p plan a near tie of @p best, @p gap behind it in logarithms? */
static bool ties(const struct fr_job *job, const struct fr_plan *plan,
                 const struct fr_plan *best, double gap) {
    struct fr_differ_point of[2];
    fr_differ_point_of(&job->workload, plan, &of[0]);
    fr_differ_point_of(&job->workload, best, &of[1]);
    double v = fr_differ_variance(&of[0], &of[1]);
    return v <= 0.0025 + 2 * 0.0001 + 1e-15 && gap <= 1.645 * sqrt(v);
}

/* Each plan is in one answer, or beyond the last; each answer's best is the first of its plans, its others are near ties
 * of it that lose information or not as it does, and no two answers' bests are; counts and furthest distances are those of the plans. */
static void check_answers(const struct fr_job *job, const struct fr_outcome *const *plans,
                          const double *value, int n, int most, const struct fr_answers *a) {
    size_t counted = 0;
    int beyond = 0;
    FR_TRUE(a->n <= most && a->plans == n, "%d answers of %d plans", a->n, a->plans);
    for (int i = 0; i < n; i++) beyond += a->of[i] < 0;
    FR_TRUE(beyond == 0 || a->n == most, "%d beyond %d answers", beyond, a->n);
    for (int k = 0; k < a->n; k++) {
        const struct fr_answer *x = &a->items[k];
        const struct fr_plan *best = &plans[x->rank]->plan;
        double within = 0;
        size_t count = 0;
        counted += x->count;
        for (int i = 0; i < n; i++) {
            bool near = ties(job, &plans[i]->plan, best, log(value[i] / value[x->rank])) &&
                        fr_outcome_is_exact(plans[i]) == fr_outcome_is_exact(plans[x->rank]);
            if (a->of[i] == k) {
                FR_TRUE((size_t)i >= x->rank && near, "%d joins %d", i, k);
                within = fmax(within, value[i] / value[x->rank] - 1);
                count++;
            } else if ((size_t)i > x->rank && (a->of[i] < 0 || a->of[i] > k))
                FR_TRUE(!near, "%d does not join %d", i, k);
        }
        FR_TRUE(count == x->count && within == x->within, "answer %d", k);
        FR_TRUE((count == 1) == !*x->varies || within == 0, "answer %d: \"%s\"", k, x->varies);
        FR_TRUE(k == 0 || x->rank > a->items[k - 1].rank, "answer %d out of order", k);
    }
    assert_true(counted + (size_t)beyond == (size_t)n);
}

static void answers_partition_the_list(void **state) {
    struct fr_job job;
    struct fr_outcome *outcome = calloc(LIST, sizeof *outcome);
    const struct fr_outcome *plans[LIST];
    double value[LIST];
    uint64_t dice = 0x9e3779b97f4a7c15u;
    int folded = 0;
    (void)state;
    assert_true(outcome != NULL);
    fr_test_job("dgx-h100", "llama-3-8b", small, &job);
    for (int round = 0; round < ROUNDS; round++) {
        struct fr_answers answers;
        int most = 1 + (int)fr_test_random(&dice, 12);
        for (int i = 0; i < LIST; i++) {
            struct fr_plan *plan = &outcome[i].plan;
            *plan = job.plan;
            plan->tp = 1 << fr_test_random(&dice, 3);
            plan->pp = 1 << fr_test_random(&dice, 3);
            plan->dp = 16 / plan->tp / plan->pp > 0 ? 16 / plan->tp / plan->pp : 1;
            plan->micro_batch = 1 << fr_test_random(&dice, 2);
            plan->zero = (int64_t)fr_test_random(&dice, 3);
            outcome[i].lossy_gradient = fr_test_random(&dice, 3) ? 0 : 0.5;
            if (fr_test_random(&dice, 2)) {
                plan->schedule = &fr_schedule_interleaved;
                plan->chunks = 2 + (int64_t)fr_test_random(&dice, 4);
            }
            plans[i] = &outcome[i];
            value[i] = i ? value[i - 1] * (1 + 0.001 * (double)fr_test_random(&dice, 5)) : 1;
        }
        assert_int_equal(
            fr_answers_make(&job.workload, plans, value, LIST, most, &answers, NULL), FR_OK);
        check_answers(&job, plans, value, LIST, most, &answers);
        for (int k = 0; k < answers.n; k++) folded += answers.items[k].count > 1;
        fr_answers_free(&answers);
    }
    FR_TRUE(folded > ROUNDS, "%d answers of several plans", folded);
    free(outcome);
    fr_job_free(&job);
}

/* Plans that differ in chunks alone are one answer, whose words say from what to what; and choosing any of them costs little
 * where their prices tie. */
static void chunks_alone_are_one_answer(void **state) {
    enum { N = 6 };
    const char *sets[] = {"global_batch=64", "tp=2", "pp=4", "schedule=interleaved", NULL};
    struct fr_job job;
    static struct fr_tune_result known;
    struct fr_outcome outcome[N];
    const struct fr_outcome *list[N];
    const struct fr_plan *plans[N];
    double value[N], times[N];
    struct fr_answers answers;
    struct fr_odds odds[N];
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", sets, &job);
    fr_interval_known(&job.cluster, job.workload.dtype, &known);
    for (int i = 0; i < N; i++) {
        outcome[i] = (struct fr_outcome){.plan = job.plan};
        outcome[i].plan.chunks = 2 + i;
        list[i] = &outcome[i];
        plans[i] = &outcome[i].plan;
        value[i] = 1 + 0.001 * i;
    }
    assert_int_equal(fr_answers_make(&job.workload, list, value, N, 3, &answers, NULL), FR_OK);
    FR_TRUE(answers.n == 1 && strcmp(answers.items[0].varies, "chunks 2 to 7") == 0,
            "%d answers: \"%s\"", answers.n, answers.items[0].varies);
    fr_answers_free(&answers);
    assert_int_equal(fr_odds_make(&known, &job.workload, plans, NULL, N, odds, NULL), FR_OK);
    for (int i = 0; i < N; i++) times[i] = odds[0].predicted_s / odds[i].predicted_s;
    assert_int_equal(fr_odds_make(&known, &job.workload, plans, times, N, odds, NULL), FR_OK);
    for (int i = 0; i < N; i++) {
        FR_TRUE(odds[i].regret < 0.025, "%d chunks: %g", 2 + i, odds[i].regret);
        FR_TRUE(odds[i].best > 0.02, "%d chunks: %g", 2 + i, odds[i].best);
    }
    fr_job_free(&job);
}

/* ---- gains ------------------------------------------------------------------------------------- */

static struct fr_outcome priced(const struct fr_job *job, int64_t tp, int64_t micro_batch) {
    struct fr_outcome out;
    struct fr_plan plan = job->plan;
    plan.tp = tp, plan.dp = 16 / tp, plan.micro_batch = micro_batch, plan.zero = 1;
    fr_cost(job, &plan, &out);
    assert_true(isfinite(out.time_s));
    return out;
}

static double mean_of(const struct fr_gain *gain) { return log1p(gain->gain); }

static double deviation_of(const struct fr_gain *gain) {
    return log((1 + gain->high) / (1 + gain->low)) / 2 / 1.645;
}

/* The probability is that of the interval; over and under change places; a measurement as predicted changes no mean, and
 * otherwise takes 65 % of our error away; of a tuned plan nothing below 15 % is claimed, and of a measured one it does not
 * matter that it was tuned. */
static void gains_by_hand(void **state) {
    struct fr_job job;
    int claims[6] = {0};
    (void)state;
    fr_test_job("dgx-h100", "llama-3-8b", small, &job);
    for (int a = 0; a < 9; a++)
        for (int b = 0; b < 9; b++) {
            const struct fr_outcome best = priced(&job, 1 << a % 3, 1 << a / 3),
                                    own = priced(&job, 1 << b % 3, 1 << b / 3);
            struct fr_gain_ask none = {0}, tuned = {.tuned = true};
            const struct fr_gain over = fr_gain_over(&job, &best, &own, &none),
                                 under = fr_gain_over(&job, &own, &best, &none),
                                 careful = fr_gain_over(&job, &best, &own, &tuned);
            double g = mean_of(&over), sd = deviation_of(&over);
            claims[over.claim]++;
            if (a == b) {
                assert_true(over.claim == FR_CLAIM_AS_GOOD && over.gain == 0 &&
                            over.as_good == 1);
                continue;
            }
            FR_TRUE(fabs(g + mean_of(&under)) < 1e-9, "%g, %g", g, mean_of(&under));
            FR_NEAR(over.faster, 0.5 * erfc(-g / sd / sqrt(2)), 1e-6);
            FR_NEAR(over.faster + over.as_good, 1, 1e-9);
            FR_TRUE(over.claim == (over.gain >= 0.02    ? FR_CLAIM_FASTER
                                   : over.gain <= -0.02 ? FR_CLAIM_SLOWER
                                                        : FR_CLAIM_AS_GOOD),
                    "%g: %s", over.gain, fr_gain_claims[over.claim]);
            if (over.gain >= 0.02) {
                assert_true(careful.claim ==
                            (over.gain < 0.15 ? FR_CLAIM_NONE : FR_CLAIM_PERHAPS));
                assert_true(isfinite(careful.gain) == (over.gain >= 0.15) &&
                            isnan(careful.faster));
            }
            double own_s = best.time_s * exp(g); /* nothing is missed under presets */
            for (int e = -1; e <= 1; e++) {
                struct fr_gain_ask ran = {.measured_s = own_s * exp(-0.1 * e), .tuned = e > 0};
                const struct fr_gain from = fr_gain_over(&job, &best, &own, &ran);
                double rho = fmax(0.35, 1 - sd * sd / 0.005);
                FR_TRUE(fabs(mean_of(&from) - (g - (1 - rho) * 0.1 * e)) < 1e-6,
                        "%g, not %g less %g of %g", mean_of(&from), g, 1 - rho, 0.1 * e);
                FR_NEAR(deviation_of(&from), fmin(0.08, sd), 1e-6);
                assert_true(from.claim != FR_CLAIM_NONE && from.claim != FR_CLAIM_PERHAPS);
            }
        }
    assert_true(claims[FR_CLAIM_AS_GOOD] >= 9 && claims[FR_CLAIM_FASTER] > 9 &&
                claims[FR_CLAIM_SLOWER] == claims[FR_CLAIM_FASTER]);
    fr_job_free(&job);
}

/* ---- in a search ------------------------------------------------------------------------------- */

static void search(bool folds, size_t top, struct fr_searched *r) {
    static const char *const vary[] = {"tp=1,2,4,8", "pp=1,2,4", "zero=0,1,2,3",
                                       "micro_batch=1,2,4", "rank_order=tp-pp-dp,tp-dp-pp"};
    struct fr_error err = {0};
    *r = (struct fr_searched){.options = {.top = top, .max_lossy = 1}, .folds = folds};
    fr_test_job("dgx-h100", "llama-3-8b", small, &r->job);
    if (fr_searched_make("16", vary, 5, NULL, r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

/* The list is what it is without answers; these are of its beginning, their chances add up, trying more of them gains no
 * less, and of the chosen one no less is expected than is predicted. */
static void a_search_is_answered(void **state) {
    struct fr_searched plain, r;
    double luck = NAN;
    (void)state;
    for (size_t top = 1; top <= 10; top += 3) {
        struct fr_interval of;
        double sum = 0;
        search(false, top, &plain);
        search(true, top, &r);
        assert_true(plain.answers.n == 0 && !fr_searched_expected(&plain, &of));
        assert_true(plain.result.ranked.count == r.result.ranked.count);
        for (size_t i = 0; i < r.result.ranked.count; i++)
            assert_true(plain.result.ranked.items[i].index == r.result.ranked.items[i].index);
        assert_true(plain.n_odds == r.n_odds);
        for (int i = 0; i < r.n_odds; i++) assert_true(plain.odds[i].best == r.odds[i].best);
        FR_TRUE(r.answers.shown > 0 && r.answers.shown <= (int)top && r.answers.n <= 10 &&
                    r.answers.shown <= r.answers.n && r.answers.plans == 32,
                "%d answers of %d plans", r.answers.n, r.answers.plans);
        for (int k = 0; k < r.answers.n; k++) {
            sum += r.answers.items[k].odds.best;
            assert_true(k == 0 ||
                        r.answers.items[k].odds.tried >= r.answers.items[k - 1].odds.tried);
        }
        FR_NEAR(sum, 1, 1e-9);
        assert_true(r.answers.items[0].rank == 0);
        assert_true(top == 1 ||
                    r.answers.items[0].odds.luck == luck); /* however few are shown */
        luck = r.answers.items[0].odds.luck;
        assert_true(fr_searched_expected(&r, &of) && of.expected_s >= of.model_s &&
                    of.low_s < of.model_s && of.high_s > of.expected_s);
        fr_searched_free(&plain);
        fr_searched_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_partition_the_list),
                                       cmocka_unit_test(chunks_alone_are_one_answer),
                                       cmocka_unit_test(gains_by_hand),
                                       cmocka_unit_test(a_search_is_answered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
