/* Fits of samples whose law is known, or of none at all: what they find is what was put in, and it is the
 * least that there is, by the conditions of Karush, Kuhn and Tucker, by GSL's own fits, and by trying all. */
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <stdlib.h>

#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "tests/cmocka.h"
#include "trust/numbers/statistics.h"

static double uniform(uint64_t *dice) {
    *dice ^= *dice << 13, *dice ^= *dice >> 7, *dice ^= *dice << 17;
    return (double)(*dice % 1000000007u) / 1000000007.0;
}
static int below(uint64_t *dice, int n) { return (int)(uniform(dice) * n); }
static double between(uint64_t *dice, double low, double high) {
    return low * pow(high / low, uniform(dice));
}

/* ---- c1 log2 p + c2 m + c3 -------------------------------------------------------------------- */

enum { POINTS = 64 };

struct logs {
    struct fr_fit_point point[POINTS];
    int n, skip;
    bool relative;
};

static double term(const struct fr_fit_point *p, int t) {
    return t == 0 ? log2((double)p->n_ranks) : t == 1 ? p->size_B : 1;
}

/* Samples have one rank count or several, one size or many; they follow the law, nearly, or not at all. */
static void draw_logs(uint64_t *dice, int round, struct logs *l) {
    double c[3], noise = round % 4 < 2 ? 0 : round % 4 == 2 ? 0.05 : 2;
    for (int t = 0; t < 3; t++)
        c[t] = uniform(dice) < 0.3 ? 0
                                   : between(dice, t == 1 ? 1e-11 : 1e-6, t == 1 ? 1e-9 : 1e-4);
    if (c[0] + c[2] == 0) c[0] = 1e-5;
    l->n = 1 + below(dice, round % 3 ? POINTS : 6);
    l->skip = round % 5 ? -1 : below(dice, l->n);
    l->relative = round / 2 % 2;
    int64_t one_count = round % 7 == 0 ? 8 : 0;
    double one_B = round % 11 == 0 ? 4096 : 0;
    for (int i = 0; i < l->n; i++) {
        struct fr_fit_point *p = &l->point[i];
        *p = (struct fr_fit_point){.op = FR_OP_ALL_REDUCE,
                                   .level = 1,
                                   .n_nodes = 2,
                                   .n_ranks = one_count ? one_count : 2 << below(dice, 5),
                                   .size_B = one_B > 0 ? one_B : floor(between(dice, 8, 1e7))};
        for (int t = 0; t < 3; t++) p->time_s += c[t] * term(p, t);
        p->time_s *= exp(noise * (uniform(dice) - 0.5));
    }
}

static int distinct(const struct logs *l) {
    bool ranks = false, sizes = false;
    for (int i = 1; i < l->n; i++) {
        ranks = ranks || l->point[i].n_ranks != l->point[0].n_ranks;
        sizes = sizes || l->point[i].size_B != l->point[0].size_B;
    }
    return 1 | sizes << 1 | ranks << 2;
}

/* Where the sum of squares is least over coefficients >= 0 its slope is 0 along those above 0, and not
 * downwards along those at 0. */
static void is_least(const struct logs *l, const double c[3], int terms) {
    for (int t = 0; t < 3; t++) {
        double slope = 0, scale = 0;
        for (int i = 0; i < l->n; i++) {
            const struct fr_fit_point *p = &l->point[i];
            double w = l->relative ? 1 / p->time_s : 1;
            if (i == l->skip) continue;
            double off = c[0] * term(p, 0) + c[1] * term(p, 1) + c[2] * term(p, 2) - p->time_s;
            slope += w * term(p, t) * w * off;
            scale += w * term(p, t) * w * p->time_s;
        }
        FR_TRUE(c[t] >= 0 && (terms >> t & 1 || c[t] == 0), "term %d: %g", t, c[t]);
        if (!(terms >> t & 1)) continue;
        FR_TRUE(c[t] > 0 ? fabs(slope) <= 1e-6 * scale : slope >= -1e-6 * scale,
                "term %d: %g, slope %g of %g", t, c[t], slope, scale);
    }
}

/* GSL's own, of all three terms and weights.  @return false: some coefficient is below 0 */
static bool by_gsl(const struct logs *l, double c[3]) {
    size_t rows = (size_t)(l->n - (l->skip >= 0)), row = 0;
    gsl_matrix *x = gsl_matrix_alloc(rows, 3), *covariance = gsl_matrix_alloc(3, 3);
    gsl_vector *y = gsl_vector_alloc(rows), *w = gsl_vector_alloc(rows),
               *found = gsl_vector_alloc(3);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(rows, 3);
    double squares = 0;
    for (int i = 0; i < l->n; i++) {
        const struct fr_fit_point *p = &l->point[i];
        if (i == l->skip) continue;
        for (int t = 0; t < 3; t++)
            gsl_matrix_set(x, row, (size_t)t, term(p, t) * (t == 1 ? 1e-6 : 1));
        gsl_vector_set(y, row, p->time_s);
        gsl_vector_set(w, row++, l->relative ? 1 / (p->time_s * p->time_s) : 1);
    }
    gsl_multifit_wlinear(x, w, y, found, covariance, &squares, work);
    for (int t = 0; t < 3; t++) c[t] = gsl_vector_get(found, (size_t)t) * (t == 1 ? 1e-6 : 1);
    gsl_matrix_free(x), gsl_matrix_free(covariance);
    gsl_vector_free(y), gsl_vector_free(w), gsl_vector_free(found);
    gsl_multifit_linear_free(work);
    return c[0] > 0 && c[1] > 0 && c[2] > 0;
}

