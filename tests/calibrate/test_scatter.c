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

/* ---- by the equations of the header -------------------------------------------------------------- */

static int twos(int64_t x) {
    int n = 0;
    for (; x % 2 == 0 && n < 7; x /= 2) n++;
    return n;
}

/* Distance in logarithms over the range; 3 % less for each power of two that one has and the other has
 * not, up to 2^7; four fifths between transpositions. */
static double kernel(const struct fr_scatter_point *a, const struct fr_scatter_point *b,
                     double range) {
    double d2 = pow(log((double)a->m / (double)b->m), 2) +
                pow(log((double)a->n / (double)b->n), 2) +
                pow(log((double)a->k / (double)b->k), 2);
    int powers = abs(twos(a->m) - twos(b->m)) + abs(twos(a->n) - twos(b->n)) +
                 abs(twos(a->k) - twos(b->k));
    return exp(-d2 / (2 * range * range)) * exp(-0.03 * powers) *
           (a->layout == b->layout ? 1 : 0.8);
}

static double trend_s(const double *c, const struct fr_scatter_point *p) {
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    return c[0] + c[1] * 2 * m * n * k * (1 + c[3] / m) * (1 + c[3] / n) +
           c[2] * (m * k + k * n + m * n);
}

/* Weights solve (K + noise) w = y, y the residuals of the trend about their mean; a prediction is the
 * trend times exp(mean + sum of w k). */
static void kriging_solves_its_equations(void **state) {
    struct fr_scatter_point points[SHAPES];
    struct fr_scatter s = {0};
    int n = shapes(points);
    double mean = 0;
    (void)state;
    for (int i = 0; i < n; i++) {
        points[i].layout = i % 3 == 0;
        points[i].m += i % 2 ? 0 : 6;
        points[i].time_s = truth_s(&points[i]) * (1 + 0.02 * (i % 5));
    }
    assert_int_equal(fr_scatter_fit(points, n, &s, NULL), FR_OK);
    assert_true(s.range == 0.8 || s.range == 1.5 || s.range == 2.5);
    for (int i = 0; i < n; i++)
        mean += log(points[i].time_s / trend_s(s.trend, &points[i])) / n;
    ASSERT_NEAR(s.mean, mean, 1e-12);
    for (int i = 0; i < n; i++) {
        double sum = s.noise * s.weights[i];
        for (int j = 0; j < n; j++)
            sum += kernel(&points[i], &points[j], s.range) * s.weights[j];
        ASSERT_NEAR(sum, log(points[i].time_s / trend_s(s.trend, &points[i])) - mean, 1e-9);
    }
    const struct fr_scatter_point unseen[] = {{700, 300, 1000, 0, 0}, {64, 4096, 384, 1, 0}};
    for (int u = 0; u < 2; u++) {
        double left = mean;
        for (int j = 0; j < n; j++)
            left += kernel(&unseen[u], &points[j], s.range) * s.weights[j];
        ASSERT_NEAR(fr_scatter_time_s(&s, &unseen[u]) /
                        (trend_s(s.trend, &unseen[u]) * exp(left)),
                    1, 1e-9);
    }
    fr_scatter_free(&s);
}

/* A processor that is the trend has it found: launch, rate, traffic, though some shapes are far off. */
static void a_trend_is_found(void **state) {
    struct fr_scatter_point points[SHAPES];
    struct fr_scatter s = {0};
    int n = shapes(points);
    const double c[] = {4e-6, 1e-13, 2e-11, 100};
    (void)state;
    for (int i = 0; i < n; i++) points[i].time_s = trend_s(c, &points[i]);
    assert_int_equal(fr_scatter_fit(points, n, &s, NULL), FR_OK);
    for (int i = 0; i < n; i++)
        ASSERT_NEAR(trend_s(s.trend, &points[i]) / points[i].time_s, 1, 0.05);
    assert_true(s.left_out >= 0 && s.left_out < 0.02);
    fr_scatter_free(&s);
}

/* ---- by brute force ------------------------------------------------------------------------------ */

/* Solution of a x = b by elimination; a is positive definite. */
static void eliminate(int n, double a[SHAPES][SHAPES], double *b) {
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double share = a[j][i] / a[i][i];
            for (int k = i; k < n; k++) a[j][k] -= share * a[i][k];
            b[j] -= share * b[i];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
}

