#include "trust/numbers/effects.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "trust/numbers/gsl_errors.h"

/* Sums of a group of rows: u is the coefficients' columns, then e0. */
struct sums {
    int within; /* kind of a release */
    int model, plan;
    double weight, times;
};

struct fr_effects {
    size_t c, u, rows; /* coefficients; those and e0; rows of weight */
    int models, plans, kinds, releases;
    double log_weights;
    double *sigma, *gram;          /* [c]; [u][u]: of all rows */
    struct sums *release;          /* [releases] */
    double *sum;                   /* [releases][u] */
    double *of_kind, *kind_weight; /* scratch: [kinds][u], [kinds] */
    double *kind_times;            /* [kinds] */
    double *kind_wide;             /* [kinds]: of its own effect, in sd */
    int *kind_model, *kind_plan;   /* [kinds] */
    int *of;                       /* [c] */
    gsl_matrix *stated, *prior;    /* [c][c]: stated sums; scratch: NULL where none is */
    double *row, *slope;           /* [u], [unknowns]: scratch */
    gsl_matrix *m;
    gsl_vector *right, *solved;
};

static void add_to(gsl_matrix *m, size_t i, size_t j, double value) {
    *gsl_matrix_ptr(m, i, j) += value;
}

static int count(const int *group, size_t n) {
    int most = 0;
    for (size_t i = 0; i < n; i++)
        if (group[i] >= most) most = group[i] + 1;
    return most;
}

static void add_rows(struct fr_effects *f, const struct fr_effects_rows *rows) {
    size_t n = rows->n;
    for (size_t i = 0; i < n; i++) {
        double w = rows->weight[i];
        int r = rows->group[FR_EFFECT_RELEASE][i], k = rows->group[FR_EFFECT_KIND][i];
        if (!(w > 0)) continue;
        for (size_t a = 0; a < f->c; a++) f->row[a] = rows->jacobian[a * n + i];
        f->row[f->c] = rows->error[i];
        for (size_t a = 0; a < f->u; a++) {
            f->sum[(size_t)r * f->u + a] += w * f->row[a];
            for (size_t b = 0; b < f->u; b++)
                f->gram[a * f->u + b] += w * f->row[a] * f->row[b];
        }
        f->release[r].within = k;
        f->release[r].weight += w;
        f->kind_times[k] = rows->times[i];
        f->kind_model[k] = rows->group[FR_EFFECT_MODEL][i];
        f->kind_plan[k] = rows->group[FR_EFFECT_PLAN][i];
        f->log_weights += log(w);
        f->rows++;
    }
}

/* Add the known sums of coefficients.
 * @return false where memory runs out */
static bool add_stated(struct fr_effects *f, const struct fr_effects_rows *rows) {
    if (rows->n_known == 0 || f->c == 0) return true;
    gsl_error_handler_t *before = fr_gsl_errors();
    f->stated = gsl_matrix_calloc(f->c, f->c);
    f->prior = gsl_matrix_alloc(f->c, f->c);
    gsl_set_error_handler(before);
    if (!f->stated || !f->prior) return false;
    for (size_t t = 0; t < rows->n_known; t++) {
        const double *g = rows->stated + t * f->c;
        for (size_t a = 0; a < f->c; a++)
            for (size_t b = 0; b < f->c; b++) add_to(f->stated, a, b, g[a] * g[b]);
    }
    return true;
}