static void lines_over_ranks_and_sizes(void **state) {
    uint64_t dice = 88172645463325252u;
    int fitted = 0, as_gsl = 0, few = 0;
    (void)state;
    for (int round = 0; round < 1200; round++) {
        static struct logs l;
        struct fr_fit_log log;
        double own[3];
        draw_logs(&dice, round, &l);
        int terms = distinct(&l), n_terms = (terms & 1) + (terms >> 1 & 1) + (terms >> 2),
            used = l.n - (l.skip >= 0);
        assert_int_equal(fr_fit_log_form(l.point, l.n, l.relative, l.skip, &log), FR_OK);
        FR_TRUE(log.present == (used > n_terms), "round %d: %d points, %d terms", round, used,
                n_terms);
        few += !log.present;
        if (!log.present) continue;
        fitted++;
        const double c[] = {log.c1_s, log.c2_s_per_B, log.c3_s};
        is_least(&l, c, terms);
        FR_NEAR(log.c1_s * 4 + log.c2_s_per_B * 1000 + log.c3_s, 4 * c[0] + 1000 * c[1] + c[2],
                1e-12);
        if (terms != 7 || !by_gsl(&l, own)) continue;
        as_gsl++;
        for (int t = 0; t < 3; t++) {
            bool shows = false; /* beside the others */
            for (int i = 0; i < l.n; i++)
                shows = shows || own[t] * term(&l.point[i], t) > 1e-6 * l.point[i].time_s;
            if (shows) FR_NEAR(c[t], own[t], 1e-5);
        }
    }
    FR_TRUE(fitted > 800 && as_gsl > 200 && few > 50, "%d, %d, %d", fitted, as_gsl, few);
}

/* Exact times give their coefficients back, and the fitter prices with them; what is more than a file may
 * state ends there. */
