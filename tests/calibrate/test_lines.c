/* Lines that fits are made of: two terms against outliers, and straight pieces, by hand. */
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "models/network/segment_fit.h"
#include "tests/cmocka.h"

/* a u + b v = 1 where u = 1/t, v = n/t of t = a + b n: found exactly, whatever lies on it. */
static void two_terms_are_found(void **state) {
    static const double cases[][2] = {{3e-6, 4e-10}, {1, 1}, {2e-3, 0}, {0, 5e-9}, {7, 1e-12}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double u[12], v[12], a = -1, b = -1;
        for (int i = 0; i < 12; i++) {
            double n = ldexp(8, 2 * i), t = cases[k][0] + cases[k][1] * n;
            u[i] = 1 / t;
            v[i] = n / t;
        }
        fr_fit_two_terms(u, v, 12, &a, &b);
        FR_TRUE(fabs(a - cases[k][0]) <= 1e-9 * cases[k][0] + 1e-15 &&
                    fabs(b - cases[k][1]) <= 1e-9 * cases[k][1] + 1e-20,
                "case %zu: got %g, %g", k, a, b);
    }
}

/* A point that lies beyond a tenth pulls as a tenth does, so that one point in twelve that took three times as long
 * moves the line by less than it would move a mean. */
static void an_outlier_pulls_no_harder_than_a_tenth(void **state) {
    double u[12], v[12], a, b;
    (void)state;
    for (int i = 0; i < 12; i++) {
        double n = 100.0 * (i + 1), t = (2 + 0.01 * n) * (i == 5 ? 3 : 1);
        u[i] = 1 / t;
        v[i] = n / t;
    }
    fr_fit_two_terms(u, v, 12, &a, &b);
    FR_TRUE(fabs(a / 2 - 1) < 0.06 && fabs(b / 0.01 - 1) < 0.02, "%g, %g", a, b);
}

/* Times that fall with the size have no slope below 0: the level that is nearest; times that start below
 * 0 no level. */
static void no_coefficient_is_negative(void **state) {
    double u[6], v[6], a, b;
    (void)state;
    for (int i = 0; i < 6; i++) {
        double t = 1.05 - 0.02 * i;
        u[i] = 1 / t;
        v[i] = (i + 1) / t;
    }
    fr_fit_two_terms(u, v, 6, &a, &b);
    FR_TRUE(b == 0 && fabs(a - 1) < 0.01, "%g, %g", a, b);
    for (int i = 0; i < 6; i++) {
        double n = i + 1, t = n * n;
        u[i] = 1 / t;
        v[i] = n / t;
    }
    fr_fit_two_terms(u, v, 6, &a, &b);
    FR_TRUE(a >= 0 && b >= 0 && (a == 0 || b == 0), "%g, %g", a, b);
}

/* One size says nothing of a slope: what could be either is the level. */
static void one_size_has_no_slope(void **state) {
    (void)state;
    for (int size_B = 1; size_B < 200; size_B++) {
        double u[4], v[4], a = -1, b = -1;
        struct fr_fit_point points[4];
        struct fr_segment_fit fit;
        for (int i = 0; i < 4; i++) {
            points[i] =
                (struct fr_fit_point){.size_B = size_B, .time_s = 3e-6 * (1 + 0.01 * i)};
            u[i] = 1 / points[i].time_s;
            v[i] = size_B / points[i].time_s;
        }
        fr_fit_two_terms(u, v, 4, &a, &b);
        FR_TRUE(fabs(a / 3.045e-6 - 1) < 1e-3 && b == 0, "%d B: %g, %g", size_B, a, b);
        assert_int_equal(fr_fit_segments(points, 4, -1, &fit), FR_OK);
        FR_TRUE(fit.segments[0].latency_s > 0 && fit.segments[0].s_per_B == 0, "%d B: %g, %g",
                size_B, fit.segments[0].latency_s, fit.segments[0].s_per_B);
        free(fit.segments);
    }
}

static struct fr_segment_fit cut(const double *n_B, const double *t_s, int n, int skip) {
    struct fr_fit_point points[300];
    struct fr_segment_fit fit;
    for (int i = 0; i < n; i++)
        points[i] =
            (struct fr_fit_point){.level = 1, .n_ranks = 8, .size_B = n_B[i], .time_s = t_s[i]};
    assert_int_equal(fr_fit_segments(points, n, skip, &fit), FR_OK);
    assert_true(fit.level == 1 && fit.n_ranks == 8);
    return fit;
}

