/* Rows that share what the model misses: against the same distribution written out in full, laws that hold whatever
 * the numbers, and coverage of what was drawn as it is assumed to be. */
#include "trust/numbers/effects.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka.h"
#include "trust/numbers/components.h"

enum { N = 30, C = 3 };

struct rows {
    double jacobian[C * N], error[N], weight[N], times[N], sigma[C], stated[2 * C];
    int of[C], group[FR_EFFECT_ROW][N];
    struct fr_effects_rows view;
};

/* Four models and five plans that cross, two sequences of some, two releases of each. */
static void make(gsl_rng *rng, struct rows *r) {
    for (int i = 0; i < N; i++) {
        r->weight[i] = 0.5 + i % 3;
        r->group[FR_EFFECT_MODEL][i] = i % 4;
        r->group[FR_EFFECT_PLAN][i] = i % 5;
        r->group[FR_EFFECT_KIND][i] = i % 20;
        r->group[FR_EFFECT_RELEASE][i] = i;
        r->times[i] = i % 4 == 2 ? 4 : 1;
        r->error[i] = gsl_ran_gaussian(rng, 0.1);
        for (int k = 0; k < C; k++) r->jacobian[k * N + i] = gsl_ran_gaussian(rng, 0.5);
    }
    for (int i = 20; i < N; i += 2) r->group[FR_EFFECT_RELEASE][i] = i - 20;
    for (int k = 0; k < C; k++) {
        r->sigma[k] = 0.1 + 0.2 * k;
        r->of[k] = k < 2 ? FR_EFFECT_DEVICE : FR_EFFECT_NETWORK;
    }
    r->view = (struct fr_effects_rows){
        N,         C,         r->jacobian,
        r->error,  r->weight, r->times,
        r->sigma,  r->of,     {r->group[0], r->group[1], r->group[2], r->group[3]},
        r->stated, 0};
}

/* Two sums of coefficients known beforehand. */
static void tell(gsl_rng *rng, struct rows *r) {
    for (int k = 0; k < 2 * C; k++) r->stated[k] = gsl_ran_gaussian(rng, 8);
    r->view.n_known = 2;
}

static const double sd[FR_EFFECTS] = {0.05, 0.03, 0.04, 0.06, 0.02, 0.7, 1.3};

/* Coefficients' covariance before any row: each stated sum takes (P g) (P g)' / (1 + g' P g) from it. */
static void priors(const struct rows *r, double p[C][C]) {
    for (int a = 0; a < C; a++)
        for (int b = 0; b < C; b++) p[a][b] = a == b ? pow(r->sigma[a] * sd[r->of[a]], 2) : 0;
    for (size_t t = 0; t < r->view.n_known; t++) {
        const double *g = r->stated + t * C;
        double pg[C], of = 1;
        for (int a = 0; a < C; a++) {
            pg[a] = 0;
            for (int b = 0; b < C; b++) pg[a] += p[a][b] * g[b];
            of += g[a] * pg[a];
        }
        for (int a = 0; a < C; a++)
            for (int b = 0; b < C; b++) p[a][b] -= pg[a] * pg[b] / of;
    }
}

/* Covariance of two rows' errors, coefficients and all. */
static double between(const struct rows *r, int i, int j) {
    double sum = i == j ? sd[FR_EFFECT_ROW] * sd[FR_EFFECT_ROW] / r->weight[i] : 0;
    double p[C][C];
    priors(r, p);
    for (int a = 0; a < C; a++)
        for (int b = 0; b < C; b++)
            sum += r->jacobian[a * N + i] * p[a][b] * r->jacobian[b * N + j];
    for (int level = 0; level < FR_EFFECT_ROW; level++) {
        double times = level == FR_EFFECT_RELEASE ? 1 : r->times[i] * r->times[j];
        if (r->group[level][i] == r->group[level][j]) sum += times * sd[level] * sd[level];
    }
    return sum;
}