static void exact_coefficients_come_back(void **state) {
    static const double made[][3] = {
        {3e-6, 4e-11, 7e-6}, {3e-6, 0, 0}, {0, 1e-10, 5e-6}, {1e-4, 1e-9, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
        struct fr_fit_point point[40];
        struct fr_price price = {.op = FR_OP_REDUCE};
        for (int i = 0; i < 40; i++) {
            point[i] = (struct fr_fit_point){
                .op = FR_OP_REDUCE, .n_ranks = 2 << i % 4, .n_nodes = 1, .size_B = 8 << i / 2};
            for (int t = 0; t < 3; t++) point[i].time_s += made[k][t] * term(&point[i], t);
        }
        assert_int_equal(fr_fitter_log.fit(point, 40, false, &price), FR_OK);
        assert_ptr_equal(price.form, &fr_form_log);
        FR_TRUE(fabs(price.c1_s - made[k][0]) < 1e-12 && fabs(price.c3_s - made[k][2]) < 1e-12,
                "%zu: %g, %g", k, price.c1_s, price.c3_s);
        FR_TRUE(fabs(price.c2_s_per_B - made[k][1]) < 1e-6 * (made[k][1] + 1e-13), "%zu: %g", k,
                price.c2_s_per_B);
        for (int i = 0; i < 40; i++)
            FR_NEAR(fr_fit_price_s(&price, &point[i]), point[i].time_s, 1e-6);
        for (int i = 0; i < 40; i++) point[i].time_s *= 1e18;
        assert_int_equal(fr_fitter_log.fit(point, 40, false, &price), FR_OK);
        FR_TRUE(price.c1_s <= FR_COST_MAX_S && price.c3_s <= FR_COST_MAX_S &&
                    price.c2_s_per_B <= 1 / FR_RATE_MIN_B_PER_S && price.c1_s + price.c3_s > 0,
                "%zu: %g, %g, %g", k, price.c1_s, price.c2_s_per_B, price.c3_s);
        fr_price_free(&price);
    }
}

/* ---- pieces ------------------------------------------------------------------------------------ */

enum { SIZES = 12, PIECES = 6 };

struct line {
    double a, b, error;
};

/* Least squares of (a + b m)/t - 1 with a, b >= 0: GSL's where it has none below 0, else the better of the
 * two borders, of equals b = 0. */
static struct line line_of(const struct fr_fit_point *p, int n) {
    struct line line = {-1, -1, 0};
    double u1 = 0, uu = 0, v1 = 0, vv = 0;
    for (int i = 0; i < n; i++) {
        double u = 1 / p[i].time_s, v = p[i].size_B / p[i].time_s;
        u1 += u, uu += u * u, v1 += v, vv += v * v;
    }
    if (n > 1) {
        gsl_matrix *x = gsl_matrix_alloc((size_t)n, 2), *covariance = gsl_matrix_alloc(2, 2);
        gsl_vector *y = gsl_vector_alloc((size_t)n), *c = gsl_vector_alloc(2);
        gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc((size_t)n, 2);
        double squares = 0, scale = p[n - 1].size_B;
        for (int i = 0; i < n; i++) {
            gsl_matrix_set(x, (size_t)i, 0, 1 / p[i].time_s);
            gsl_matrix_set(x, (size_t)i, 1, p[i].size_B / scale / p[i].time_s);
            gsl_vector_set(y, (size_t)i, 1);
        }
        gsl_multifit_linear(x, y, c, covariance, &squares, work);
        line.a = gsl_vector_get(c, 0), line.b = gsl_vector_get(c, 1) / scale;
        gsl_matrix_free(x), gsl_matrix_free(covariance), gsl_vector_free(y), gsl_vector_free(c);
        gsl_multifit_linear_free(work);
    }
    if (n == 1 || line.a < 0 || line.b < 0) {
        double flat = 0, steep = 0, a = u1 / uu, b = v1 / vv;
        for (int i = 0; i < n; i++) {
            flat += pow(a / p[i].time_s - 1, 2);
            steep += pow(b * p[i].size_B / p[i].time_s - 1, 2);
        }
        bool rises = n > 1 && steep < flat;
        line.a = rises ? 0 : a, line.b = rises ? b : 0;
    }
    for (int i = 0; i < n; i++)
        line.error += fabs((line.a + line.b * p[i].size_B) / p[i].time_s - 1);
    return line;
}

/* All ways to cut what is left, from @p first on. */
static void cut(const struct fr_fit_point *p, int n, int first, int pieces, double error,
                double least[PIECES + 1]) {
    int shortest = n >= 6 ? 3 : n >= 2 ? 2 : 1;
    if (first == n && error < least[pieces]) least[pieces] = error;
    if (pieces == PIECES) return;
    for (int stop = first + shortest; stop <= n; stop++)
        cut(p, n, stop, pieces + 1, error + line_of(p + first, stop - first).error, least);
}

/* The Bayesian information criterion of Laplace's errors, two coefficients a piece and the breakpoints. */
static double criterion(double error, int n, int pieces) {
    return 2 * n * log(fmax(error / n, 0.005)) + (3 * pieces - 1) * log(n);
}

static int draw_curve(uint64_t *dice, int round, struct fr_fit_point *p) {
    int n = 1 + below(dice, SIZES), jump = 1 + below(dice, SIZES);
    double size_B = between(dice, 1, 100), a = between(dice, 1e-7, 1e-5),
           b = between(dice, 1e-12, 1e-9),
           noise = round % 3 == 0   ? 0
                   : round % 3 == 1 ? 0.02
                                    : 1.5;
    for (int i = 0; i < n; i++) {
        p[i] = (struct fr_fit_point){
            .op = FR_OP_ALL_REDUCE, .n_ranks = 8, .n_nodes = 1, .size_B = floor(size_B)};
        if (i == jump) a *= between(dice, 0.1, 30), b *= between(dice, 0.1, 10);
        p[i].time_s = (a + b * p[i].size_B) * exp(noise * (uniform(dice) - 0.5));
        size_B = size_B * between(dice, 1.5, 8) + 1;
    }
    return n;
}

/* As many pieces, cut where, and as steep as trying all says. */
static void pieces_are_the_best_of_all(void **state) {
    uint64_t dice = 362436069362436069u;
    int several = 0;
    (void)state;
    for (int round = 0; round < 240; round++) {
        struct fr_fit_point all[SIZES + 1], p[SIZES];
        struct fr_segment_fit fit;
        double least[PIECES + 1], best = HUGE_VAL, error = 0;
        int n = draw_curve(&dice, round, p), skip = round % 2 ? -1 : below(&dice, n + 1),
            chosen = 1;
        for (int i = 0, k = 0; i < n + 1; i++) { /* one more, which is left out */
            all[i] = i == skip || k == n ? p[0] : p[k];
            k += i != skip;
        }
        assert_int_equal(fr_fit_segments(skip < 0 ? p : all, n + (skip >= 0), skip, &fit),
                         FR_OK);
        for (int s = 0; s <= PIECES; s++) least[s] = HUGE_VAL;
        cut(p, n, 0, 0, 0, least);
        for (int s = 1; s <= PIECES; s++)
            if (least[s] < HUGE_VAL && criterion(least[s], n, s) < best - 1e-9)
                best = criterion(least[s], n, s), chosen = s;
        assert_int_equal(fit.count, chosen);
        FR_NEAR(fit.min_B, p[0].size_B, 0);
        FR_NEAR(fit.max_B, p[n - 1].size_B, 0);
        for (int s = 0, first = 0, stop; s < fit.count; s++, first = stop) {
            for (stop = first; stop < n && p[stop].size_B <= fit.segments[s].up_to_B;) stop++;
            struct line line = line_of(p + first, stop - first);
            FR_TRUE(fit.segments[s].up_to_B == p[stop - 1].size_B, "round %d: %g", round,
                    fit.segments[s].up_to_B);
            FR_TRUE(fabs(fit.segments[s].latency_s - line.a) <= 1e-6 * p[first].time_s,
                    "round %d: %g, %g", round, fit.segments[s].latency_s, line.a);
            FR_TRUE(fabs(fit.segments[s].s_per_B - line.b) * p[first].size_B <=
                        1e-6 * p[first].time_s,
                    "round %d: %g, %g", round, fit.segments[s].s_per_B, line.b);
            error += line.error;
        }
        FR_TRUE(error <= least[chosen] * (1 + 1e-6) + 1e-9, "round %d: %g of %g", round, error,
                least[chosen]);
        several += chosen > 1;
        free(fit.segments);
    }
    FR_TRUE(several > 40, "%d", several);
}

/* ---- two terms ------------------------------------------------------------------------------- */

/* a u + b v near 1 under Huber's weights, twelve times by GSL; of one term alone the other is 0. */
static void two_terms_as_gsl_has_them(void **state) {
    enum { N = 30 };
    uint64_t dice = 123456789123456789u;
    int inside = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        double u[N], v[N], weight[N], a = 0, b = 0, got_a, got_b, squares;
        int n = 2 + below(&dice, N - 1);
        bool border = false;
        gsl_matrix *x = gsl_matrix_alloc((size_t)n, 2), *covariance = gsl_matrix_alloc(2, 2);
        gsl_vector *y = gsl_vector_alloc((size_t)n), *c = gsl_vector_alloc(2),
                   *w = gsl_vector_alloc((size_t)n);
        gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc((size_t)n, 2);
        for (int i = 0; i < n; i++) {
            double m = between(&dice, 1, 1e6), t = 2 + 1e-3 * m;
            t *= uniform(&dice) < 0.2 ? between(&dice, 1, 10) : 1 + 0.05 * uniform(&dice);
            u[i] = 1 / t, v[i] = 1e-4 * m / t, weight[i] = 1;
            gsl_matrix_set(x, (size_t)i, 0, u[i]), gsl_matrix_set(x, (size_t)i, 1, v[i]);
            gsl_vector_set(y, (size_t)i, 1);
        }
        for (int turn = 0; turn < 12; turn++) {
            for (int i = 0; i < n; i++) gsl_vector_set(w, (size_t)i, weight[i]);
            gsl_multifit_wlinear(x, w, y, c, covariance, &squares, work);
            a = gsl_vector_get(c, 0), b = gsl_vector_get(c, 1);
            border = border || a < 0 || b < 0;
            for (int i = 0; i < n; i++)
                weight[i] = fmin(1, 0.1 / fabs(a * u[i] + b * v[i] - 1));
        }
        fr_fit_two_terms(u, v, n, &got_a, &got_b);
        if (!border) {
            FR_NEAR(got_a, a, 1e-6);
            FR_NEAR(got_b, b, 1e-6);
        }
        inside += !border;
        gsl_matrix_free(x), gsl_matrix_free(covariance), gsl_vector_free(y), gsl_vector_free(c);
        gsl_vector_free(w), gsl_multifit_linear_free(work);
    }
    FR_TRUE(inside > 150, "%d", inside);
    const double none[] = {0, 0, 0}, some[] = {2, 2, 2}, other[] = {4, 4, 4},
                 rising[] = {1, 2, 3}, falling[] = {3, 2, 1}, little[] = {0.01, 0.01, 0.01};
    const struct {
        const double *u, *v;
        double a, b;
    } want[] = {{none, some, 0, 0.5},   {some, none, 0.5, 0},   {none, none, 0, 0},
                {some, other, 0.5, 0},  {other, some, 0.25, 0}, {rising, falling, 0.25, 0.25},
                {some, rising, 0.5, 0}, {rising, some, 0, 0.5}, {none, little, 0, 100},
                {little, none, 100, 0}};
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        double a, b;
        fr_fit_two_terms(want[k].u, want[k].v, 3, &a, &b);
        FR_TRUE(fabs(a - want[k].a) < 1e-9 && fabs(b - want[k].b) < 1e-9, "%zu: %g, %g", k, a,
                b);
    }
}

