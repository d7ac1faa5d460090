#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/calibrate/near.h"
#include "trust/numbers/nlfit.h"

enum { N = 12 };

/* t = launch + work / (peak b / (b + half)), relative. */
struct curve {
    double batch[N], time_s[N];
};

static double model_s(const double *p, double batch) { return p[0] + (batch + p[2]) / p[1]; }

static void residuals(void *ctx, const double *p, double *r) {
    const struct curve *curve = ctx;
    for (int i = 0; i < N; i++) r[i] = model_s(p, curve->batch[i]) / curve->time_s[i] - 1;
}

/* A sum of two exponentials: truly nonlinear. */
static void decay(void *ctx, const double *p, double *r) {
    (void)ctx;
    for (int i = 0; i < N; i++) {
        double truth = 3 * exp(-0.2 * i) + 0.5 * exp(-0.02 * i);
        r[i] = p[0] * exp(-p[1] * i) + p[2] * exp(-p[3] * i) - truth;
    }
}

static void never_finite(void *ctx, const double *p, double *r) {
    (void)ctx, (void)p;
    for (int i = 0; i < N; i++) r[i] = HUGE_VAL;
}

static void two_decays_are_told_apart(void **state) {
    (void)state;
    double p[] = {1, 0.5, 1, 0.01}, rms = -1;
    const double wanted[] = {3, 0.2, 0.5, 0.02};
    struct fr_error err = {.status = FR_OK};
    if (fr_nlfit(decay, NULL, 4, N, p, &rms, &err) != FR_OK) fail_msg("%s", err.detail);
    int first = p[1] > p[3] ? 0 : 2; /* which of the two comes first is nobody's to say */
    const double got[] = {p[first], p[first + 1], p[2 - first], p[3 - first]};
    for (int i = 0; i < 4; i++)
        if (fabs(got[i] / wanted[i] - 1) > 1e-3)
            fail_msg("p[%d]: got %g, wanted %g", i, got[i], wanted[i]);
    assert_true(rms >= 0 && rms < 1e-6);
}

/* Parameters fifteen decades apart, from a start two decades off. */
static void scales_do_not_matter(void **state) {
    (void)state;
    const double wanted[] = {2e-3, 5e12, 4e9};
    double p[] = {1e-4, 1e11, 1e8}, rms = -1;
    struct curve curve;
    struct fr_error err = {.status = FR_OK};
    for (int i = 0; i < N; i++) {
        curve.batch[i] = 1e8 * pow(2, i);
        curve.time_s[i] = model_s(wanted, curve.batch[i]);
    }
    if (fr_nlfit(residuals, &curve, 3, N, p, &rms, &err) != FR_OK) fail_msg("%s", err.detail);
    /* launch and half/peak are one constant; only their sum is fixed. */
    ASSERT_NEAR(p[1] / wanted[1], 1, 1e-4);
    ASSERT_NEAR((p[0] + p[2] / p[1]) / (wanted[0] + wanted[2] / wanted[1]), 1, 1e-4);
    assert_true(p[0] > 0 && p[2] > 0);
}

static void what_cannot_be_fitted_is_said(void **state) {
    (void)state;
    double p[] = {1, 1, 1, 1}, kept[] = {1, 1, 1, 1}, negative[] = {1, -1, 1, 1};
    struct fr_error err = {.status = FR_OK};
    assert_int_equal(fr_nlfit(decay, NULL, 4, 3, p, NULL, &err), FR_ERR_INPUT);
    assert_int_equal(fr_nlfit(decay, NULL, 4, N, negative, NULL, &err), FR_ERR_INPUT);
    assert_int_equal(fr_nlfit(never_finite, NULL, 4, N, p, NULL, &err), FR_ERR_NUMERIC);
    assert_memory_equal(p, kept, sizeof p);
}

/* A fit that is stopped far from where it would end is none, unless its last point is asked for. */
static void a_fit_that_does_not_end_is_none(void **state) {
    (void)state;
    for (int accept = 0; accept < 2; accept++)
        for (size_t steps = 1; steps <= 3; steps++) {
            const struct fr_nlfit_limits limits = {1e-12, steps, accept, false};
            const double start[] = {1, 0.5, 1, 0.01};
            double p[] = {1, 0.5, 1, 0.01}, rms = -1;
            struct fr_error err = {.status = FR_OK};
            fr_status status = fr_nlfit_within(&limits, decay, NULL, 4, N, p, &rms, &err);
            assert_int_equal(status, accept ? FR_OK : FR_ERR_NUMERIC);
            bool moved = false;
            for (int i = 0; i < 4; i++) moved = moved || fabs(p[i] - start[i]) > 1e-9;
            assert_int_equal(moved, accept);
            if (!accept) assert_non_null(strstr(err.detail, "did not converge"));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_decays_are_told_apart),
        cmocka_unit_test(scales_do_not_matter),
        cmocka_unit_test(a_fit_that_does_not_end_is_none),
        cmocka_unit_test(what_cannot_be_fitted_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