/* ln of the normal density of the rows' errors, and the coefficients' distribution given them: mean -P J K^-1 e,
 * covariance P - P J K^-1 J' P, with K the covariance of the rows and P that of the priors. */
static void written_out(bool stated) {
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct rows r;
    double mean[C], covariance[C * C], p[C][C];
    make(rng, &r);
    if (stated) tell(rng, &r);
    priors(&r, p);
    struct fr_effects *effects = fr_effects_make(&r.view);
    assert_non_null(effects);
    double got = fr_effects_at(effects, sd, mean, covariance);
    gsl_matrix *k = gsl_matrix_alloc(N, N);
    gsl_vector *e = gsl_vector_alloc(N), *x = gsl_vector_alloc(N);
    for (int i = 0; i < N; i++) {
        gsl_vector_set(e, (size_t)i, r.error[i]);
        for (int j = 0; j < N; j++) gsl_matrix_set(k, (size_t)i, (size_t)j, between(&r, i, j));
    }
    gsl_linalg_cholesky_decomp1(k);
    gsl_linalg_cholesky_solve(k, e, x);
    double square, wanted = -0.5 * N * log(2 * 3.14159265358979323846);
    gsl_blas_ddot(e, x, &square);
    wanted -= square / 2;
    for (size_t i = 0; i < N; i++) wanted -= log(gsl_matrix_get(k, i, i));
    FR_TRUE(fabs(got - wanted) < 1e-8 * fabs(wanted), "ln L: got %.12g, wanted %.12g", got,
            wanted);
    gsl_linalg_cholesky_invert(k);
    double shares[C][N]; /* what a coefficient has in common with each row */
    for (int a = 0; a < C; a++)
        for (int i = 0; i < N; i++) {
            shares[a][i] = 0;
            for (int b = 0; b < C; b++) shares[a][i] += p[a][b] * r.jacobian[b * N + i];
        }
    for (int a = 0; a < C; a++) {
        double sum = 0;
        for (int i = 0; i < N; i++) sum -= shares[a][i] * gsl_vector_get(x, (size_t)i);
        FR_TRUE(fabs(mean[a] - sum) < 1e-9, "mean %d: got %g, wanted %g", a, mean[a], sum);
        for (int b = 0; b < C; b++) {
            double value = p[a][b];
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < N; j++)
                    value -= shares[a][i] * gsl_matrix_get(k, i, j) * shares[b][j];
            FR_TRUE(fabs(covariance[a * C + b] - value) < 1e-9, "%d, %d: got %g, wanted %g", a,
                    b, covariance[a * C + b], value);
        }
    }
    gsl_matrix_free(k);
    gsl_vector_free(e);
    gsl_vector_free(x);
    fr_effects_free(effects);
    gsl_rng_free(rng);
}

static void as_written_out(void **state) {
    (void)state;
    written_out(false);
}

/* With sums of coefficients that are known beforehand. */
static void what_is_told_as_written_out(void **state) {
    (void)state;
    written_out(true);
}

/* Models and plans too: given the rows, each is normal with mean -S_u K^-1 e and covariance S - S_u K^-1 S_u', with
 * S_u what an unknown shares with each row. */
