/* Coverage of the stated interval, on calibrations drawn from a known distribution: scatter of
 * samples within a launch, and a shift of each launch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/samples/compare.h"

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform(state);
    return sum;
}

static void draw(struct fr_samples *samples, double within, double between, uint64_t *random) {
    *samples = (struct fr_samples){0};
    for (int point = 0; point < 400; point++)
        for (int launch = 0; launch < 3; launch++) {
            double shift = between * normal(random);
            for (int rep = 0; rep < 20; rep++) {
                const struct fr_sample_collective s = {
                    .op = FR_OP_BROADCAST,
                    .n_ranks = 2,
                    .n_groups = 1,
                    .size_B = 8 * (point + 1),
                    .launch = launch,
                    .rep = rep,
                    .time_s = 1e-5 * exp(shift + within * fabs(normal(random)))};
                assert_int_equal(fr_samples_add_collective(samples, &s), FR_OK);
            }
        }
}

static void stated_intervals_hold(void **state) {
    (void)state;
    static const double cases[][2] = {{0.05, 0}, {0.05, 0.05}, {0.01, 0.1}, {0.2, 0.02}};
    uint64_t random = 3;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct fr_samples one, two;
        struct fr_known_points a, b;
        int inside = 0;
        draw(&one, cases[c][0], cases[c][1], &random);
        draw(&two, cases[c][0], cases[c][1], &random);
        assert_int_equal(fr_known_points_find(&one, &a), FR_OK);
        assert_int_equal(fr_known_points_find(&two, &b), FR_OK);
        assert_int_equal(a.n, 400);
        for (size_t i = 0; i < a.n; i++) {
            const struct fr_known_point *second = fr_known_points_get(&b, a.item[i].key);
            assert_non_null(second);
            assert_int_equal(a.item[i].n_launches, 3);
            inside += fabs(log(second->median_s / a.item[i].median_s)) <= a.item[i].interval;
        }
        double share = inside / 400.0;
        if (!(share > 0.88 && share <= 1))
            fail_msg("within %g, between %g: %.1f %% inside", cases[c][0], cases[c][1],
                     100 * share);
        fr_known_points_free(&a);
        fr_known_points_free(&b);
        fr_samples_free(&one);
        fr_samples_free(&two);
    }
}

static void few_samples_state_nothing(void **state) {
    (void)state;
    struct fr_samples samples = {0};
    struct fr_known_points points;
    for (int rep = 0; rep < 5; rep++)
        fr_samples_add_kernel(
            &samples, &(struct fr_sample_kernel){.rep = rep, .time_s = 1e-9 * (1 + rep)});
    assert_int_equal(fr_known_points_find(&samples, &points), FR_OK);
    assert_int_equal(points.n, 1);
    assert_string_equal(points.item[0].key, "kernel");
    assert_true(points.item[0].interval >= 1e9);
    assert_true(fabs(points.item[0].median_s - 3e-9) < 1e-20);
    assert_null(fr_known_points_get(&points, "kernels"));
    fr_known_points_free(&points);
    fr_samples_free(&samples);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_intervals_hold),
        cmocka_unit_test(few_samples_state_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