/* ---- tables of products ---------------------------------------------------------------------- */

enum { SIDE = 5, CELLS = SIDE * SIDE * SIDE };
static const int64_t side[SIDE] = {8, 24, 64, 200, 4096};

/* A second hand's table: NAN where nothing is known, cell (i, j, k) at (i 5 + j) 5 + k. */
struct hand {
    double own[CELLS], taken[CELLS];
    bool gone[3][SIDE];
};

static int along(int cell, int axis) {
    return axis == 0 ? cell / (SIDE * SIDE) : axis == 1 ? cell / SIDE % SIDE : cell % SIDE;
}
static int step_of(int axis) { return axis == 0 ? SIDE * SIDE : axis == 1 ? SIDE : 1; }
static bool is_gone(const struct hand *h, int cell) {
    return h->gone[0][along(cell, 0)] || h->gone[1][along(cell, 1)] ||
           h->gone[2][along(cell, 2)];
}

/* log t by the nearest known on both sides, the mean over the axes that have both; NAN without. */
static double read_between(const struct hand *h, const double *known, int cell) {
    double sum = 0;
    int axes = 0;
    for (int axis = 0; axis < 3; axis++) {
        int at = along(cell, axis), low = at - 1, high = at + 1, step = step_of(axis);
#define KNOWN(i) (!isnan(known[cell + ((i)-at) * step]) && !h->gone[axis][i])
        while (low >= 0 && !KNOWN(low)) low--;
        while (high < SIDE && !KNOWN(high)) high++;
        if (low < 0 || high >= SIDE) continue;
        double share = log((double)side[at] / (double)side[low]) /
                       log((double)side[high] / (double)side[low]);
        sum += (1 - share) * log(known[cell + (low - at) * step]) +
               share * log(known[cell + (high - at) * step]);
        axes++;
    }
    return axes ? exp(sum / axes) : NAN;
}

/* In turns, each from what was known before it; then the planes with the largest share of holes go. */
static void by_hand(struct hand *h) {
    for (bool more = true; more;) {
        double known[CELLS];
        more = false;
        for (int c = 0; c < CELLS; c++) known[c] = isnan(h->own[c]) ? h->taken[c] : h->own[c];
        for (int c = 0; c < CELLS; c++)
            if (isnan(known[c])) {
                h->taken[c] = read_between(h, known, c);
                more = more || !isnan(h->taken[c]);
            }
    }
    for (;;) {
        double worst = 0;
        int axis = -1, index = 0;
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < SIDE; i++) {
                int holes = 0, all = 0;
                for (int c = 0; c < CELLS; c++) {
                    if (along(c, a) != i || is_gone(h, c)) continue;
                    all++;
                    holes += isnan(h->own[c]) && isnan(h->taken[c]);
                }
                double share = all ? (double)holes / all : 0;
                if (share <= worst * (1 + 1e-12)) continue;
                worst = share, axis = a, index = i;
            }
        if (axis < 0) return;
        h->gone[axis][index] = true;
        bool left = false;
        for (int i = 0; i < SIDE; i++) left = left || !h->gone[axis][i];
        for (int a = 0; a < 3 && !left; a++)
            for (int i = 0; i < SIDE; i++) h->gone[a][i] = true;
    }
}

static int ascending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* A size beyond the largest takes the time of the size before, scaled by the work, in logarithms a doubling, their
 * median over that of a normal spread. */
static void is_reported_beyond(const struct fr_fit_gemm *g) {
    const int count[] = {g->n_m, g->n_n, g->n_k};
    double off[3 * CELLS];
    int n = 0;
    for (int m = 0; m < g->n_m; m++)
        for (int k = 0; k < g->n_n; k++)
            for (int l = 0; l < g->n_k; l++) {
                const int at[] = {m, k, l};
                for (int a = 0; a < 3; a++) {
                    const int64_t *sizes = a == 0 ? g->m : a == 1 ? g->n : g->k;
                    int from[] = {m, k, l};
                    if (--from[a] < 0 || at[a] != count[a] - 1) continue;
                    double doublings = log2((double)sizes[at[a]] / (double)sizes[from[a]]),
                           grown = g->time_s[(m * g->n_n + k) * g->n_k + l] /
                                   g->time_s[(from[0] * g->n_n + from[1]) * g->n_k + from[2]];
                    off[n++] = fabs(log(grown) / doublings - log(2));
                }
            }
    qsort(off, (size_t)n, sizeof *off, ascending);
    double stated = n ? fmin(10, 0.5 * (off[(n - 1) / 2] + off[n / 2]) / 0.6745) : 0;
    FR_TRUE(fabs(g->beyond_octave - stated) <= 1e-9 * stated, "%g, %g", g->beyond_octave,
            stated);
}