/* |error| of shape @p out, relative, as predicted from the others' residuals alone. */
static double without(const struct fr_scatter_point *points, const double *residual, int n,
                      int out, double range, double noise) {
    static double a[SHAPES][SHAPES];
    double w[SHAPES], left = 0;
    int at[SHAPES], kept = 0;
    for (int i = 0; i < n; i++)
        if (i != out) at[kept++] = i;
    for (int i = 0; i < kept; i++) {
        w[i] = residual[at[i]];
        for (int j = 0; j < kept; j++)
            a[i][j] = kernel(&points[at[i]], &points[at[j]], range) + (i == j ? noise : 0);
    }
    eliminate(kept, a, w);
    for (int i = 0; i < kept; i++) left += w[i] * kernel(&points[at[i]], &points[out], range);
    return fabs(expm1(residual[out] - left));
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kinds of machine: smooth over long ways or short ones, noisy or not. */
static void disturb(struct fr_scatter_point *points, int n, int machine) {
    uint64_t dice = 88172645463325252u + (uint64_t)machine;
    for (int i = 0; i < n; i++) {
        dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
        double noise = (double)(dice % 2000) / 1000 - 1, wave = machine % 3 + 1;
        points[i].m += i % 3; /* odd, once even, more */
        points[i].layout = i % 4 == 3;
        points[i].time_s = truth_s(&points[i]) *
                           (1 + 0.4 * sin(3 * log((double)points[i].k) / wave)) *
                           exp((machine / 3 == 0   ? 0.001
                                : machine / 3 == 1 ? 0.08
                                                   : 0.8) *
                               noise);
    }
}

/* Range and noise are those of three each with the least mean error, 1 at most, of shapes predicted without
 * themselves; and the median of these is what the fit says of itself. */
static void range_and_noise_are_those_that_predict_best(void **state) {
    enum { FEW = 24 };
    static const double ranges[] = {0.8, 1.5, 2.5}, noises[] = {0.01, 0.05, 0.3};
    int ranges_seen[3] = {0}, noises_seen[3] = {0};
    (void)state;
    for (int machine = 0; machine < 9; machine++) {
        struct fr_scatter_point points[SHAPES];
        struct fr_scatter s = {0};
        double residual[FEW], least = HUGE_VAL, median = 0;
        int best = 0;
        shapes(points);
        disturb(points, FEW, machine);
        assert_int_equal(fr_scatter_fit(points, FEW, &s, NULL), FR_OK);
        for (int i = 0; i < FEW; i++)
            residual[i] = log(points[i].time_s / trend_s(s.trend, &points[i])) - s.mean;
        for (int c = 0; c < 9; c++) {
            double sum = 0, error[FEW];
            for (int i = 0; i < FEW; i++) {
                error[i] = without(points, residual, FEW, i, ranges[c / 3], noises[c % 3]);
                sum += fmin(error[i], 1);
            }
            if (sum >= least) continue;
            qsort(error, FEW, sizeof *error, ascending);
            least = sum, best = c, median = (error[FEW / 2 - 1] + error[FEW / 2]) / 2;
        }
        FR_NEAR(s.range, ranges[best / 3], 0);
        FR_NEAR(s.noise, noises[best % 3], 0);
        FR_NEAR(s.left_out, median, 1e-6);
        ranges_seen[best / 3]++, noises_seen[best % 3]++;
        fr_scatter_free(&s);
    }
    for (int i = 0; i < 3; i++)
        FR_TRUE(ranges_seen[i] && noises_seen[i], "range %d: %d, noise %d: %d", i,
                ranges_seen[i], i, noises_seen[i]);
}

/* The sum that the trend makes least: of each shape's log error r, in fifths, 2 (sqrt(1 + r^2) - 1); and of
 * each coefficient's log of what was expected, squared: half the least time as launch, the least time a flop,
 * 20 flops a word, half the rate at 16. */
static double cost(const double *c, const struct fr_scatter_point *points, int n) {
    double sum = 0, least_s = HUGE_VAL, per_flop = HUGE_VAL;
    for (int i = 0; i < n; i++) {
        const struct fr_scatter_point *p = &points[i];
        double r = log(trend_s(c, p) / p->time_s) / 0.2;
        sum += 2 * (sqrt(1 + r * r) - 1);
        least_s = fmin(least_s, p->time_s);
        per_flop = fmin(per_flop, p->time_s / (2 * (double)p->m * (double)p->n * (double)p->k));
    }
    const double expected[] = {least_s / 2, per_flop, 20 * per_flop, 16};
    for (int t = 0; t < FR_SCATTER_TREND; t++) sum += pow(log(c[t] / expected[t]), 2);
    return sum;
}

static void no_other_trend_is_nearer(void **state) {
    (void)state;
    for (int machine = 0; machine < 9; machine++)
        for (int k = 0; k < 6; k++) {
            const int n = (const int[]){5, 6, 8, 19, 20, 24}[k];
            struct fr_scatter_point points[SHAPES];
            struct fr_scatter s = {0};
            shapes(points);
            disturb(points, n, machine);
            assert_int_equal(fr_scatter_fit(points, n, &s, NULL), FR_OK);
            assert_int_equal(s.weights != NULL, n >= 20);
            assert_true(s.weights || s.left_out < 0);
            double least = cost(s.trend, points, n);
            for (int t = 0; t < FR_SCATTER_TREND; t++)
                for (int way = -1; way <= 1; way += 2) {
                    double other[FR_SCATTER_TREND];
                    for (int i = 0; i < FR_SCATTER_TREND; i++)
                        other[i] = s.trend[i] * (i == t ? 1 + 0.03 * way : 1);
                    FR_TRUE(cost(other, points, n) >= least * (1 - 1e-9),
                            "machine %d, %d shapes, term %d: %g, not %g", machine, n, t,
                            cost(other, points, n), least);
                }
            fr_scatter_free(&s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_shapes_are_predicted),
        cmocka_unit_test(few_shapes_get_the_trend_or_are_refused),
        cmocka_unit_test(kriging_solves_its_equations),
        cmocka_unit_test(a_trend_is_found),
        cmocka_unit_test(range_and_noise_are_those_that_predict_best),
        cmocka_unit_test(no_other_trend_is_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