static void of_models_and_plans(void **state) {
    enum { ALL = C + 9, FIRST_PLAN = C + 4 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct rows r;
    double mean[ALL], covariance[ALL * ALL], shares[ALL][N];
    (void)state;
    make(rng, &r);
    struct fr_effects *effects = fr_effects_make(&r.view);
    assert_int_equal(fr_effects_unknowns(effects), ALL);
    assert_true(isfinite(fr_effects_all(effects, sd, mean, covariance)));
    gsl_matrix *k = gsl_matrix_alloc(N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) gsl_matrix_set(k, (size_t)i, (size_t)j, between(&r, i, j));
    gsl_linalg_cholesky_decomp1(k);
    gsl_linalg_cholesky_invert(k);
    double own[ALL];
    for (int a = 0; a < ALL; a++) {
        int level = a < FIRST_PLAN ? FR_EFFECT_MODEL : FR_EFFECT_PLAN,
            group = a < FIRST_PLAN ? a - C : a - FIRST_PLAN;
        own[a] = a < C ? pow(r.sigma[a] * sd[r.of[a]], 2) : sd[level] * sd[level];
        for (int i = 0; i < N; i++)
            shares[a][i] = own[a] * (a < C ? r.jacobian[a * N + i]
                                           : (r.group[level][i] == group) * r.times[i]);
    }
    for (int a = 0; a < ALL; a++) {
        double wanted = 0;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                wanted -= shares[a][i] * gsl_matrix_get(k, i, j) * r.error[j];
        FR_TRUE(fabs(mean[a] - wanted) < 1e-9, "mean %d: got %g, wanted %g", a, mean[a],
                wanted);
        for (int b = 0; b < ALL; b++) {
            wanted = a == b ? own[a] : 0;
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < N; j++)
                    wanted -= shares[a][i] * gsl_matrix_get(k, i, j) * shares[b][j];
            FR_TRUE(fabs(covariance[a * ALL + b] - wanted) < 1e-9, "%d, %d: got %g, wanted %g",
                    a, b, covariance[a * ALL + b], wanted);
        }
    }
    gsl_matrix_free(k);
    fr_effects_free(effects);
    gsl_rng_free(rng);
}

/* Kinds' own, which are none of the unknowns, likewise: mean, variance and what they share with each unknown. */
static void of_kinds(void **state) {
    enum { ALL = C + 9, KINDS = 20 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct rows r;
    double mean[ALL], covariance[ALL * ALL], slope[ALL];
    (void)state;
    make(rng, &r);
    struct fr_effects *effects = fr_effects_make(&r.view);
    assert_true(isfinite(fr_effects_all(effects, sd, mean, covariance)));
    gsl_matrix *k = gsl_matrix_alloc(N, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) gsl_matrix_set(k, (size_t)i, (size_t)j, between(&r, i, j));
    gsl_linalg_cholesky_decomp1(k);
    gsl_linalg_cholesky_invert(k);
    for (int kind = 0; kind < KINDS; kind++) {
        double own = sd[FR_EFFECT_KIND] * sd[FR_EFFECT_KIND], wanted = 0, wanted_square = own,
               constant, variance, share[N];
        fr_effects_kind(effects, sd, kind, slope, &constant, &variance);
        for (int i = 0; i < N; i++)
            share[i] = own * r.times[i] * (r.group[FR_EFFECT_KIND][i] == kind);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                wanted -= share[i] * gsl_matrix_get(k, i, j) * r.error[j];
                wanted_square -= share[i] * gsl_matrix_get(k, i, j) * share[j];
            }
        double got = constant, square = variance;
        for (int a = 0; a < ALL; a++) {
            double shared = 0, wanted_shared = 0;
            got += slope[a] * mean[a];
            for (int b = 0; b < ALL; b++) {
                square += slope[a] * covariance[a * ALL + b] * slope[b];
                shared += slope[b] * covariance[b * ALL + a];
            }
            for (size_t i = 0; i < N && a < C; i++)
                for (size_t j = 0; j < N; j++)
                    wanted_shared -= share[i] * gsl_matrix_get(k, i, j) *
                                     r.jacobian[(size_t)a * N + j] *
                                     pow(r.sigma[a] * sd[r.of[a]], 2);
            if (a < C) FR_NEAR(shared + 1, wanted_shared + 1, 1e-9);
        }
        FR_NEAR(got + 1, wanted + 1, 1e-9);
        FR_NEAR(square, wanted_square, 1e-9);
    }
    gsl_matrix_free(k);
    fr_effects_free(effects);
    gsl_rng_free(rng);
}

/* Restricted maximum likelihood (Patterson and Thompson, Biometrika 58, 1971): with a mean that may be anything, the
 * sizes that make balanced rows of kinds likeliest are those of the analysis of variance: within, MS_w, and between,
 * (MS_b - MS_w) / rows of a kind. */