static void same_table(const struct fr_fit_gemm *g, const struct hand *h, int round) {
    int kept[3] = {0}, filled = 0, dropped = 0, n = 0, at = 0;
    double errors[CELLS], squares = 0;
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < SIDE; i++) {
            const int64_t *sizes = a == 0 ? g->m : a == 1 ? g->n : g->k;
            int count = a == 0 ? g->n_m : a == 1 ? g->n_n : g->n_k;
            if (h->gone[a][i]) continue;
            FR_TRUE(kept[a] < count && sizes[kept[a]] == side[i], "round %d: axis %d", round,
                    a);
            kept[a]++;
        }
    assert_true(g->n_m == kept[0] && g->n_n == kept[1] && g->n_k == kept[2]);
    for (int c = 0; c < CELLS; c++) {
        dropped += is_gone(h, c) && !isnan(h->own[c]);
        if (is_gone(h, c)) continue;
        FR_NEAR(g->time_s[at++], isnan(h->own[c]) ? h->taken[c] : h->own[c], 1e-9);
        filled += isnan(h->own[c]);
        double without_s = isnan(h->own[c]) ? NAN : read_between(h, h->own, c);
        if (isnan(without_s)) continue;
        squares += pow(log2(without_s / h->own[c]), 2);
        errors[n++] = fabs(without_s / h->own[c] - 1);
    }
    FR_TRUE(g->n_filled == filled && g->n_dropped == dropped, "round %d: %d, %d", round,
            g->n_filled, g->n_dropped);
    assert_int_equal(g->quality.n, n);
    is_reported_beyond(g);
    if (n == 0) return;
    qsort(errors, (size_t)n, sizeof *errors, ascending);
    FR_NEAR(g->quality.median, 0.5 * (errors[(n - 1) / 2] + errors[n / 2]), 1e-9);
    FR_NEAR(g->quality.rmse_log2, sqrt(squares / n), 1e-9);
}

static void tables_with_holes(void **state) {
    uint64_t dice = 521288629521288629u;
    const struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
    int dropped = 0, filled = 0;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct fr_sample_gemm item[CELLS];
        struct fr_samples samples = {.gemm = item};
        struct fr_fit_gemm g = {.n_m = 0};
        struct hand h = {.own = {0}};
        double holes = round % 4 * 0.3;
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < SIDE; i++) h.gone[a][i] = true; /* until one is measured */
        for (int c = 0; c < CELLS; c++) {
            h.own[c] = h.taken[c] = NAN;
            if (uniform(&dice) < holes) continue;
            struct fr_sample_gemm *s = &item[samples.n_gemm++];
            *s = (struct fr_sample_gemm){.dtype = FR_FP32, .batch = 1};
            s->m = side[along(c, 0)], s->n = side[along(c, 1)], s->k = side[along(c, 2)];
            s->time_s = h.own[c] = between(&dice, 1e-6, 1e-3);
            for (int a = 0; a < 3; a++) h.gone[a][along(c, a)] = false;
        }
        by_hand(&h);
        assert_int_equal(fr_fit_gemm_table(&samples, &speed, FR_FP32, &g), FR_OK);
        same_table(&g, &h, round);
        filled += g.n_filled, dropped += g.n_dropped;
        fr_fit_gemm_free(&g);
    }
    FR_TRUE(filled > 500 && dropped > 500, "%d filled, %d dropped", filled, dropped);
}

/* From memory: what was measured over the largest set, by the speed of memory at that time; of what is too large to
 * tell, what it takes alone. */
static void what_is_large_is_as_alone(void **state) {
    enum { LENGTHS = 4, ALL = LENGTHS * LENGTHS * LENGTHS };
    static const int64_t length[LENGTHS] = {128, 256, 512, 2048};
    uint64_t dice = 159753159753159753u;
    (void)state;
    for (int round = 0; round < 20; round++) {
        const struct fr_fit_speed speed = {
            .usual_products = 1, .usual_memory = 1, .streams = 1 + round % 3};
        struct fr_sample_gemm alone[ALL];
        struct fr_sample_memory over[2 * ALL];
        struct fr_samples samples = {.gemm = alone, .n_gemm = ALL, .memory = over};
        struct fr_fit_gemm g = {.n_m = 0}, from = {.n_m = 0};
        double want_s[ALL], small_B = 64e6, large_B = 256e6;
        for (int c = 0; c < ALL; c++) {
            const int64_t shape[] = {length[c / 16], length[c / 4 % 4], length[c % 4]};
            bool large = shape[0] >= 512 && shape[1] >= 512 && shape[2] >= 512;
            alone[c] = (struct fr_sample_gemm){.dtype = FR_FP32,
                                               .m = shape[0],
                                               .n = shape[1],
                                               .k = shape[2],
                                               .batch = 1,
                                               .time_s = between(&dice, 1e-6, 1e-3)};
            want_s[c] = large ? alone[c].time_s : between(&dice, 1e-6, 1e-3);
            for (int set = 0; set < 2 && !large; set++) /* of the smaller nobody asks */
                over[samples.n_memory++] =
                    (struct fr_sample_memory){.kernel = FR_TRAFFIC_OPERANDS,
                                              .size_B = set ? small_B : large_B,
                                              .moved_B = 1e6,
                                              .m = shape[0],
                                              .n = shape[1],
                                              .k = shape[2],
                                              .time_s = set ? 1 : want_s[c] * speed.streams};
        }
        assert_int_equal(fr_fit_gemm_table(&samples, &speed, FR_FP32, &g), FR_OK);
        assert_int_equal(fr_fit_gemm_from_memory(&samples, &speed, &g, &from), FR_OK);
        assert_true(from.n_m == LENGTHS && from.n_n == LENGTHS && from.n_k == LENGTHS);
        for (int c = 0; c < ALL; c++) {
            FR_NEAR(g.time_s[c], alone[c].time_s, 1e-12);
            FR_NEAR(from.time_s[c], want_s[c], 1e-12);
        }
        is_reported_beyond(&from);
        assert_true(g.beyond_octave == from.beyond_octave);
        fr_fit_gemm_free(&g), fr_fit_gemm_free(&from);
    }
}

