#include "calibrate/fit.h"

#include <stdio.h>
#include <stdlib.h>

#include "calibrate/fit_parts.h"

const char *const fr_fit_form_names[] = {"best", "log", "segments", NULL};

/* Points are sorted by op, so each op's are a stretch of the array. */
static fr_status fit_operations(struct fr_fit_result *result, fr_fit_form form) {
    for (int i = 0; i < result->n_points; i++) {
        struct fr_fit_op *op = &result->ops[result->points[i].op];
        if (op->n_points++ == 0) op->points = &result->points[i];
    }
    for (int i = 0; i < FR_OP_COUNT; i++)
        if (result->ops[i].n_points > 0) FR_TRY(fr_fit_operation(&result->ops[i], form));
    return FR_OK;
}

static fr_status fit_all(const struct fr_samples *samples, const struct fr_fit_options *options,
                         struct fr_fit_result *result, struct fr_error *err) {
    FR_TRY(fr_fit_medians(samples, &result->points, &result->n_points));
    FR_TRY(fit_operations(result, options->form));
    for (int i = 0; i < FR_DTYPE_COUNT; i++)
        FR_TRY(fr_fit_gemm_table(samples, (fr_dtype)i, &result->gemm[i]));
    FR_TRY(fr_fit_device(samples, options, result, err));
    return fr_fit_levels(result, err);
}

fr_status fr_fit(const struct fr_samples *samples, const struct fr_fit_options *options,
                 struct fr_fit_result *result, struct fr_error *err) {
    *result = (struct fr_fit_result){.provenance = samples->provenance};
    const char *host = *samples->provenance.host ? samples->provenance.host : "calibrated";
    snprintf(result->name, sizeof result->name, "%.63s", options->name ? options->name : host);
    fr_status status = fit_all(samples, options, result, err);
    if (status == FR_ERR_NOMEM) fr_fail(err, status, NULL, "the fit does not fit in memory");
    return status;
}

void fr_fit_free(struct fr_fit_result *result) {
    for (int i = 0; i < FR_OP_COUNT; i++) fr_fit_operation_free(&result->ops[i]);
    for (int i = 0; i < FR_DTYPE_COUNT; i++) fr_fit_gemm_free(&result->gemm[i]);
    free(result->points);
    *result = (struct fr_fit_result){0};
}