static void balanced_rows_as_analysis_of_variance(void **state) {
    enum { KINDS = 12, EACH = 5, ROWS = KINDS * EACH };
    static double one[ROWS], error[ROWS];
    static int kind[ROWS], all[ROWS];
    const double flat = 1e3, tiny = 1e-7;
    const int of = FR_EFFECT_DEVICE;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double grand = 0, within = 0, between_kinds = 0, best = -INFINITY, at[2] = {0};
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        double effect = gsl_ran_gaussian(rng, 0.06);
        for (int i = k * EACH; i < (k + 1) * EACH; i++) {
            one[i] = 1;
            kind[i] = k;
            error[i] = 0.1 + effect + gsl_ran_gaussian(rng, 0.02);
            grand += error[i] / ROWS;
        }
    }
    for (int k = 0; k < KINDS; k++) {
        double mean = 0;
        for (int i = k * EACH; i < (k + 1) * EACH; i++) mean += error[i] / EACH;
        for (int i = k * EACH; i < (k + 1) * EACH; i++)
            within += pow(error[i] - mean, 2) / (ROWS - KINDS);
        between_kinds += EACH * pow(mean - grand, 2) / (KINDS - 1);
    }
    const double wanted[2] = {sqrt((between_kinds - within) / EACH), sqrt(within)};
    const struct fr_effects_rows rows = {
        ROWS, 1, one, error, one, one, &flat, &of, {all, all, kind, kind}, NULL, 0};
    struct fr_effects *effects = fr_effects_make(&rows);
    for (int a = -20; a <= 20; a++)
        for (int b = -20; b <= 20; b++) {
            const double size[FR_EFFECTS] = {
                tiny, tiny, wanted[0] * exp(0.01 * a), tiny, wanted[1] * exp(0.01 * b), 1, 1};
            double value = fr_effects_at(effects, size, NULL, NULL);
            if (!(value > best)) continue;
            best = value;
            at[0] = 0.01 * a;
            at[1] = 0.01 * b;
        }
    FR_TRUE(fabs(at[0]) < 0.015 && fabs(at[1]) < 0.015, "off by %g and %g", at[0], at[1]);
    fr_effects_free(effects);
    gsl_rng_free(rng);
}

/* One kind of twenty 40 % off, the rest within 2 %: it is wide, the others are not, and a coefficient that all feel
 * does not go after it as far as it would. */
static void a_kind_far_off_is_wide(void **state) {
    enum { KINDS = 20 };
    static double one[KINDS], error[KINDS];
    static int kind[KINDS], all[KINDS];
    const double sigma = 1, d = FR_COMPONENTS_DEGREES,
                 size[FR_EFFECTS] = {1e-4, 1e-4, 0.02, 1e-4, 0.002, 1, 1};
    const int of = FR_EFFECT_DEVICE;
    double before, after, narrow;
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        one[i] = 1;
        kind[i] = i;
        error[i] = i == 7 ? 0.4 : 0.02 * (i % 2 ? 1 : -1);
    }
    const struct fr_effects_rows rows = {
        KINDS, 1, one, error, one, one, &sigma, &of, {all, all, kind, kind}, NULL, 0};
    struct fr_effects *effects = fr_effects_make(&rows);
    double normal = fr_effects_at(effects, size, &before, NULL);
    for (int turn = 0; turn < 20; turn++) assert_true(fr_effects_widen(effects, size, d));
    assert_true(fr_effects_at(effects, size, &after, &narrow) > normal + 50);
    FR_TRUE(fabs(after) < 0.4 * fabs(before), "%g after %g", after, before);
    /* Where nothing can be inverted it says so and widens none. */
    double broken[FR_EFFECTS], wide = fr_effects_at(effects, size, NULL, NULL);
    memcpy(broken, size, sizeof broken);
    broken[FR_EFFECT_DEVICE] = NAN;
    assert_false(fr_effects_widen(effects, broken, d));
    assert_true(fr_effects_at(effects, size, NULL, NULL) == wide);
    fr_effects_free(effects);
}