struct fr_effects *fr_effects_make(const struct fr_effects_rows *rows) {
    struct fr_effects *f = fr_calloc(1, sizeof *f);
    if (!f) return NULL;
    size_t n = rows->n;
    f->c = rows->n_coefficients;
    f->u = f->c + 1;
    f->models = count(rows->group[FR_EFFECT_MODEL], n);
    f->plans = count(rows->group[FR_EFFECT_PLAN], n);
    f->kinds = count(rows->group[FR_EFFECT_KIND], n);
    f->releases = count(rows->group[FR_EFFECT_RELEASE], n);
    size_t kinds = (size_t)f->kinds + 1, releases = (size_t)f->releases + 1;
    size_t all = f->c + (size_t)(f->models + f->plans);
    f->sigma = fr_calloc(f->u, sizeof *f->sigma);
    f->gram = fr_calloc(f->u * f->u, sizeof *f->gram);
    f->release = fr_calloc(releases, sizeof *f->release);
    f->sum = fr_calloc(releases * f->u, sizeof *f->sum);
    f->of_kind = fr_calloc(kinds * f->u, sizeof *f->of_kind);
    f->kind_weight = fr_calloc(kinds, sizeof *f->kind_weight);
    f->kind_times = fr_calloc(kinds, sizeof *f->kind_times);
    f->kind_wide = fr_calloc(kinds, sizeof *f->kind_wide);
    f->kind_model = fr_calloc(kinds, sizeof *f->kind_model);
    f->kind_plan = fr_calloc(kinds, sizeof *f->kind_plan);
    f->row = fr_calloc(f->u, sizeof *f->row);
    f->slope = fr_calloc(all + 1, sizeof *f->slope);
    f->of = fr_calloc(f->u, sizeof *f->of);
    gsl_error_handler_t *before = fr_gsl_errors();
    f->m = all > 0 ? gsl_matrix_calloc(all, all) : NULL;
    f->right = all > 0 ? gsl_vector_calloc(all) : NULL;
    f->solved = all > 0 ? gsl_vector_calloc(all) : NULL;
    gsl_set_error_handler(before);
    if (!f->sigma || !f->gram || !f->release || !f->sum || !f->of_kind || !f->kind_weight ||
        !f->kind_times || !f->kind_wide || !f->kind_model || !f->kind_plan || !f->row ||
        !f->slope || !f->of || !f->m || !f->right || !f->solved || !add_stated(f, rows)) {
        fr_effects_free(f);
        return NULL;
    }
    for (size_t k = 0; k < f->c; k++) f->sigma[k] = rows->sigma[k], f->of[k] = rows->of[k];
    fr_effects_narrow(f);
    add_rows(f, rows);
    return f;
}

void fr_effects_free(struct fr_effects *f) {
    if (!f) return;
    free(f->sigma);
    free(f->gram);
    free(f->release);
    free(f->sum);
    free(f->of_kind);
    free(f->kind_weight);
    free(f->kind_times);
    free(f->kind_wide);
    free(f->kind_model);
    free(f->kind_plan);
    free(f->row);
    free(f->slope);
    free(f->of);
    gsl_matrix_free(f->stated);
    gsl_matrix_free(f->prior);
    gsl_matrix_free(f->m);
    gsl_vector_free(f->right);
    gsl_vector_free(f->solved);
    free(f);
}

/* ---- V^-1 ---------------------------------------------------------------------------------- */

/* U' V^-1 U, U' V^-1 e0 and e0' V^-1 e0 less factor (s s'), s the sums of a group: of coefficients and e0
 * as given, of its model and plan its weight. */
static void take(struct fr_effects *f, int kind, const double *sum, double weight,
                 double factor, double *square) {
    size_t at[2] = {f->c + (size_t)f->kind_model[kind],
                    f->c + (size_t)(f->models + f->kind_plan[kind])};
    double of_group = weight * f->kind_times[kind], e = sum[f->c];
    for (size_t a = 0; a < f->c; a++) {
        double *row = gsl_matrix_ptr(f->m, a, 0);
        for (size_t b = 0; b <= a; b++) row[b] -= factor * sum[a] * sum[b];
        for (int z = 0; z < 2; z++) add_to(f->m, at[z], a, -factor * of_group * sum[a]);
        *gsl_vector_ptr(f->right, a) -= factor * sum[a] * e;
    }
    for (int z = 0; z < 2; z++) {
        add_to(f->m, at[z], at[z], -factor * of_group * of_group);
        *gsl_vector_ptr(f->right, at[z]) -= factor * of_group * e;
    }
    add_to(f->m, at[1], at[0], -factor * of_group * of_group);
    *square -= factor * e * e;
}