/* Two regimes cut where the second begins; each piece as it was made; between the ends. */
static void pieces_begin_where_they_do(void **state) {
    double n_B[16], t_s[16];
    (void)state;
    for (int at = 3; at <= 13; at++) {
        for (int i = 0; i < 16; i++) {
            n_B[i] = ldexp(8, i);
            t_s[i] = i < at ? 2e-6 + 1e-10 * n_B[i] : 30e-6 + 5e-10 * n_B[i];
        }
        struct fr_segment_fit fit = cut(n_B, t_s, 16, -1);
        FR_TRUE(fit.count == 2, "at %d: %d pieces", at, fit.count);
        FR_NEAR(fit.min_B, 8, 0);
        FR_NEAR(fit.max_B, ldexp(8, 15), 0);
        FR_NEAR(fit.segments[0].up_to_B, n_B[at - 1], 0);
        FR_NEAR(fit.segments[1].up_to_B, n_B[15], 0);
        FR_NEAR(fit.segments[0].latency_s, 2e-6, 1e-6);
        FR_NEAR(fit.segments[1].s_per_B, 5e-10, 1e-6);
        for (int i = 0; i < 16; i++) FR_NEAR(fr_segment_fit_s(&fit, n_B[i]), t_s[i], 1e-6);
        FR_NEAR(fr_segment_fit_s(&fit, 1), t_s[0], 1e-6); /* below the first, as that */
        free(fit.segments);
    }
}

/* With six sizes or more, no piece has fewer than three; with two or more, none has fewer than two; there are at most
 * six pieces. */
static void pieces_are_of_three_sizes(void **state) {
    double n_B[300], t_s[300];
    (void)state;
    for (int n = 1; n <= 300; n += n < 40 ? 1 : 65) {
        for (int i = 0; i < n; i++) {
            n_B[i] = 8 * (i + 1);
            t_s[i] = i / 2 % 2 ? 1e-6 : 1e-3; /* regimes of two */
        }
        struct fr_segment_fit fit = cut(n_B, t_s, n, -1);
        int least = n >= 6 ? 3 : n >= 2 ? 2 : 1, before = 0;
        assert_true(fit.count >= 1 && fit.count <= 6);
        for (int s = 0; s < fit.count; s++) {
            int upto = (int)(fit.segments[s].up_to_B / 8);
            FR_TRUE(upto - before >= least, "%d sizes: a piece of %d", n, upto - before);
            before = upto;
        }
        assert_int_equal(before, n);
        free(fit.segments);
    }
    /* Four sizes, two regimes of two. */
    struct fr_segment_fit two = cut(n_B, t_s, 4, -1);
    assert_true(two.count <= 2);
    free(two.segments);
}

/* As if it had not been measured. */
static void what_is_skipped_does_not_count(void **state) {
    double n_B[9], t_s[9];
    (void)state;
    for (int i = 0; i < 9; i++) {
        n_B[i] = 100 * (i + 1);
        t_s[i] = i == 4 ? 1 : 1e-6 + 1e-9 * n_B[i];
    }
    struct fr_segment_fit fit = cut(n_B, t_s, 9, 4);
    assert_int_equal(fit.count, 1);
    FR_NEAR(fit.segments[0].latency_s, 1e-6, 1e-9);
    FR_NEAR(fit.segments[0].s_per_B, 1e-9, 1e-9);
    free(fit.segments);
    fit = cut(n_B, t_s, 1, 0); /* of one size nothing is left */
    assert_true(fit.count == 0 && !fit.segments);
}

/* ---- by brute force ------------------------------------------------------------------------------ */

