/* Scores of predictions: by hand, and laws that hold whatever the rows. */
#include "trust/score.h"

#include <math.h>

#include "tests/cmocka.h"

static void near(const char *what, double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-12))
        fail_msg("%s: got %.15g, wanted %.15g", what, got, wanted);
}

/* Group a: predicted fastest (1.1) measures 1.25, the best 1; group b: right. */
static const struct fr_scored rows[] = {
    {"1", "a", 1.0, 1.2, 0.9, 1.3}, {"2", "a", 1.25, 1.1, 1.0, 1.2},
    {"3", "a", 2.0, 2.0, 1.5, 2.5}, {"4", "b", 4.0, 3.0, 2.0, 5.0},
    {"5", "b", 8.0, 8.0, 7.0, 9.0}, {"6", "", 1.0, NAN, NAN, NAN},
};

static void by_hand(void **state) {
    struct fr_score s;
    (void)state;
    assert_int_equal(fr_score_make(rows, 6, &s, NULL), FR_OK);
    assert_int_equal(s.n, 5);
    assert_int_equal(s.missing, 1);
    assert_int_equal(s.groups, 2);
    near("mape", s.mape, (0.2 + 0.12 + 0 + 0.25 + 0) / 5);
    near("bias", s.bias, (0.2 - 0.12 - 0.25) / 5);
    near("median", s.median_error, 0.12);
    near("worst", s.worst_error, 0.25);
    near("tau", s.kendall_tau_within,
         (2.0 - 1 + 1) / 4); /* of 4 pairs within groups one is wrong */
    near("tau of all", s.kendall_tau, 8.0 / 10);
    near("regret", s.regret_mean, 0.125);
    near("worst regret", s.regret_worst, 0.25);
    near("coverage", s.coverage, 4.0 / 5);
}

/* Predictions off by one factor rank perfectly. */
static void a_factor_does_not_change_the_order(void **state) {
    struct fr_scored scaled[5];
    struct fr_score s;
    (void)state;
    for (int i = 0; i < 5; i++) {
        scaled[i] = rows[i];
        scaled[i].predicted_s = 3 * rows[i].measured_s;
    }
    assert_int_equal(fr_score_make(scaled, 5, &s, NULL), FR_OK);
    near("tau", s.kendall_tau_within, 1);
    near("regret", s.regret_worst, 0);
    near("mape", s.mape, 2);
}

/* An interval covers its ends, and nothing beyond. */
static void an_interval_has_its_ends(void **state) {
    const struct fr_scored ends[] = {{"1", "", 1.0, 1.5, 1.0, 2.0},
                                     {"2", "", 2.0, 1.5, 1.0, 2.0}};
    const struct fr_scored beyond[] = {{"1", "", 1.0 - 0x1p-50, 1.5, 1.0, 2.0},
                                       {"2", "", 2.0 + 0x1p-50, 1.5, 1.0, 2.0}};
    struct fr_score s;
    (void)state;
    assert_int_equal(fr_score_make(ends, 2, &s, NULL), FR_OK);
    near("at the ends", s.coverage, 1);
    assert_int_equal(fr_score_make(beyond, 2, &s, NULL), FR_OK);
    near("beyond", s.coverage, 0);
}

/* One run has an error, but nothing to be in order with. */
static void one_row_is_enough_for_an_error(void **state) {
    struct fr_score s;
    (void)state;
    assert_int_equal(fr_score_make(rows + 3, 1, &s, NULL), FR_OK);
    assert_int_equal(s.n, 1);
    near("mape", s.mape, 0.25);
    near("bias", s.bias, -0.25);
    near("median", s.median_error, 0.25);
    near("p90", s.p90_error, 0.25);
    near("worst", s.worst_error, 0.25);
    near("coverage", s.coverage, 1);
}

static void nothing_is_no_number(void **state) {
    struct fr_score s;
    (void)state;
    assert_int_equal(fr_score_make(rows + 5, 1, &s, NULL), FR_OK);
    assert_true(isnan(s.mape) && isnan(s.kendall_tau_within) && isnan(s.regret_mean));
    assert_int_equal(s.n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(a_factor_does_not_change_the_order),
        cmocka_unit_test(an_interval_has_its_ends),
        cmocka_unit_test(one_row_is_enough_for_an_error),
        cmocka_unit_test(nothing_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