/* Rows alone: their noise. */
static void add_noise(struct fr_effects *f, double precision, double *square) {
    for (size_t a = 0; a < f->c; a++) {
        double *row = gsl_matrix_ptr(f->m, a, 0);
        for (size_t b = 0; b <= a; b++) row[b] += precision * f->gram[a * f->u + b];
        *gsl_vector_ptr(f->right, a) += precision * f->gram[a * f->u + f->c];
    }
    *square += precision * f->gram[f->c * f->u + f->c];
    for (int r = 0; r < f->releases; r++) {
        int kind = f->release[r].within;
        const double *sum = f->sum + (size_t)r * f->u;
        double times = f->kind_times[kind], weight = f->release[r].weight;
        size_t at[2] = {f->c + (size_t)f->kind_model[kind],
                        f->c + (size_t)(f->models + f->kind_plan[kind])};
        for (int z = 0; z < 2; z++) {
            for (size_t a = 0; a < f->c; a++)
                add_to(f->m, at[z], a, precision * times * sum[a]);
            add_to(f->m, at[z], at[z], precision * times * times * weight);
            *gsl_vector_ptr(f->right, at[z]) += precision * times * sum[f->c];
        }
        add_to(f->m, at[1], at[0], precision * times * times * weight);
    }
}

/* M, U' V^-1 e0 and e0' V^-1 e0. @return ln |V| */
static double assemble(struct fr_effects *f, const double *sd, double *square) {
    double precision = 1 / (sd[FR_EFFECT_ROW] * sd[FR_EFFECT_ROW]),
           release = sd[FR_EFFECT_RELEASE] * sd[FR_EFFECT_RELEASE],
           log_det = -f->log_weights - (double)f->rows * log(precision);
    size_t u = f->u;
    gsl_matrix_set_zero(f->m);
    gsl_vector_set_zero(f->right);
    memset(f->of_kind, 0, (size_t)f->kinds * u * sizeof *f->of_kind);
    memset(f->kind_weight, 0, (size_t)f->kinds * sizeof *f->kind_weight);
    *square = 0;
    add_noise(f, precision, square);
    for (int r = 0; r < f->releases; r++) {
        const struct sums *s = &f->release[r];
        double *sum = f->sum + (size_t)r * u, left = 1 / (1 + release * precision * s->weight);
        if (!(s->weight > 0)) continue;
        take(f, s->within, sum, s->weight, release * precision * precision * left, square);
        for (size_t a = 0; a < u; a++)
            f->of_kind[(size_t)s->within * u + a] += precision * left * sum[a];
        f->kind_weight[s->within] += precision * left * s->weight;
        log_det -= log(left);
    }
    for (int k = 0; k < f->kinds; k++) {
        double own = sd[FR_EFFECT_KIND] * f->kind_times[k] * f->kind_wide[k],
               weight = f->kind_weight[k];
        double of = 1 + own * own * weight;
        if (!(weight > 0)) continue;
        take(f, k, f->of_kind + (size_t)k * u, weight, own * own / of, square);
        log_det += log(of);
    }
    return log_det;
}

/* ---- what is left -------------------------------------------------------------------------- */

static double width_of(const struct fr_effects *f, const double *sd, size_t i) {
    if (i < f->c) return f->sigma[i] * sd[f->of[i]];
    return sd[i < f->c + (size_t)f->models ? FR_EFFECT_MODEL : FR_EFFECT_PLAN];
}

/* Precisions of the priors into M, and minus ln of their determinant onto @p sum. @return a code of GSL's */
static int add_priors(struct fr_effects *f, const double *sd, double *sum) {
    size_t n = f->right->size;
    int code = 0;
    for (size_t i = 0; i < n; i++) {
        double width = width_of(f, sd, i);
        add_to(f->m, i, i, 1 / (width * width));
        if (!f->stated || i >= f->c) *sum += 2 * log(width);
    }
    if (!f->stated) return 0;
    gsl_matrix_memcpy(f->prior, f->stated);
    for (size_t a = 0; a < f->c; a++) {
        for (size_t b = 0; b <= a; b++) add_to(f->m, a, b, gsl_matrix_get(f->stated, a, b));
        add_to(f->prior, a, a, pow(width_of(f, sd, a), -2));
    }
    code = gsl_linalg_cholesky_decomp1(f->prior);
    for (size_t a = 0; a < f->c && !code; a++) *sum -= 2 * log(gsl_matrix_get(f->prior, a, a));
    return code;
}