/* Variances of a new kind stand for Student's distribution: 90 % within 2.353 of its scale, of three degrees. */
static void a_new_kind_is_students(void **state) {
    double wide[FR_COMPONENTS_WIDE], weight[FR_COMPONENTS_WIDE];
    (void)state;
    fr_components_wide(wide);
    for (int i = 0; i < FR_COMPONENTS_WIDE; i++) weight[i] = 1.0 / FR_COMPONENTS_WIDE;
    double half = fr_mixture_half(weight, wide, FR_COMPONENTS_WIDE, 0.9),
           wanted = 2.3534 * sqrt((FR_COMPONENTS_DEGREES - 2) / FR_COMPONENTS_DEGREES);
    FR_TRUE(fabs(half / wanted - 1) < 0.03, "got %g, wanted %g", half, wanted);
}

/* Along any direction, whatever a further row says. */
static void a_further_row_never_widens(void **state) {
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    for (int turn = 0; turn < 20; turn++) {
        struct rows r;
        double before[C * C], after[C * C], direction[C];
        make(rng, &r);
        for (int k = 0; k < C; k++) direction[k] = gsl_ran_gaussian(rng, 1);
        int left = turn % N;
        double weight = r.weight[left];
        r.weight[left] = 0;
        struct fr_effects *without = fr_effects_make(&r.view);
        r.weight[left] = weight;
        struct fr_effects *with = fr_effects_make(&r.view);
        assert_true(isfinite(fr_effects_at(without, sd, NULL, before)));
        assert_true(isfinite(fr_effects_at(with, sd, NULL, after)));
        double was = 0, is = 0;
        for (int a = 0; a < C; a++)
            for (int b = 0; b < C; b++) {
                was += direction[a] * direction[b] * before[a * C + b];
                is += direction[a] * direction[b] * after[a * C + b];
            }
        FR_TRUE(is <= was * (1 + 1e-9), "turn %d: %g after %g", turn, is, was);
        fr_effects_free(without);
        fr_effects_free(with);
    }
    gsl_rng_free(rng);
}

/* Rows of one model and plan, however many, say no more than that model and plan.  With J = 1 the precision is the
 * prior's and one over their model error.  Rows that agree closely with the prior take nothing away. */
static void rows_of_a_kind_are_one_opinion(void **state) {
    enum { MANY = 1000 };
    static double one[MANY], zero[MANY];
    static int group[MANY];
    const double sigma = 0.2;
    const int of = FR_EFFECT_DEVICE;
    (void)state;
    for (int i = 0; i < MANY; i++) one[i] = 1;
    const struct fr_effects_rows rows = {
        MANY, 1, one, zero, one, one, &sigma, &of, {group, group, group, group}, NULL, 0};
    struct fr_effects *effects = fr_effects_make(&rows);
    double mean, variance, model_error = 0;
    assert_true(isfinite(fr_effects_at(effects, sd, &mean, &variance)));
    for (int level = 0; level < FR_EFFECT_ROW; level++) model_error += sd[level] * sd[level];
    model_error += sd[FR_EFFECT_ROW] * sd[FR_EFFECT_ROW] / MANY;
    double wanted = 1 / (1 / pow(0.7 * sigma, 2) + 1 / model_error);
    FR_TRUE(fabs(variance / wanted - 1) < 1e-9, "got %g, wanted %g", variance, wanted);
    assert_true(fabs(mean) < 1e-12);
    fr_effects_free(effects);
}

/* Rows that agree to the last digit, as times rounded to a second do, do not make likelihood grow without bound as
 * their size goes to nothing. */
