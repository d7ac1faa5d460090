#include "trust/effects/identifiable.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "trust/numbers/gsl_errors.h"

static const double enough = 0.99; /* of the score before */

/* Runs that are left out together, one way. */
struct way {
    int *group; /* [n] */
    int groups;
    double *gram; /* [groups][u][u]: sums of h u u' with u = (J, e0) */
};

struct work {
    const struct fr_linear_fit *f;
    int u;
    double *e0, *gram; /* [n]; [u][u] of all */
    struct way way[FR_EFFECT_ROW];
    int used[FR_EFFECT_ROW], n_used; /* which ways */
    gsl_matrix *m;
    gsl_vector *right, *x;
};

static double column(const struct work *w, int a, int i) {
    const struct fr_linear_fit *f = w->f;
    return a < f->n_coefficients ? f->jacobian[(size_t)a * (size_t)f->n + (size_t)i] : w->e0[i];
}

static void add_row(const struct work *w, int i, double *gram) {
    for (int a = 0; a < w->u; a++)
        for (int b = 0; b < w->u; b++)
            gram[a * w->u + b] += w->f->weight[i] * column(w, a, i) * column(w, b, i);
}

/* Models and plans; kinds where both are but one. */
static void choose_ways(struct work *w) {
    for (int k = FR_EFFECT_MODEL; k <= FR_EFFECT_KIND; k++) {
        for (int i = 0; i < w->f->n; i++)
            if (w->way[k].group[i] >= w->way[k].groups)
                w->way[k].groups = w->way[k].group[i] + 1;
        if (w->way[k].groups < 2 || (k == FR_EFFECT_KIND && w->n_used > 0)) continue;
        w->used[w->n_used++] = k;
    }
}

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
}

static fr_status prepare(const struct fr_linear_fit *f, struct work *w, struct fr_error *err) {
    size_t n = (size_t)f->n, u = (size_t)f->n_coefficients + 1;
    int *group[FR_EFFECT_ROW];
    *w = (struct work){.f = f,
                       .u = (int)u,
                       .e0 = fr_calloc(n + 1, sizeof *w->e0),
                       .gram = fr_calloc(u * u, sizeof *w->gram)};
    for (int k = 0; k < FR_EFFECT_ROW; k++) {
        group[k] = w->way[k].group = fr_calloc(n + 1, sizeof *group[k]);
        if (!group[k]) return no_memory(err);
    }
    gsl_error_handler_t *before = fr_gsl_errors();
    w->m = gsl_matrix_alloc(u, u);
    w->right = gsl_vector_alloc(u);
    w->x = gsl_vector_alloc(u);
    gsl_set_error_handler(before);
    if (!w->e0 || !w->gram || !w->m || !w->right || !w->x) return no_memory(err);
    fr_runs_grouped(f->runs, f->n, group);
    choose_ways(w);
    for (int i = 0; i < f->n; i++) {
        w->e0[i] = f->error[i];
        for (int k = 0; k < f->n_coefficients; k++)
            w->e0[i] -= f->jacobian[(size_t)k * n + (size_t)i] * f->moved[k];
    }
    for (int i = 0; i < f->n; i++) add_row(w, i, w->gram);
    for (int k = 0; k < w->n_used; k++) {
        struct way *way = &w->way[w->used[k]];
        way->gram = fr_calloc((size_t)way->groups * u * u, sizeof *way->gram);
        if (!way->gram) return no_memory(err);
        for (int i = 0; i < f->n; i++) add_row(w, i, way->gram + (size_t)way->group[i] * u * u);
    }
    return FR_OK;
}

static void drop(struct work *w) {
    for (int k = 0; k < FR_EFFECT_ROW; k++) {
        free(w->way[k].group);
        free(w->way[k].gram);
    }
    free(w->e0);
    free(w->gram);
    gsl_matrix_free(w->m);
    gsl_vector_free(w->right);
    gsl_vector_free(w->x);
}

/* Coefficients @p in[n_in] without a group whose sums are @p less. @return a code of GSL's */
static int solve(struct work *w, const int *in, int n_in, const double *less) {
    gsl_matrix_view m = gsl_matrix_submatrix(w->m, 0, 0, (size_t)n_in, (size_t)n_in);
    gsl_vector_view right = gsl_vector_subvector(w->right, 0, (size_t)n_in),
                    x = gsl_vector_subvector(w->x, 0, (size_t)n_in);
    for (int a = 0; a < n_in; a++) {
        int i = in[a] * w->u + w->u - 1;
        gsl_vector_set(&right.vector, (size_t)a, less[i] - w->gram[i]);
        for (int b = 0; b < n_in; b++) {
            int at = in[a] * w->u + in[b];
            double prior = a == b ? 1 / pow(w->f->sigma[in[a]], 2) : 0;
            gsl_matrix_set(&m.matrix, (size_t)a, (size_t)b, w->gram[at] - less[at] + prior);
        }
    }
    int code = gsl_linalg_cholesky_decomp1(&m.matrix);
    return code ? code : gsl_linalg_cholesky_solve(&m.matrix, &right.vector, &x.vector);
}

/* Errors of the runs left out, one way. */
static double score_way(struct work *w, const struct way *way, const int *in, int n_in) {
    double sum = 0;
    for (int g = 0; g < way->groups; g++) {
        if (solve(w, in, n_in, way->gram + (size_t)g * (size_t)(w->u * w->u))) return INFINITY;
        for (int i = 0; i < w->f->n; i++) {
            double e = w->e0[i];
            if (way->group[i] != g) continue;
            for (int a = 0; a < n_in; a++)
                e += column(w, in[a], i) * gsl_vector_get(w->x, (size_t)a);
            sum += fabs(e);
        }
    }
    return sum;
}

static double score(struct work *w, const int *in, int n_in) {
    double sum = 0;
    for (int k = 0; k < w->n_used; k++) sum += score_way(w, &w->way[w->used[k]], in, n_in);
    return sum;
}

static void grow(struct work *w, bool *resolved) {
    int n = w->f->n_coefficients, in[64], n_in = 0;
    double best = 0;
    for (int i = 0; i < w->f->n; i++) best += w->n_used * fabs(w->f->before[i]);
    while (n_in < n) {
        int chosen = -1;
        double least = enough * best;
        for (int k = 0; k < n; k++) {
            if (resolved[k]) continue;
            in[n_in] = k;
            double value = score(w, in, n_in + 1);
            if (value >= least) continue;
            least = value;
            chosen = k;
        }
        if (chosen < 0) return;
        resolved[chosen] = true;
        in[n_in++] = chosen;
        best = least;
    }
}

fr_status fr_identify(const struct fr_linear_fit *f, bool *resolved, int *ways,
                      struct fr_error *err) {
    struct work w;
    for (int k = 0; k < f->n_coefficients; k++) resolved[k] = false;
    fr_status status = prepare(f, &w, err);
    *ways = w.n_used;
    if (status == FR_OK && w.n_used > 0) {
        gsl_error_handler_t *before = fr_gsl_errors();
        grow(&w, resolved);
        gsl_set_error_handler(before);
    }
    drop(&w);
    return status;
}
