#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/cmocka.h"

#include "tests/calibrate/near.h"
#include "trust/numbers/statistics.h"

enum { MOST = 60 };

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void fill(double *x, size_t n, uint64_t *state) {
    for (size_t i = 0; i < n; i++) x[i] = (double)(next(state) % 1000) / 8;
    fr_sort(x, n);
}

static void quantiles_of_known_values(void **state) {
    (void)state;
    const double x[] = {1, 2, 4, 8};
    ASSERT_NEAR(fr_sorted_median(x, 4), 3, 0);
    ASSERT_NEAR(fr_sorted_median(x, 3), 2, 0);
    ASSERT_NEAR(fr_sorted_median(x, 1), 1, 0);
    ASSERT_NEAR(fr_sorted_quantile(x, 4, 0), 1, 0);
    ASSERT_NEAR(fr_sorted_quantile(x, 4, 1), 8, 0);
    ASSERT_NEAR(fr_sorted_quantile(x, 4, 0.9), 6.8, 1e-12);
}

static void mad_equals_its_definition(void **state) {
    (void)state;
    uint64_t random = 1;
    for (size_t n = 1; n <= MOST; n++) {
        double x[MOST], deviation[MOST];
        fill(x, n, &random);
        for (size_t i = 0; i < n; i++) deviation[i] = fabs(x[i] - fr_sorted_median(x, n));
        fr_sort(deviation, n);
        double got = fr_sorted_mad(x, n), wanted = fr_sorted_median(deviation, n);
        if (fabs(got - wanted) > 1e-12) fail_msg("n = %zu: got %g, wanted %g", n, got, wanted);
    }
}

/* Whatever the order and the unit; one value says nothing. */
static void log_deviation_by_hand(void **state) {
    static const double rate[] = {2 * 2.718281828459045, 2, 2 * 7.38905609893065};
    (void)state;
    ASSERT_NEAR(fr_log_deviation(rate, 3), 1, 1e-12);
    ASSERT_NEAR(fr_log_deviation(rate, 2), sqrt(0.5), 1e-12);
    assert_true(isnan(fr_log_deviation(rate, 1)) && isnan(fr_log_deviation(rate, 0)));
}

/* P(lower <= median < upper) by summing the binomial terms. */
static double coverage(size_t n, size_t l) {
    double sum = 0;
    for (size_t k = l; k <= n - l; k++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) -
                   (double)n * log(2));
    return sum;
}

static void interval_covers_and_is_the_narrowest(void **state) {
    (void)state;
    double x[MOST], low, high;
    for (size_t i = 0; i < MOST; i++) x[i] = (double)i + 1; /* x_(l) is l */
    for (size_t n = 6; n <= MOST; n++) {
        assert_true(fr_sorted_median_interval(x, n, 0.95, &low, &high));
        size_t l = (size_t)low;
        ASSERT_NEAR(high, (double)(n + 1 - l), 0);
        if (coverage(n, l) < 0.95 - 1e-12 || coverage(n, l + 1) >= 0.95)
            fail_msg("n = %zu: l = %zu covers %g, the next %g", n, l, coverage(n, l),
                     coverage(n, l + 1));
    }
    assert_false(fr_sorted_median_interval(x, 5, 0.95, &low, &high));
    ASSERT_NEAR(low, 1, 0);
    ASSERT_NEAR(high, 5, 0);
    assert_true(fr_sorted_median_uncertainty(x, 5, 0.95) > 1e6);
}

/* Tables of the sign test: n = 10 gives ranks 2 and 9, n = 20 gives 6 and 15. */
static void interval_of_published_tables(void **state) {
    (void)state;
    double x[20], low, high;
    for (size_t i = 0; i < 20; i++) x[i] = (double)i + 1;
    fr_sorted_median_interval(x, 10, 0.95, &low, &high);
    ASSERT_NEAR(low, 2, 0);
    ASSERT_NEAR(high, 9, 0);
    fr_sorted_median_interval(x, 20, 0.95, &low, &high);
    ASSERT_NEAR(low, 6, 0);
    ASSERT_NEAR(high, 15, 0);
}

static void slow_values_lie_beyond_the_limit(void **state) {
    (void)state;
    const double x[] = {9.8, 9.9, 10, 10, 10.1, 10.2, 10.3, 30};
    double limit = fr_sorted_slow_limit(x, 8);
    assert_true(limit > 10.3 && limit < 30);
    const double same[] = {5, 5, 5, 5, 5.001};
    /* Five scaled deviations of a median of 10.05, at least a thousandth of it. */
    ASSERT_NEAR(limit, 10.05 + 5 * 1.4826 * 0.15, 1e-12);
    ASSERT_NEAR(fr_sorted_slow_limit(same, 5), 5 + 5 * 0.005, 1e-12);
}

/* The probability of k of n by its definition, summed. */
static double probability(size_t k, size_t n, double share) {
    double ways = 1;
    for (size_t i = 0; i < k; i++) ways *= (double)(n - i) / (double)(i + 1);
    return ways * pow(share, (double)k) * pow(1 - share, (double)(n - k));
}

static void binomial_test_is_its_definition(void **state) {
    const double shares[] = {0.1, 0.5, 0.9};
    (void)state;
    for (size_t n = 0; n <= 30; n++)
        for (size_t k = 0; k <= n; k++)
            for (int s = 0; s < 3; s++) {
                double few = 0, many = 0;
                for (size_t i = 0; i <= k; i++) few += probability(i, n, shares[s]);
                for (size_t i = k; i <= n; i++) many += probability(i, n, shares[s]);
                ASSERT_NEAR(fr_binomial_likely(k, n, shares[s]), fmin(1, 2 * fmin(few, many)),
                            1e-9);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_known_values),
        cmocka_unit_test(mad_equals_its_definition),
        cmocka_unit_test(log_deviation_by_hand),
        cmocka_unit_test(binomial_test_is_its_definition),
        cmocka_unit_test(interval_covers_and_is_the_narrowest),
        cmocka_unit_test(interval_of_published_tables),
        cmocka_unit_test(slow_values_lie_beyond_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