/* Where no product was timed alone there is no table from memory beside, whatever was timed so. */
static void nothing_alone_nothing_from_memory(void **state) {
    enum { LENGTHS = 3, ALL = LENGTHS * LENGTHS * LENGTHS };
    const struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
    struct fr_sample_memory over[ALL];
    struct fr_sample_gemm alone[ALL];
    struct fr_samples samples = {.gemm = alone, .memory = over, .n_memory = ALL};
    (void)state;
    for (int c = 0; c < ALL; c++) {
        const int64_t m = 64 << c / 9, n = 64 << c / 3 % 3, k = 64 << c % 3;
        over[c] = (struct fr_sample_memory){.kernel = FR_TRAFFIC_OPERANDS,
                                            .size_B = 64e6,
                                            .moved_B = 1e6,
                                            .m = m,
                                            .n = n,
                                            .k = k,
                                            .time_s = 1e-6 * (c + 1)};
        alone[c] = (struct fr_sample_gemm){
            .dtype = FR_FP32, .m = m, .n = n, .k = k, .batch = 1, .time_s = 1e-6 * (c + 1)};
    }
    for (samples.n_gemm = 0; samples.n_gemm <= ALL; samples.n_gemm += ALL) {
        struct fr_fit_gemm g = {.n_m = 0}, from = {.n_m = 0};
        assert_int_equal(fr_fit_gemm_table(&samples, &speed, FR_FP32, &g), FR_OK);
        assert_int_equal(fr_fit_gemm_from_memory(&samples, &speed, &g, &from), FR_OK);
        assert_int_equal(from.n_m, samples.n_gemm ? LENGTHS : 0);
        fr_fit_gemm_free(&g), fr_fit_gemm_free(&from);
    }
}

/* ---- rates of working sets ------------------------------------------------------------------- */

/* A kind's time a byte over each set, ascending; where it was not measured it is as slow as a stream, and no faster
 * than over the next smaller set; over none is it longer than over any larger. */
static void rates_of_working_sets(void **state) {
    enum { SETS = 8, MOST = SETS * FR_TRAFFIC_OPERANDS * 2 };
    const struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
    uint64_t dice = 314159265358979u;
    int missing = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct fr_sample_memory item[MOST];
        struct fr_samples samples = {.memory = item};
        struct fr_fit_working_sets sets;
        double size_B[SETS], made[FR_TRAFFIC_OPERANDS][SETS], moved_B;
        int n = 1 + below(&dice, SETS), turn = below(&dice, n);
        for (int i = 0; i < n; i++) size_B[i] = i ? 3 * size_B[i - 1] : 1e6;
        for (int k = 0; k < FR_TRAFFIC_OPERANDS; k++)
            for (int at = 0; at < n; at++) {
                int i = (at + turn) % n; /* in any order */
                made[k][i] = k != FR_TRAFFIC_STREAM && uniform(&dice) < 0.5
                                 ? -1
                                 : between(&dice, 1e-12, 1e-9);
                moved_B = size_B[i] * (1 + below(&dice, 3));
                for (int twice = 0; twice < 2 && made[k][i] > 0; twice++)
                    item[samples.n_memory++] =
                        (struct fr_sample_memory){.kernel = k,
                                                  .size_B = size_B[i],
                                                  .moved_B = moved_B,
                                                  .time_s = made[k][i] * moved_B};
            }
        assert_int_equal(fr_fit_working_sets(&samples, &speed, &sets), FR_OK);
        assert_int_equal(sets.n, n);
        for (int i = 0; i < n; i++) {
            assert_true(sets.size_B[i] == size_B[i]);
            for (int k = 0; k < FR_TRAFFIC_OPERANDS; k++) {
                missing += made[k][i] < 0;
                if (made[k][i] < 0)
                    made[k][i] = fmax(made[FR_TRAFFIC_STREAM][i], i ? made[k][i - 1] : 0);
            }
        }
        for (int k = 0; k < FR_TRAFFIC_OPERANDS; k++)
            for (int i = n - 1; i >= 0; i--) {
                double least = made[k][i];
                for (int larger = i + 1; larger < n; larger++)
                    least = fmin(least, made[k][larger]);
                FR_NEAR(sets.s_per_B[k][i], least, 1e-9);
            }
    }
    FR_TRUE(missing > 500, "%d", missing);
}

/* An axis holds 64 sizes, the first that are read: shapes of others are in no table, nor in its cells. */
static void an_axis_has_an_end(void **state) {
    enum { MANY = 70 };
    const struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        struct fr_sample_gemm item[MANY];
        struct fr_samples samples = {.gemm = item, .n_gemm = MANY};
        struct fr_fit_gemm g = {.n_m = 0};
        for (int i = 0; i < MANY; i++) {
            int64_t size[] = {16, 16, 16};
            size[axis] = 1000 - i; /* the last that are read are the smallest */
            item[i] = (struct fr_sample_gemm){.dtype = FR_FP32,
                                              .m = size[0],
                                              .n = size[1],
                                              .k = size[2],
                                              .batch = 1,
                                              .time_s = 1e-6 * (double)size[axis]};
        }
        assert_int_equal(fr_fit_gemm_table(&samples, &speed, FR_FP32, &g), FR_OK);
        assert_int_equal(g.n_m * g.n_n * g.n_k, 64);
        const int64_t *sizes = axis == 0 ? g.m : axis == 1 ? g.n : g.k;
        for (int i = 0; i < 64; i++) {
            assert_int_equal(sizes[i], 1000 - 63 + i);
            FR_NEAR(g.time_s[i], 1e-6 * (double)sizes[i], 1e-12);
        }
        fr_fit_gemm_free(&g);
    }
}