static void rows_that_agree_to_the_last_digit(void **state) {
    enum { MANY = 12 };
    static double one[MANY], same[MANY];
    static int group[MANY], kind[MANY];
    static struct fr_components c;
    static const double scale[FR_EFFECTS] = {0.035, 0.035, 0.05, 0.041, 0.01, 1, 1};
    const double sigma = 0.2;
    const int of = FR_EFFECT_DEVICE;
    struct fr_error err = {0};
    (void)state;
    for (int i = 0; i < MANY; i++) {
        one[i] = 1;
        kind[i] = i % 2;
        same[i] = i % 2 ? -0.5 : 0.02;
    }
    const struct fr_effects_rows rows = {
        MANY, 1, one, same, one, one, &sigma, &of, {group, group, kind, kind}, NULL, 0};
    struct fr_effects *effects = fr_effects_make(&rows);
    if (fr_components_make(effects, scale, NULL, &c, &err) != FR_OK) fail_msg("%s", err.detail);
    FR_TRUE(c.mode[FR_EFFECT_ROW] > 1e-5, "%g", c.mode[FR_EFFECT_ROW]);
    FR_TRUE(isfinite(c.evidence) && fabs(c.evidence) < 200, "%g", c.evidence);
    fr_effects_free(effects);
}

/* Kinds are as wide as stated by the density of ln v there: chi-squared's of d degrees at d - 2, of its logarithm,
 * over the curvature that Laplace takes. */
static void the_density_of_widths_is_chi_squared(void **state) {
    enum { MANY = 12, KINDS = 3 };
    static double one[MANY], error[MANY];
    static int group[MANY], kind[MANY];
    static const double deviations[FR_EFFECTS] = {0.035, 0.035, 0.05, 0.041, 0.01, 1, 1};
    const double sigma = 0.2, pi = 3.14159265358979323846;
    const int of = FR_EFFECT_DEVICE;
    (void)state;
    for (int i = 0; i < MANY; i++) one[i] = 1, kind[i] = i % KINDS, error[i] = 0.01 * i;
    const struct fr_effects_rows rows = {
        MANY, 1, one, error, one, one, &sigma, &of, {group, group, kind, kind}, NULL, 0};
    struct fr_effects *effects = fr_effects_make(&rows);
    assert_true(isfinite(fr_effects_at(effects, deviations, NULL, NULL)));
    for (double d = 2.5; d < 40; d += 3.75) {
        double x = d - 2,
               want = log(gsl_ran_chisq_pdf(x, d)) + log(x) - log((d + 1) / 2 / (2 * pi)) / 2;
        FR_NEAR(fr_effects_wide_density(effects, d), KINDS * want, 1e-9);
    }
    fr_effects_free(effects);
}

/* One row whose effects' sizes are as stated to a hair: its likelihood is the integral over its kind's width, Student's,
 * which ours takes at its likeliest (Laplace). */
static void evidence_of_one_row(void **state) {
    static const double scale[FR_EFFECTS] = {0.03, 0.02, 0.05, 0.02, 0.01, 1, 1};
    const struct fr_sizes known = {0.05, 0.05, 0.05, 1, 1};
    const double d = FR_COMPONENTS_DEGREES, one = 1, pi = 3.14159265358979323846;
    const int group = 0;
    static struct fr_components c;
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double error = 0.1 * k, rest = 0.03 * 0.03 + 0.02 * 0.02 + 0.02 * 0.02 + 1e-4;
        const struct fr_effects_rows rows = {
            1,    0, &one, &error, &one, &one, NULL, NULL, {&group, &group, &group, &group},
            NULL, 0};
        struct fr_effects *effects = fr_effects_make(&rows);
        double wanted = 0, step = 0.001;
        for (double u = -8; u < 12; u += step) { /* ln of the width's square */
            double v = exp(u), x = (d - 2) / v, variance = rest + 0.0025 * v,
                   density = exp(d / 2 * log(x / 2) - x / 2 - lgamma(d / 2));
            wanted +=
                step * density * exp(-error * error / (2 * variance)) / sqrt(2 * pi * variance);
        }
        assert_int_equal(fr_components_make(effects, scale, &known, &c, NULL), FR_OK);
        FR_TRUE(fabs(c.evidence - log(wanted)) < 0.5, "%g off: got %g, wanted %g", error,
                c.evidence, log(wanted));
        fr_effects_free(effects);
    }
}

