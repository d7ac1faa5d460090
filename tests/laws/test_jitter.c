/* How far steps are apart: by hand, by sampling what the law is made of, and where nothing is known. */
#include "models/device/jitter.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "tests/cmocka.h"

/* 0.2 ms x sqrt(400 x 4 s) = 8 ms; nine in ten within exp(+-1.645 x 8 ms / 4 s). */
static void by_hand(void **state) {
    struct fr_device device = {.jitter_s = 0.2e-3};
    double low_s = 0, high_s = 0;
    (void)state;
    FR_NEAR(fr_jitter_s(&device, 400, 4), 8e-3, 1e-12);
    assert_true(fr_jitter_steps(&device, 400, 4, &low_s, &high_s));
    FR_NEAR(low_s, 4 * exp(-1.645 * 0.002), 1e-12);
    FR_NEAR(high_s, 4 * exp(1.645 * 0.002), 1e-12);
    FR_NEAR(low_s * high_s, 16, 1e-12);
    /* What is stated goes before what was found. */
    device.interruptions = (struct fr_interruptions){.every_s = 0.25, .length_s = 1};
    FR_NEAR(fr_jitter_s(&device, 400, 4), 8e-3, 1e-12);
    device.jitter_s = 0;
    FR_NEAR(fr_jitter_s(&device, 100, 4), 2 * 20, 1e-12);
}

/* The root of the ranks, and of the time; of one step as of its halves, which are independent. */
static void grows_as_the_root(void **state) {
    const struct fr_device device = {.jitter_s = 1e-3};
    (void)state;
    for (double ranks = 1; ranks < 1e5; ranks *= 7)
        for (double time_s = 1e-3; time_s < 1e3; time_s *= 11) {
            double one = fr_jitter_s(&device, ranks, time_s);
            FR_NEAR(fr_jitter_s(&device, 4 * ranks, time_s), 2 * one, 1e-12);
            FR_NEAR(hypot(fr_jitter_s(&device, ranks, time_s / 3),
                          fr_jitter_s(&device, ranks, 2 * time_s / 3)),
                    one, 1e-12);
        }
}

/* Hold-ups drawn one by one: of 64 ranks in steps of 2 s, one in 16 s each, 5 ms long. */
static void as_hold_ups_make_it(void **state) {
    enum { STEPS = 20000, RANKS = 64 };
    const double step_s = 2, every_s = 16, length_s = 5e-3;
    struct fr_device device = {.interruptions = {.every_s = every_s, .length_s = length_s}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double sum = 0, squares = 0;
    (void)state;
    for (int i = 0; i < STEPS; i++) {
        double late_s = 0;
        for (int r = 0; r < RANKS; r++)
            late_s += length_s * gsl_ran_poisson(rng, step_s / every_s);
        sum += late_s;
        squares += late_s * late_s;
    }
    double mean_s = sum / STEPS, sd_s = sqrt(squares / STEPS - mean_s * mean_s);
    FR_NEAR(fr_jitter_s(&device, RANKS, step_s), sd_s, 0.02);
    gsl_rng_free(rng);
}

static void nothing_known_is_not_told(void **state) {
    struct fr_device device = {.jitter_s = 0};
    double low_s, high_s;
    (void)state;
    assert_true(fr_jitter_s(&device, 8, 1) == 0);
    assert_false(fr_jitter_steps(&device, 8, 1, &low_s, &high_s));
    device.jitter_s = 1e-3;
    assert_false(fr_jitter_steps(&device, 8, 0, &low_s, &high_s));
    assert_false(fr_jitter_steps(&device, 8, NAN, &low_s, &high_s));
    assert_false(fr_jitter_steps(&device, 8, INFINITY, &low_s, &high_s));
    device.jitter_s = 3600;
    assert_false(fr_jitter_steps(&device, 1e18, 1e-9, &low_s, &high_s)); /* past all numbers */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand), cmocka_unit_test(grows_as_the_root),
        cmocka_unit_test(as_hold_ups_make_it), cmocka_unit_test(nothing_known_is_not_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