/* Solve for the first @p n_out unknowns. */
static double solve(struct fr_effects *f, const double *sd, size_t n_out, double *mean,
                    double *covariance) {
    static const double log_2_pi = 1.8378770664093453;
    double square, product;
    double sum = assemble(f, sd, &square) + (double)f->rows * log_2_pi;
    size_t n = f->right->size;
    gsl_error_handler_t *before = fr_gsl_errors();
    int code = add_priors(f, sd, &sum);
    if (!code) code = gsl_linalg_cholesky_decomp1(f->m);
    if (!code) code = gsl_linalg_cholesky_solve(f->m, f->right, f->solved);
    for (size_t i = 0; i < n && !code; i++) sum += 2 * log(gsl_matrix_get(f->m, i, i));
    if (!code) code = gsl_blas_ddot(f->right, f->solved, &product);
    for (size_t i = 0; i < n_out && !code && mean; i++) mean[i] = -gsl_vector_get(f->solved, i);
    if (!code && covariance) code = gsl_linalg_cholesky_invert(f->m);
    gsl_set_error_handler(before);
    if (code) return NAN;
    for (size_t a = 0; covariance && a < n_out; a++)
        for (size_t b = 0; b < n_out; b++)
            covariance[a * n_out + b] = gsl_matrix_get(f->m, a, b);
    return -0.5 * (sum + square - product);
}

double fr_effects_at(struct fr_effects *f, const double *sd, double *mean, double *covariance) {
    return solve(f, sd, f->c, mean, covariance);
}

size_t fr_effects_unknowns(const struct fr_effects *f) { return f->right->size; }

double fr_effects_all(struct fr_effects *f, const double *sd, double *mean,
                      double *covariance) {
    return solve(f, sd, f->right->size, mean, covariance);
}

/* ---- kinds that are far off ---------------------------------------------------------------- */

void fr_effects_kind(const struct fr_effects *f, const double *sd, int k, double *slope,
                     double *constant, double *variance) {
    const double *sum = f->of_kind + (size_t)k * f->u;
    double weight = f->kind_weight[k], times = f->kind_times[k];
    *variance = 1 / (pow(sd[FR_EFFECT_KIND] * f->kind_wide[k], -2) + times * times * weight);
    double share = -times * *variance;
    memset(slope, 0, f->right->size * sizeof *slope);
    for (size_t a = 0; a < f->c; a++) slope[a] = share * sum[a];
    slope[f->c + (size_t)f->kind_model[k]] =
        slope[f->c + (size_t)(f->models + f->kind_plan[k])] = share * times * weight;
    *constant = share * sum[f->c];
}

/* Mean square of a kind's own effect, in its sd, where all else is at its mean. */
static double own_square(struct fr_effects *f, const double *sd, int k) {
    double mean, variance;
    fr_effects_kind(f, sd, k, f->slope, &mean, &variance);
    for (size_t a = 0; a < f->right->size; a++)
        mean -= f->slope[a] * gsl_vector_get(f->solved, a);
    return (mean * mean + variance) / pow(sd[FR_EFFECT_KIND], 2);
}

void fr_effects_narrow(struct fr_effects *f) {
    for (int k = 0; k < f->kinds; k++) f->kind_wide[k] = 1;
}

double fr_effects_wide_density(const struct fr_effects *f, double d) {
    static const double pi = 3.14159265358979323846;
    double sum = 0;
    for (int k = 0; k < f->kinds; k++) {
        double x = (d - 2) / pow(f->kind_wide[k], 2); /* chi-squared */
        if (!(f->kind_weight[k] > 0)) continue;
        sum += d / 2 * log(x / 2) - x / 2 - lgamma(d / 2) + log(4 * pi / (d + 1)) / 2;
    }
    return sum;
}

bool fr_effects_widen(struct fr_effects *f, const double *sd, double degrees) {
    if (!isfinite(fr_effects_at(f, sd, NULL, NULL))) return false;
    for (int k = 0; k < f->kinds; k++)
        if (f->kind_weight[k] > 0)
            f->kind_wide[k] = sqrt((degrees - 2 + own_square(f, sd, k)) / (degrees + 1));
    return true;
}