static void a_mixture_of_normals(void **state) {
    const double one[] = {1}, halves[] = {0.5, 0.5}, same[] = {4, 4}, two[] = {1, 4};
    (void)state;
    FR_NEAR(fr_mixture_half(one, two, 1, 0.9), 1.6448536269514722, 1e-9);
    FR_NEAR(fr_mixture_half(halves, same, 2, 0.9), 2 * 1.6448536269514722, 1e-9);
    double half = fr_mixture_half(halves, two, 2, 0.9);
    FR_NEAR(0.5 * erf(half / sqrt(2)) + 0.5 * erf(half / sqrt(8)), 0.9, 1e-9);
}

/* ---- simulation: everything drawn as it is assumed to be ------------------------------------------ */

/* Log-normal of root mean square 1. */
static double factor(gsl_rng *rng, double width) {
    return exp(gsl_ran_gaussian(rng, width) - width * width);
}

/* The sizes of the effects, from their priors about @p scale. */
static void draw_sd(gsl_rng *rng, const double *scale, double *out) {
    const struct fr_sizes *u = &fr_sizes_usual;
    double model_error = factor(rng, u->common);
    for (int k = 0; k < FR_EFFECTS; k++) {
        double ratio = k <= FR_EFFECT_KIND      ? model_error * factor(rng, u->apart)
                       : k == FR_EFFECT_DEVICE  ? u->device * fabs(gsl_ran_gaussian(rng, 1))
                       : k == FR_EFFECT_NETWORK ? u->network * fabs(gsl_ran_gaussian(rng, 1))
                                                : factor(rng, u->alone);
        out[k] = fmax(1e-6, scale[k] * ratio);
    }
}

/* Kinds have these degrees, and standard deviation @p sd. */
static double students(gsl_rng *rng, double of_sd) {
    const double d = FR_COMPONENTS_DEGREES;
    return of_sd * gsl_ran_tdist(rng, d) * sqrt((d - 2) / d);
}

/* Errors of rows that share effects of those sizes, and of one more run, of a new model, plan and release. */
static double draw_errors(gsl_rng *rng, const double *size, struct rows *r, const double *g) {
    double effect[FR_EFFECT_ROW][2 * N], next = 0;
    memset(r->error, 0, sizeof r->error);
    for (int level = 0; level < FR_EFFECT_ROW; level++)
        for (int i = 0; i < 2 * N; i++)
            effect[level][i] = level == FR_EFFECT_KIND ? students(rng, size[level])
                                                       : gsl_ran_gaussian(rng, size[level]);
    for (int i = 0; i < N; i++) {
        for (int level = 0; level < FR_EFFECT_ROW; level++)
            r->error[i] += effect[level][r->group[level][i]] *
                           (level == FR_EFFECT_RELEASE ? 1 : r->times[i]);
        r->error[i] += gsl_ran_gaussian(rng, size[FR_EFFECT_ROW]) / sqrt(r->weight[i]);
    }
    for (int k = 0; k < C; k++) { /* e = J (x there - x true) */
        double x = gsl_ran_gaussian(rng, r->sigma[k] * size[r->of[k]]);
        for (int i = 0; i < N; i++) r->error[i] -= r->jacobian[k * N + i] * x;
        next -= g[k] * x;
    }
    for (int level = 0; level < FR_EFFECTS - 2; level++)
        next += level == FR_EFFECT_KIND ? students(rng, size[level])
                                        : gsl_ran_gaussian(rng, size[level]);
    return next;
}