/* ---- what interrupts ------------------------------------------------------------------------- */

/* Windows of some lengths, n of each, of which k were longer by d: the rate makes that likeliest. */
struct windows {
    double own_s[3];
    int n, disturbed[3];
    double ranks;
};

static double slope(double log_lambda, void *with) {
    const struct windows *w = with;
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double seen = w->ranks * w->own_s[i], calm = exp(-exp(log_lambda) * seen);
        sum += seen * (w->disturbed[i] * calm / (1 - calm) - (w->n - w->disturbed[i]));
    }
    return sum;
}

static void the_rate_is_the_likeliest(void **state) {
    enum { N = 40 };
    static const int disturbed[][3] = {{2, 3, 5}, {1, 0, 0}, {0, 4, 8}, {6, 6, 6}};
    static const double lost_s = 0.3e-3;
    (void)state;
    for (int k = 0; k < 8; k++) {
        struct windows w = {{0.6e-3, 1e-3, 2e-3}, N, {0}, k % 2 ? 4 : 1};
        struct fr_sample_gemm item[3 * N];
        struct fr_samples samples = {
            .gemm = item, .n_gemm = 3 * N, .provenance.ranks = k % 2 ? 4 : 1};
        struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
        double own_s = 0, all_lost_s = 0;
        memcpy(w.disturbed, disturbed[k / 2], sizeof w.disturbed);
        for (int i = 0; i < 3 * N; i++) {
            bool longer = i / 3 % 10 + i / 30 * 10 < w.disturbed[i % 3];
            item[i] =
                (struct fr_sample_gemm){.dtype = FR_FP32, .m = 16 << i % 3, .n = 16, .k = 16};
            item[i].time_s = w.own_s[i % 3] + (longer ? lost_s : 0);
            own_s += w.own_s[i % 3], all_lost_s += longer ? lost_s : 0;
        }
        gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
        gsl_function f = {slope, &w};
        gsl_root_fsolver_set(solver, &f, log(1e-3), log(1e5));
        for (int turn = 0; turn < 100; turn++) gsl_root_fsolver_iterate(solver);
        double lambda = exp(gsl_root_fsolver_root(solver));
        gsl_root_fsolver_free(solver);
        assert_int_equal(fr_fit_interruptions(&samples, &speed), FR_OK);
        FR_NEAR(speed.interruptions.every_s, 1 / lambda, 1e-6);
        /* Fewer than are expected of two stretches: one share of all, and each as long as it takes. */
        double expected = 0;
        for (int i = 0; i < 3; i++)
            expected += N * fr_poisson_max(lambda * w.own_s[i], w.ranks);
        assert_true(expected < 32);
        FR_NEAR(speed.lost, all_lost_s / own_s, 1e-9);
        FR_NEAR(speed.interruptions.length_s, all_lost_s / expected, 1e-6);
        if (w.ranks == 1) FR_NEAR(expected, lambda * own_s, 1e-9);
        FR_NEAR(speed.ranks, w.ranks, 0);
        FR_NEAR(speed.usual_products, 1, 1e-12);
        fr_fit_speed_free(&speed);
    }
}

/* A timing that scatters about its own time is no interruption: the limit follows how far timings below it lie, and
 * is a fiftieth at least. */
static void scatter_interrupts_nobody(void **state) {
    enum { N = 45 };
    static const double widths[] = {0.001, 0.01, 0.03, 0.05};
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int longer = 0; longer < 2; longer++) {
            struct fr_sample_gemm item[N];
            struct fr_samples samples = {.gemm = item, .n_gemm = N, .provenance.ranks = 1};
            struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1, .lost = 0.7};
            for (int i = 0; i < N; i++) {
                item[i] = (struct fr_sample_gemm){.dtype = FR_FP32, .m = 16, .n = 16, .k = 16};
                item[i].time_s = 1e-3 * (1 + widths[k] * (i % 9 - 4) / 4);
                if (longer && i < 3) item[i].time_s = 1.6e-3;
            }
            assert_int_equal(fr_fit_interruptions(&samples, &speed), FR_OK);
            FR_TRUE((speed.interruptions.every_s > 0) == longer, "%g: every %g s", widths[k],
                    speed.interruptions.every_s);
            if (longer)
                FR_NEAR(speed.lost, 3 * 0.6 / N, 0.1);
            else
                assert_true(speed.lost == 0); /* whatever was thought before */
            fr_fit_speed_free(&speed);
        }
}

/* With a scatter of some percent, a window is interrupted from five scaled median deviations of those below its own
 * time. */
static void five_deviations_are_an_interruption(void **state) {
    enum { N = 45 };
    static const double beyond[] = {3, 4.5, 5.5, 8};
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct fr_sample_gemm item[N];
        double sorted_s[N], last_s = 1;
        struct fr_samples samples = {.gemm = item, .n_gemm = N, .provenance.ranks = 1};
        struct fr_fit_speed speed = {.usual_products = 1, .usual_memory = 1};
        for (int turn = 0; turn < 50;
             turn++) { /* the last one moves the others' own time, too */
            for (int i = 0; i < N; i++) sorted_s[i] = 1e-3 * (1 + 0.05 * (i % 9 - 4) / 4);
            sorted_s[N - 1] = last_s;
            fr_sort(sorted_s, N);
            double own_s = fr_sorted_own(sorted_s, N);
            size_t below = 0;
            while (below < N && sorted_s[below] <= own_s) below++;
            double spread_s = own_s - fr_sorted_median(sorted_s, below);
            assert_true(spread_s > 0.003 * own_s);
            last_s = own_s + beyond[k] * 1.4826 * spread_s;
        }
        for (int i = 0; i < N; i++)
            item[i] = (struct fr_sample_gemm){
                .dtype = FR_FP32, .m = 16, .n = 16, .k = 16, .time_s = sorted_s[i]};
        assert_int_equal(fr_fit_interruptions(&samples, &speed), FR_OK);
        FR_TRUE((speed.interruptions.every_s > 0) == (beyond[k] > 5), "%g: every %g s",
                beyond[k], speed.interruptions.every_s);
        fr_fit_speed_free(&speed);
    }
}