/* Least squares of (a + b n) / t - 1 with a, b >= 0: the inside where that is it, else the better border. */
static double line(const double *n_B, const double *t_s, int n, double *a, double *b) {
    double best = HUGE_VAL, error = 0;
    double uu = 0, vv = 0, uv = 0, u1 = 0, v1 = 0;
    for (int i = 0; i < n; i++) {
        double u = 1 / t_s[i], v = n_B[i] / t_s[i];
        uu += u * u, vv += v * v, uv += u * v, u1 += u, v1 += v;
    }
    double det = uu * vv - uv * uv;
    const double tries[3][2] = {
        {(u1 * vv - v1 * uv) / det, (v1 * uu - u1 * uv) / det}, {u1 / uu, 0}, {0, v1 / vv}};
    for (int k = 0; k < 3; k++) {
        double squares = 0, x = tries[k][0], y = tries[k][1];
        if (!(x >= 0 && y >= 0) || (k == 0 && det <= 1e-12 * uu * vv)) continue;
        for (int i = 0; i < n; i++) squares += pow((x + y * n_B[i]) / t_s[i] - 1, 2);
        if (squares >= best * (1 - 1e-12)) continue;
        best = squares;
        *a = x, *b = y;
    }
    for (int i = 0; i < n; i++) error += fabs((*a + *b * n_B[i]) / t_s[i] - 1);
    return error;
}

/* One piece or two of eight noisy sizes: where to cut by the least sum of |errors|, whether by the criterion
 * 2 n ln(sum / n) + (3 s - 1) ln n, errors of half a percent and less being as good as none. */
static void as_brute_force_says(void **state) {
    enum { SIZES = 8 };
    uint64_t dice = 88172645463325252u;
    int counts[3] = {0};
    (void)state;
    for (int round = 0; round < 400; round++) {
        double n_B[SIZES], t_s[SIZES], a[3], b[3], error[3], a2 = 0, b2 = 0;
        int at = 0;
        for (int i = 0; i < SIZES; i++) {
            dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
            double noise = (double)(dice % 1000) / 1000 - 0.5;
            n_B[i] = 1000 * (i + 1);
            t_s[i] = (1e-5 + 1e-9 * n_B[i]) * (1 + 0.0002 * (round % 100) * noise) *
                     (i >= 4 ? 1 + 0.0015 * (round / 4) : 1);
        }
        error[1] = line(n_B, t_s, SIZES, &a[1], &b[1]);
        error[2] = HUGE_VAL;
        for (int cut_at = 3; cut_at <= SIZES - 3; cut_at++) {
            double x[2], y[2];
            double sum = line(n_B, t_s, cut_at, &x[0], &y[0]) +
                         line(n_B + cut_at, t_s + cut_at, SIZES - cut_at, &x[1], &y[1]);
            if (sum >= error[2]) continue;
            error[2] = sum, at = cut_at;
            a[2] = x[0], b[2] = y[0], a2 = x[1], b2 = y[1];
        }
        double criterion[3];
        for (int s = 1; s <= 2; s++)
            criterion[s] =
                2 * SIZES * log(fmax(error[s] / SIZES, 0.005)) + (3 * s - 1) * log(SIZES);
        int pieces = criterion[2] < criterion[1] ? 2 : 1;
        struct fr_segment_fit fit = cut(n_B, t_s, SIZES, -1);
        FR_TRUE(fit.count == pieces, "round %d: %d pieces, not %d", round, fit.count, pieces);
        FR_NEAR(fit.segments[0].latency_s, a[pieces], 1e-9);
        FR_NEAR(fit.segments[0].s_per_B, b[pieces], 1e-9);
        if (pieces == 2) {
            FR_NEAR(fit.segments[0].up_to_B, n_B[at - 1], 0);
            FR_NEAR(fit.segments[1].latency_s, a2, 1e-9);
            FR_NEAR(fit.segments[1].s_per_B, b2, 1e-9);
        }
        counts[pieces]++;
        free(fit.segments);
    }
    FR_TRUE(counts[1] > 50 && counts[2] > 50, "%d, %d", counts[1], counts[2]);
}