/* Does the 90 % interval hold the next run? */
static bool inside(const struct rows *r, const double *scale, const double *g, double next) {
    static struct fr_components c;
    double mean[FR_COMPONENTS_NODES] = {0}, variance[FR_COMPONENTS_NODES] = {0}, all = 0;
    struct fr_effects *effects = fr_effects_make(&r->view);
    struct fr_error err = {0};
    if (fr_components_make(effects, scale, NULL, &c, &err) != FR_OK) fail_msg("%s", err.detail);
    for (int n = 0; n < FR_COMPONENTS_NODES; n++) {
        double m[C], covariance[C * C];
        fr_effects_at(effects, c.sd[n], m, covariance);
        for (int a = 0; a < C; a++) {
            mean[n] += g[a] * m[a];
            for (int b = 0; b < C; b++) variance[n] += g[a] * g[b] * covariance[a * C + b];
        }
        for (int k = 0; k < FR_EFFECTS - 2; k++) variance[n] += pow(c.sd[n][k], 2);
        all += c.weight[n] * mean[n];
    }
    enum { ALL = FR_COMPONENTS_NODES * FR_COMPONENTS_WIDE };
    double wide[FR_COMPONENTS_WIDE], weight[ALL], each[ALL];
    fr_components_wide(wide);
    for (int i = 0; i < ALL; i++) {
        int n = i / FR_COMPONENTS_WIDE;
        double more = wide[i % FR_COMPONENTS_WIDE] - 1;
        weight[i] = c.weight[n] / FR_COMPONENTS_WIDE;
        each[i] = variance[n] + pow(mean[n] - all, 2) + more * pow(c.sd[n][FR_EFFECT_KIND], 2);
    }
    fr_effects_free(effects);
    return fabs(next + all) <= fr_mixture_half(weight, each, ALL, 0.9);
}

/* As often as it says, within three deviations of that many draws. */
static void intervals_hold_nine_in_ten(void **state) {
    enum { DRAWS = 400 };
    static const double scale[FR_EFFECTS] = {0.05, 0.035, 0.035, 0.065, 0.01, 1, 1};
    static const struct { int models, plans; } of[] = {{4, 5}, {1, 1}, {1, 10}, {10, 1}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        int held = 0;
        for (int draw = 0; draw < DRAWS; draw++) {
            struct rows r;
            double size[FR_EFFECTS], g[C];
            make(rng, &r);
            for (int i = 0; i < N; i++) {
                r.times[i] = 1;
                r.group[FR_EFFECT_MODEL][i] = i % of[k].models;
                r.group[FR_EFFECT_PLAN][i] = i / of[k].models % of[k].plans;
                r.group[FR_EFFECT_KIND][i] = i % (of[k].models * of[k].plans);
                r.group[FR_EFFECT_RELEASE][i] = 2 * r.group[FR_EFFECT_KIND][i] + (i >= N / 2);
            }
            for (int a = 0; a < C; a++) g[a] = gsl_ran_gaussian(rng, 0.5);
            draw_sd(rng, scale, size);
            double next = draw_errors(rng, size, &r, g);
            held += inside(&r, scale, g, next);
        }
        double share = (double)held / DRAWS, three = 3 * sqrt(0.09 / DRAWS);
        FR_TRUE(fabs(share - 0.9) <= three, "%d models, %d plans: %.3f inside", of[k].models,
                of[k].plans, share);
    }
    gsl_rng_free(rng);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_written_out),
        cmocka_unit_test(what_is_told_as_written_out),
        cmocka_unit_test(of_models_and_plans),
        cmocka_unit_test(of_kinds),
        cmocka_unit_test(balanced_rows_as_analysis_of_variance),
        cmocka_unit_test(a_kind_far_off_is_wide),
        cmocka_unit_test(a_new_kind_is_students),
        cmocka_unit_test(a_further_row_never_widens),
        cmocka_unit_test(rows_of_a_kind_are_one_opinion),
        cmocka_unit_test(rows_that_agree_to_the_last_digit),
        cmocka_unit_test(the_density_of_widths_is_chi_squared),
        cmocka_unit_test(evidence_of_one_row),
        cmocka_unit_test(a_mixture_of_normals),
        cmocka_unit_test(intervals_hold_nine_in_ten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
