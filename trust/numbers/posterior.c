#include "trust/numbers/posterior.h"

#include <gsl/gsl_linalg.h>

#include "trust/numbers/gsl_errors.h"

static double precision(const struct fr_posterior *p, size_t a, size_t b) {
    double sum = a == b ? 1 / (p->sigma[a] * p->sigma[a]) : 0;
    for (size_t i = 0; i < p->n_rows; i++)
        sum += p->weight[i] * p->jacobian[a * p->n_rows + i] * p->jacobian[b * p->n_rows + i] /
               (p->spread * p->spread);
    return sum;
}

fr_status fr_posterior_covariance(const struct fr_posterior *p, double *covariance,
                                  size_t stride, struct fr_error *err) {
    size_t n = p->n_coefficients;
    gsl_error_handler_t *before = fr_gsl_errors();
    gsl_matrix *m = n > 0 ? gsl_matrix_calloc(n, n) : NULL;
    for (size_t a = 0; m && a < n; a++)
        for (size_t b = 0; b < n; b++) gsl_matrix_set(m, a, b, precision(p, a, b));
    int code = m ? gsl_linalg_cholesky_decomp1(m) : GSL_ENOMEM;
    if (!code) code = gsl_linalg_cholesky_invert(m);
    gsl_set_error_handler(before);
    if (n == 0) return FR_OK;
    if (!m) return fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    for (size_t a = 0; a < n && !code; a++)
        for (size_t b = 0; b < n; b++) covariance[a * stride + b] = gsl_matrix_get(m, a, b);
    gsl_matrix_free(m);
    return code ? fr_fail(err, FR_ERR_NUMERIC, NULL, "the posterior has no covariance") : FR_OK;
}