/* Three sizes or two, of any times, are one piece: inside, level or through nothing, whichever explains most. */
static void one_piece_lies_where_it_explains_most(void **state) {
    uint64_t dice = 362436069362436069u;
    int inside = 0, level = 0, steep = 0;
    (void)state;
    for (int round = 0; round < 600; round++) {
        int n = 2 + round % 2;
        double n_B[3], t_s[3], a = 0, b = 0;
        for (int i = 0; i < n; i++) {
            dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
            n_B[i] = 100 * (1 << i);
            t_s[i] = 1e-6 * pow(n_B[i], (round % 5) * 0.5) * (1 + (double)(dice % 1000) / 1000);
        }
        line(n_B, t_s, n, &a, &b);
        struct fr_segment_fit fit = cut(n_B, t_s, n, -1);
        assert_int_equal(fit.count, 1);
        FR_NEAR(fit.segments[0].latency_s, a, 1e-9);
        FR_NEAR(fit.segments[0].s_per_B, b, 1e-9);
        inside += a > 0 && b > 0, level += b == 0, steep += a == 0;
        free(fit.segments);
    }
    FR_TRUE(inside > 50 && level > 50 && steep > 50, "%d, %d, %d", inside, level, steep);
}

/* c1 log2 p + c2 m + c3, exact; without several rank counts no c3, without several sizes no c2; no more
 * points than terms say nothing; weighed by their times or not. */
static void the_papers_form(void **state) {
    struct fr_fit_point points[12];
    struct fr_fit_log log;
    (void)state;
    for (int i = 0; i < 12; i++) {
        points[i] =
            (struct fr_fit_point){.n_ranks = 2 << i % 3, .size_B = 1000.0 * (1 + i / 3)};
        points[i].time_s = 3e-6 * (1 + i % 3) + 2e-10 * points[i].size_B + 5e-6;
    }
    for (int relative = 0; relative < 2; relative++)
        for (int skip = -1; skip < 12; skip += 13) {
            assert_int_equal(fr_fit_log_form(points, 12, relative, skip, &log), FR_OK);
            assert_true(log.present);
            FR_NEAR(log.c1_s, 3e-6, 1e-6);
            FR_NEAR(log.c2_s_per_B, 2e-10, 1e-6);
            FR_NEAR(log.c3_s, 5e-6, 1e-6);
            FR_NEAR(log.c1_s * 4 + log.c2_s_per_B * 500 + log.c3_s,
                    3e-6 * 4 + 2e-10 * 500 + 5e-6, 1e-6);
        }
    double good_s = points[7].time_s;
    points[7].time_s = 1;
    assert_int_equal(fr_fit_log_form(points, 12, true, 7, &log), FR_OK);
    FR_NEAR(log.c1_s, 3e-6, 1e-6);
    points[7].time_s = good_s;
    for (int n = 3; n <= 4; n++) { /* one more than c1, c2, c3 */
        struct fr_fit_point few[4] = {points[0], points[1], points[3], points[4]};
        assert_int_equal(fr_fit_log_form(few, n, true, -1, &log), FR_OK);
        assert_int_equal(log.present, n > 3);
    }
    struct fr_fit_point one_p[4] = {points[0], points[3], points[6], points[9]};
    assert_int_equal(fr_fit_log_form(one_p, 4, true, -1, &log), FR_OK);
    assert_true(log.present && log.c3_s == 0);
    FR_NEAR(log.c1_s, 8e-6, 1e-6);
    struct fr_fit_point one_m[3] = {points[0], points[1], points[2]};
    assert_int_equal(fr_fit_log_form(one_m, 3, true, -1, &log), FR_OK);
    assert_true(log.present && log.c2_s_per_B == 0);
    FR_NEAR(log.c1_s, 3e-6, 1e-6);
    FR_NEAR(log.c3_s, 5.2e-6, 1e-6);
}

/* Least of sum w (a u + b v - 1)^2 with a, b >= 0: the inside where that is it, else the better border. */
static void least_squares(const double *u, const double *v, const double *w, int n, double *a,
                          double *b) {
    double uu = 0, vv = 0, uv = 0, u1 = 0, v1 = 0, best = HUGE_VAL;
    for (int i = 0; i < n; i++) {
        uu += w[i] * u[i] * u[i], vv += w[i] * v[i] * v[i], uv += w[i] * u[i] * v[i];
        u1 += w[i] * u[i], v1 += w[i] * v[i];
    }
    double det = uu * vv - uv * uv;
    const double tries[3][2] = {{uu > 0 ? u1 / uu : -1, 0},
                                {0, vv > 0 ? v1 / vv : -1},
                                {(u1 * vv - v1 * uv) / det, (v1 * uu - u1 * uv) / det}};
    for (int k = 0; k < (det > 1e-12 * uu * vv ? 3 : 2); k++) {
        double squares = 0, x = tries[k][0], y = tries[k][1];
        if (!(x >= 0 && y >= 0)) continue;
        for (int i = 0; i < n; i++) squares += w[i] * pow(x * u[i] + y * v[i] - 1, 2);
        if (squares < best * (1 - 1e-12)) best = squares, *a = x, *b = y;
    }
}

