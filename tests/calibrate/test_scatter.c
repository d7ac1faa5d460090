/* Times of matrix products at scattered shapes. */
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit/scatter.h"
#include "tests/calibrate/near.h"
#include "tests/cmocka.h"

enum { SHAPES = 60 };

/* A processor with a launch, a rate, and a bump that no trend has. */
static double truth_s(const struct fr_scatter_point *p) {
    double flop = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    double bump = 1 + 0.3 * exp(-pow(log((double)p->k / 1024), 2));
    return 5e-6 + flop / 1e13 * (1 + 40.0 / (double)p->m) * bump;
}

static int shapes(struct fr_scatter_point *points) {
    int n = 0;
    for (int64_t m = 64; m <= 4096; m *= 4)
        for (int64_t k = 128; k <= 8192; k *= 2)
            for (int64_t w = 256; w <= 4096; w *= 16)
                if (n < SHAPES) {
                    points[n] = (struct fr_scatter_point){.m = m, .n = w, .k = k};
                    points[n].time_s = truth_s(&points[n]);
                    n++;
                }
    return n;
}

static void unseen_shapes_are_predicted(void **state) {
    struct fr_scatter_point points[SHAPES];
    struct fr_scatter s = {0};
    struct fr_error err = {0};
    int n = shapes(points);
    (void)state;
    assert_int_equal(fr_scatter_fit(points, n, &s, &err), FR_OK);
    assert_non_null(s.weights);
    assert_true(s.left_out >= 0 && s.left_out < 0.1);
    for (int64_t k = 192; k <= 6144; k *= 2) {
        struct fr_scatter_point p = {.m = 1024, .n = 1024, .k = k};
        ASSERT_NEAR(fr_scatter_time_s(&s, &p) / truth_s(&p), 1, 0.12);
    }
    fr_scatter_free(&s);
}

static void few_shapes_get_the_trend_or_are_refused(void **state) {
    struct fr_scatter_point points[SHAPES];
    struct fr_scatter s = {0};
    struct fr_error err = {0};
    (void)state;
    shapes(points);
    assert_int_equal(fr_scatter_fit(points, 4, &s, &err), FR_ERR_NUMERIC);
    assert_true(err.detail[0] != '\0');
    fr_scatter_free(&s);
    assert_int_equal(fr_scatter_fit(points, 12, &s, &err), FR_OK);
    assert_null(s.weights);
    for (int i = 0; i < 12; i++)
        ASSERT_NEAR(fr_scatter_time_s(&s, &points[i]) / points[i].time_s, 1, 0.5);
    fr_scatter_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_shapes_are_predicted),
        cmocka_unit_test(few_shapes_get_the_trend_or_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
