#include "trust/numbers/nlfit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

#include "trust/numbers/gsl_errors.h"

static const struct fr_nlfit_limits exact = {.tolerance = 1e-8, .iterations_max = 500};

struct problem {
    fr_residuals_fn residuals;
    void *ctx;
    gsl_vector *params; /* scratch: the parameters themselves */
    gsl_vector *values; /* scratch: residuals side by side */
};

static int evaluate(const gsl_vector *logs, void *data, gsl_vector *out) {
    struct problem *problem = data;
    for (size_t i = 0; i < logs->size; i++)
        gsl_vector_set(problem->params, i, exp(gsl_vector_get(logs, i)));
    /* GSL may hand in a column of its Jacobian, whose entries do not lie side by side. */
    problem->residuals(problem->ctx, problem->params->data, problem->values->data);
    gsl_vector_memcpy(out, problem->values);
    for (size_t i = 0; i < out->size; i++)
        if (!isfinite(gsl_vector_get(out, i))) return GSL_EDOM;
    return GSL_SUCCESS;
}

static fr_status solve(struct problem *problem, const struct fr_nlfit_limits *limits,
                       gsl_multifit_nlinear_workspace *work, gsl_vector *logs,
                       double *sum_of_squares, struct fr_error *err) {
    gsl_multifit_nlinear_fdf fdf = {
        .f = evaluate, .n = work->f->size, .p = logs->size, .params = problem};
    int info = 0;
    int code = gsl_multifit_nlinear_init(logs, &fdf, work);
    if (code)
        return fr_fail(err, FR_ERR_NUMERIC, NULL,
                       "the start of the fit has no finite residuals");
    code = gsl_multifit_nlinear_driver(limits->iterations_max, limits->tolerance, 1e-10, 0,
                                       NULL, NULL, &info, work);
    /* No further progress is how a fit to exact data ends; the point reached is the answer. */
    if (code == GSL_EMAXITER && limits->accept_last) code = GSL_SUCCESS;
    if (code && code != GSL_ENOPROG && code != GSL_ETOLX && code != GSL_ETOLF &&
        code != GSL_ETOLG)
        return fr_fail(err, FR_ERR_NUMERIC, NULL, "the fit did not converge: %s",
                       gsl_strerror(code));
    gsl_vector *residuals = gsl_multifit_nlinear_residual(work);
    gsl_blas_ddot(residuals, residuals, sum_of_squares);
    return FR_OK;
}

static fr_status fit(const struct fr_nlfit_limits *limits, fr_residuals_fn residuals, void *ctx,
                     size_t n_params, size_t n_residuals, double *params, double *rms,
                     struct fr_error *err) {
    gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    settings.fdtype =
        limits->forward ? GSL_MULTIFIT_NLINEAR_FWDIFF : GSL_MULTIFIT_NLINEAR_CTRDIFF;
    struct problem problem = {residuals, ctx, gsl_vector_alloc(n_params),
                              gsl_vector_alloc(n_residuals)};
    gsl_vector *logs = gsl_vector_alloc(n_params);
    gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &settings, n_residuals, n_params);
    double sum_of_squares = 0;
    fr_status status = fr_fail(err, FR_ERR_NOMEM, NULL, "the fit does not fit in memory");
    if (!problem.params || !problem.values || !logs || !work) goto done;
    for (size_t i = 0; i < n_params; i++) gsl_vector_set(logs, i, log(params[i]));
    status = solve(&problem, limits, work, logs, &sum_of_squares, err);
    if (status != FR_OK) goto done;
    for (size_t i = 0; i < n_params; i++)
        params[i] = exp(gsl_vector_get(gsl_multifit_nlinear_position(work), i));
    if (rms) *rms = sqrt(sum_of_squares / (double)n_residuals);
done:
    if (work) gsl_multifit_nlinear_free(work);
    gsl_vector_free(logs);
    gsl_vector_free(problem.params);
    gsl_vector_free(problem.values);
    return status;
}

fr_status fr_nlfit(fr_residuals_fn residuals, void *ctx, size_t n_params, size_t n_residuals,
                   double *params, double *rms, struct fr_error *err) {
    return fr_nlfit_within(&exact, residuals, ctx, n_params, n_residuals, params, rms, err);
}

fr_status fr_nlfit_within(const struct fr_nlfit_limits *limits, fr_residuals_fn residuals,
                          void *ctx, size_t n_params, size_t n_residuals, double *params,
                          double *rms, struct fr_error *err) {
    if (n_params == 0 || n_residuals < n_params)
        return fr_fail(err, FR_ERR_INPUT, NULL, "%zu values cannot fix %zu parameters",
                       n_residuals, n_params);
    for (size_t i = 0; i < n_params; i++)
        if (!(params[i] > 0) || !isfinite(params[i]))
            return fr_fail(err, FR_ERR_INPUT, NULL,
                           "parameter %zu starts at %g; it must be > 0", i, params[i]);
    /* By default GSL aborts the program; its codes are wanted instead. */
    gsl_error_handler_t *before = fr_gsl_errors();
    fr_status status = fit(limits, residuals, ctx, n_params, n_residuals, params, rms, err);
    gsl_set_error_handler(before);
    return status;
}
