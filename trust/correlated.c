#include "trust/correlated.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

#include "trust/numbers/gsl_errors.h"

static const double little = 0.05;

/* Widths before the runs, as they turned out to be: device's and network's are learned apart. */
static double before(const struct fr_tune_result *r, int j) {
    return r->tuned[j].sigma_prior * r->effect[fr_coefficient_effect(j)];
}

/* Coefficients come first among what is known. */
static int count(const struct fr_tune_result *r) {
    int n = 0;
    while (n < r->n_known && r->index[n] < fr_coefficient_count()) n++;
    return n;
}

/* S C^-1 S - 1 in @p m, its largest eigenvalue and that one's vector. */
static int lead(const struct fr_tune_result *r, gsl_matrix *m, gsl_vector *values,
                gsl_matrix *vectors, gsl_eigen_symmv_workspace *scratch) {
    size_t n = m->size1;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            gsl_matrix_set(m, a, b, r->covariance[a * (size_t)r->n_known + b]);
    int code = gsl_linalg_cholesky_decomp1(m);
    if (!code) code = gsl_linalg_cholesky_invert(m);
    for (size_t a = 0; a < n && !code; a++)
        for (size_t b = 0; b < n; b++)
            gsl_matrix_set(m, a, b,
                           gsl_matrix_get(m, a, b) * before(r, r->index[a]) *
                                   before(r, r->index[b]) -
                               (a == b));
    if (!code) code = gsl_eigen_symmv(m, values, vectors, scratch);
    if (!code) code = gsl_eigen_symmv_sort(values, vectors, GSL_EIGEN_SORT_VAL_DESC);
    return code;
}

static void put(const struct fr_tune_result *r, const gsl_matrix *vectors, int n, int first,
                double lambda, struct fr_correlated *out) {
    double most = 0,
           scale = gsl_matrix_get(vectors, (size_t)first, 0) / before(r, r->index[first]);
    for (int k = 0; k < n; k++) most = fmax(most, fabs(gsl_matrix_get(vectors, (size_t)k, 0)));
    *out = (struct fr_correlated){.sigma = 1 / (sqrt(lambda) * fabs(scale))};
    for (int k = 0; k < n && out->n < FR_CORRELATED_OF; k++) {
        const struct fr_coefficient *c = &fr_coefficients[r->index[k]];
        double u = gsl_matrix_get(vectors, (size_t)k, 0);
        if (fabs(u) < little * most) continue;
        out->of[out->n++] = (struct fr_correlated_of){
            c->place, fr_value_has_dtype(c->place) ? r->dtype : FR_DTYPE_COUNT,
            u / before(r, r->index[k]) / scale};
    }
}

fr_status fr_tune_correlated(const struct fr_tune_result *r, const char *name,
                             struct fr_correlated *correlated, struct fr_error *err) {
    int n = count(r), first = 0, code = GSL_ENOMEM;
    while (first < n && r->index[first] != fr_coefficient_find(name)) first++;
    if (first == n) return fr_fail(err, FR_ERR_NUMERIC, name, "the runs say nothing of it");
    gsl_error_handler_t *handler = fr_gsl_errors();
    gsl_matrix *m = gsl_matrix_alloc((size_t)n, (size_t)n),
               *vectors = gsl_matrix_alloc((size_t)n, (size_t)n);
    gsl_vector *values = gsl_vector_alloc((size_t)n);
    gsl_eigen_symmv_workspace *scratch = gsl_eigen_symmv_alloc((size_t)n);
    if (m && vectors && values && scratch) code = lead(r, m, values, vectors, scratch);
    double lambda = code ? 0 : gsl_vector_get(values, 0);
    bool stated = lambda > 0 && gsl_matrix_get(vectors, (size_t)first, 0) != 0;
    if (stated) put(r, vectors, n, first, lambda, correlated);
    if (scratch) gsl_eigen_symmv_free(scratch);
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    gsl_matrix_free(m);
    gsl_set_error_handler(handler);
    if (code == GSL_ENOMEM) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    return stated ? FR_OK : fr_fail(err, FR_ERR_NUMERIC, name, "the runs say nothing of it");
}