/* Twelve rounds of it, what was off by more than a tenth weighing as much less. */
static void two_terms_are_as_brute_force_says(void **state) {
    uint64_t dice = 521288629362436069u;
    int inside = 0, level = 0, steep = 0;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        int n = 2 + round % 11, flat = round % 7 == 0, none = round % 13 == 0;
        double u[12], v[12], w[12], a = 0, b = 0, got_a = -1, got_b = -1;
        for (int i = 0; i < n; i++) {
            dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
            double size = flat ? 7 : 100.0 * (1 << i);
            double t = 1e-6 * pow(size, (round % 6) * 0.4) *
                       exp(0.002 * (double)(dice % (1 + round / 4)));
            u[i] = none ? 0 : 1 / t;
            v[i] = size / t;
            w[i] = 1;
        }
        for (int turn = 0; turn < 12; turn++) {
            least_squares(u, v, w, n, &a, &b);
            for (int i = 0; i < n; i++) w[i] = fmin(1, 0.1 / fabs(a * u[i] + b * v[i] - 1));
        }
        fr_fit_two_terms(u, v, n, &got_a, &got_b);
        FR_TRUE(fabs(got_a - a) <= 1e-6 * a && fabs(got_b - b) <= 1e-6 * b,
                "round %d: %g, %g, not %g, %g", round, got_a, got_b, a, b);
        inside += a > 0 && b > 0, level += b == 0, steep += a == 0;
    }
    FR_TRUE(inside > 200 && level > 200 && steep > 200, "%d, %d, %d", inside, level, steep);
    double u[2] = {0.5, 0.25}, none[2] = {0}, a = -1, b = -1;
    fr_fit_two_terms(u, none, 2, &a, &b);
    FR_TRUE(fabs(a - 2.4) < 0.5 && b == 0, "%g, %g", a, b);
    fr_fit_two_terms(none, none, 2, &a, &b);
    FR_TRUE(a == 0 && b == 0, "%g, %g", a, b);
}

/* Ranks of a point: within a node all of them; over nodes as many a node as stated, of two where that is not,
 * the last node being less than full. */
static void a_point_is_of_a_group(void **state) {
    static const int64_t rows[][4] = {/* level, ranks, nodes, ranks a node */
                                      {0, 8, 1, 8}, {0, 8, 0, 8},  {0, 8, 4, 8}, {1, 8, 2, 4},
                                      {1, 8, 0, 4}, {1, 8, 1, 4},  {1, 9, 2, 5}, {1, 9, 4, 3},
                                      {1, 2, 2, 1}, {2, 64, 8, 8}, {1, 3, 0, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fr_fit_point point = {
            .level = (int)rows[i][0], .n_ranks = rows[i][1], .n_nodes = rows[i][2]};
        struct fr_group group = fr_fit_group(&point);
        FR_TRUE(group.n_ranks == rows[i][1] && group.level == rows[i][0] &&
                    group.ranks_per_node == rows[i][3],
                "row %zu: %lld ranks a node", i, (long long)group.ranks_per_node);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_terms_are_found),
        cmocka_unit_test(an_outlier_pulls_no_harder_than_a_tenth),
        cmocka_unit_test(no_coefficient_is_negative),
        cmocka_unit_test(one_size_has_no_slope),
        cmocka_unit_test(pieces_begin_where_they_do),
        cmocka_unit_test(pieces_are_of_three_sizes),
        cmocka_unit_test(what_is_skipped_does_not_count),
        cmocka_unit_test(as_brute_force_says),
        cmocka_unit_test(one_piece_lies_where_it_explains_most),
        cmocka_unit_test(the_papers_form),
        cmocka_unit_test(two_terms_are_as_brute_force_says),
        cmocka_unit_test(a_point_is_of_a_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
