/* How fast the machine was, by hand: medians of nine probes of a launch over the lower quartile, of
 * all for products, of the launch's for streams. */
#include "calibrate/fit/speed.h"

#include <math.h>
#include <stdlib.h>

#include "tests/cmocka.h"

enum { N = 24 };

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* Quantile q between the two order statistics at (n - 1) q. */
static double quantile(double *values, size_t n, double q) {
    qsort(values, n, sizeof *values, ascending);
    double at = q * (double)(n - 1), low = floor(at);
    size_t i = (size_t)low;
    return i + 1 < n ? values[i] + (at - low) * (values[i + 1] - values[i]) : values[i];
}

static struct fr_samples probes(struct fr_sample_probe *probe, int n) {
    for (int i = 0; i < n; i++)
        probe[i] = (struct fr_sample_probe){.launch = i < 14 ? 0 : 1,
                                            .product_s = 1e-3 * (1 + (i * 7) % 11),
                                            .stream_s = 2e-3 * (1 + (i * 5) % 13)};
    return (struct fr_samples){.probe = probe, .n_probe = (size_t)n};
}

static void running_medians_over_the_lower_quartile(void **state) {
    struct fr_sample_probe probe[N];
    struct fr_samples samples = probes(probe, N);
    struct fr_fit_speed speed;
    double smooth[2][N], sorted[N];
    (void)state;
    assert_int_equal(fr_fit_speed_make(&samples, &speed), FR_OK);
    assert_int_equal(speed.n, N);
    for (int memory = 0; memory < 2; memory++)
        for (int i = 0; i < N; i++) {
            double near[9];
            size_t n = 0;
            for (int j = i - 4; j <= i + 4; j++)
                if (j >= 0 && j < N && probe[j].launch == probe[i].launch)
                    near[n++] = memory ? probe[j].stream_s : probe[j].product_s;
            smooth[memory][i] = median(near, n);
        }
    for (int memory = 0; memory < 2; memory++) {
        const double *kind = memory ? speed.memory : speed.products;
        double ratio[N];
        for (int begin = 0, stop; begin < N; begin = stop) {
            stop = memory && begin == 0 ? 14 : N;
            size_t n = (size_t)(stop - begin);
            memcpy(sorted, &smooth[memory][begin], n * sizeof *sorted);
            double fast = quantile(sorted, n, 0.25);
            for (int i = begin; i < stop; i++) {
                ratio[i] = smooth[memory][i] / fast;
                FR_NEAR(kind[i], ratio[i], 1e-12);
                FR_NEAR(fr_fit_slowness(&speed, kind, i + 1), kind[i], 0);
            }
        }
        FR_NEAR(memory ? speed.usual_memory : speed.usual_products, median(ratio, N), 1e-12);
    }
    memcpy(sorted, smooth[0], sizeof sorted);
    double high = quantile(sorted, N, 0.9), low = quantile(sorted, N, 0.1);
    FR_NEAR(speed.variation, log(high / low) / 2, 1e-12);
    /* Before the first probe as at it, after the last as at that. */
    FR_NEAR(fr_fit_slowness(&speed, speed.products, 0), speed.products[0], 0);
    FR_NEAR(fr_fit_slowness(&speed, speed.products, N + 5), speed.products[N - 1], 0);
    fr_fit_speed_free(&speed);
}

/* Eighteen probes are two windows; fewer say nothing. */
static void few_probes_say_nothing(void **state) {
    struct fr_sample_probe probe[N];
    (void)state;
    for (int n = 0; n <= 18; n += n < 17 ? 17 : 1) {
        struct fr_samples samples = probes(probe, n);
        struct fr_fit_speed speed;
        assert_int_equal(fr_fit_speed_make(&samples, &speed), FR_OK);
        assert_int_equal(speed.n, n < 18 ? 0 : 18);
        if (n < 18) {
            assert_true(speed.usual_products == 1 && speed.usual_memory == 1);
            assert_true(fr_fit_slowness(&speed, speed.products, 3) == 1);
            assert_true(speed.variation == 0);
        }
        fr_fit_speed_free(&speed);
    }
}

enum { WINDOWS = 1200 };
static const double OWN_S = 1e-3;

/* @p n windows of a product of which every fifth loses a fifth of its time, and those of a stall five times that time. */
static struct fr_fit_speed interrupted(int n, int stall_from, int stall_to) {
    static struct fr_sample_gemm windows[WINDOWS];
    for (int i = 0; i < n; i++) {
        bool stall = i >= stall_from && i < stall_to;
        windows[i] = (struct fr_sample_gemm){.dtype = FR_FP32,
                                             .m = 512,
                                             .n = 512,
                                             .k = 512,
                                             .batch = 1,
                                             .time_s = OWN_S * (stall        ? 6
                                                                : i % 5 == 4 ? 1.2
                                                                             : 1)};
    }
    const struct fr_samples samples = {
        .gemm = windows, .n_gemm = (size_t)n, .provenance = {.ranks = 1}};
    struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
    assert_int_equal(fr_fit_interruptions(&samples, &speed), FR_OK);
    return speed;
}

/* However many stretches the calibration is cut into, each loses the same. */
static void every_stretch_loses_the_same(void **state) {
    (void)state;
    for (int n = 10; n <= WINDOWS; n += n < 400 ? 10 : 100) {
        struct fr_fit_speed speed = interrupted(n, 0, 0);
        FR_NEAR(speed.lost, 0.2 / 5, 0.1); /* a stretch has one more or less than its share */
        FR_NEAR(exp(-OWN_S / speed.interruptions.every_s), 0.8, 1e-6);
    }
}

/* The usual loss is that of the other stretches. */
static void a_stall_is_not_usual(void **state) {
    (void)state;
    struct fr_fit_speed speed = interrupted(WINDOWS, 500, 560);
    FR_NEAR(speed.lost, 0.2 / 5, 0.1);
    FR_NEAR(exp(-OWN_S / speed.interruptions.every_s), 0.8 * (WINDOWS - 60) / WINDOWS, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_medians_over_the_lower_quartile),
        cmocka_unit_test(few_probes_say_nothing),
        cmocka_unit_test(every_stretch_loses_the_same), cmocka_unit_test(a_stall_is_not_usual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