/* ---- shared links ------------------------------------------------------------------------------ */

/* n pairs at once over a link that s of them share take min(n, s) times as long but for the latency; what is
 * asked for is the share of a node that one link serves.  Other levels, directions and sizes say nothing, nor
 * does a message that takes no longer than none, and then what was assumed stays. */
static void links_are_shared_by_as_many_as_made_it(void **state) {
    uint64_t dice = 192837465192837465u;
    int stated = 0;
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct fr_sample_pairs item[64];
        struct fr_samples samples = {.pairs = item};
        int64_t shared = 1 + below(&dice, 8), most = 1 << below(&dice, 4),
                per_node = 1 + below(&dice, 8), got = 77;
        bool hides = round % 10 == 1, quick = round % 10 == 2; /* alone; together */
        double latency_s = 2e-6, beta = round % 10 ? between(&dice, 1e-10, 1e-9) : 0;
        for (int64_t pairs = most; pairs > 0; pairs /= 2)
            for (double size_B = 8; size_B < 1e7; size_B *= 4096)
                for (int other = 0; other < 3; other++) {
                    double slower = pairs < shared ? (double)pairs : (double)shared;
                    item[samples.n_pairs++] = (struct fr_sample_pairs){
                        .level = other != 1,
                        .direction = other == 2,
                        .n_pairs = pairs,
                        .size_B = size_B,
                        .time_s = other ? 1e-3 * uniform(&dice)
                                        : latency_s + (size_B - 8) * beta * slower *
                                                          (pairs == 1 ? !hides : !quick)};
                }
        assert_int_equal(fr_fit_shared_by(&samples, 1, per_node, &got), FR_OK);
        double slower = shared < most ? (double)shared : (double)most;
        double share = slower * (double)per_node / (double)most;
        int64_t want = llround(share);
        if (fabs(share - floor(share) - 0.5) < 1e-6) continue; /* either */
        want = want < 1 ? 1 : want > per_node ? per_node : want;
        bool tells = most > 1 && beta > 0 && !hides && !quick;
        FR_TRUE(got == (tells ? want : 77), "round %d: %d, want %d", round, (int)got,
                (int)want);
        stated += got != 77;
    }
    FR_TRUE(stated > 200, "%d", stated);
}

/* ---- power ------------------------------------------------------------------------------------ */

/* Each state's median over windows that a meter saw, a rank's share; the worst of their qualities. */
static void power_is_a_median(void **state) {
    uint64_t dice = 975312468975312468u;
    const struct fr_fit_options options = {.busy_W = -1, .idle_W = -1};
    (void)state;
    for (int round = 0; round < 200; round++) {
        enum { MOST = 30 };
        struct fr_sample_power item[MOST] = {{0}};
        struct fr_samples samples = {.power = item,
                                     .n_power = (size_t)(1 + below(&dice, MOST))};
        struct fr_fit_result r = {.busy_W = 0};
        double seen[FR_POWER_STATES][MOST], median_W[FR_POWER_STATES];
        int n[FR_POWER_STATES] = {0}, worst = FR_QUALITY_MEASURED;
        for (size_t i = 0; i < samples.n_power; i++) {
            struct fr_sample_power *s = &item[i];
            s->state = below(&dice, FR_POWER_STATES),
            s->quality = below(&dice, round % 2 ? 2 : 4);
            s->n_ranks = 1 + below(&dice, 4), s->power_W = between(&dice, 100, 300);
            snprintf(s->meter, sizeof s->meter, "meter");
            if (s->quality == FR_QUALITY_UNAVAILABLE) continue;
            seen[s->state][n[s->state]++] = s->power_W / (double)s->n_ranks;
            if (s->state <= FR_POWER_COMMUNICATING)
                worst = s->quality > worst ? s->quality : worst;
        }
        for (int s = 0; s < FR_POWER_STATES; s++) {
            qsort(seen[s], (size_t)n[s], sizeof **seen, ascending);
            median_W[s] = n[s] ? 0.5 * (seen[s][(n[s] - 1) / 2] + seen[s][n[s] / 2]) : NAN;
        }
        assert_int_equal(fr_fit_power(&samples, &options, &r), FR_OK);
        bool metered = n[FR_POWER_BUSY] && n[FR_POWER_IDLE];
        FR_NEAR(r.busy_W, metered ? median_W[FR_POWER_BUSY] : 6.3, 1e-12);
        FR_NEAR(r.idle_W, metered ? fmin(median_W[FR_POWER_IDLE], r.busy_W) : 1.6, 1e-12);
        FR_NEAR(r.communicating_W,
                metered && n[FR_POWER_COMMUNICATING]
                    ? fmax(median_W[FR_POWER_COMMUNICATING], r.idle_W)
                    : -1,
                1e-12);
        assert_int_equal(r.power_quality, metered ? worst : FR_QUALITY_ESTIMATED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_over_ranks_and_sizes),
        cmocka_unit_test(exact_coefficients_come_back),
        cmocka_unit_test(pieces_are_the_best_of_all),
        cmocka_unit_test(two_terms_as_gsl_has_them),
        cmocka_unit_test(tables_with_holes),
        cmocka_unit_test(what_is_large_is_as_alone),
        cmocka_unit_test(nothing_alone_nothing_from_memory),
        cmocka_unit_test(rates_of_working_sets),
        cmocka_unit_test(an_axis_has_an_end),
        cmocka_unit_test(the_rate_is_the_likeliest),
        cmocka_unit_test(scatter_interrupts_nobody),
        cmocka_unit_test(five_deviations_are_an_interruption),
        cmocka_unit_test(links_are_shared_by_as_many_as_made_it),
        cmocka_unit_test(power_is_a_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
