/* Rate = peak * d / (d + half_dim), d the smallest of m, n, k: small matrices do not fill the
 * processor.  The form behind Table I of the phantom-parallelism paper in our derivation. */
#include <math.h>

#include "models/device/device.h"

static const char *const keys[] = {"peak", "half_dim", "nominal_peak", "residuals", NULL};

static fr_status read(const struct fr_json *object, struct fr_gemm_model *model,
                      struct fr_error *err) {
    model->half = 0;
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(fr_json_get_quantity(object, "peak", true, FR_QUANTITY_WORK_RATE, 1, 1e24,
                                &model->peak_flop_per_s, err));
    return fr_json_get_number(object, "half_dim", false, 0, 1e9, &model->half, err);
}

/* 2 m n k / (peak d / (d + half)) with d the smallest; zero where a dimension is zero. */
static double time_s(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape,
                     bool *extrapolated) {
    (void)extrapolated;
    double smallest = fmin(shape->m, fmin(shape->n, shape->k));
    if (smallest <= 0) return 0;
    double work_flop = 2 * shape->m * shape->n * shape->k;
    return work_flop * (smallest + model->half) / (smallest * model->peak_flop_per_s);
}

const struct fr_gemm_form fr_gemm_saturating = {
    .name = "saturating",
    .equation = "t = 2 m n k (d + half_dim) / (d peak), d = min(m, n, k)",
    .source = "our derivation; half_dim after NVIDIA's Matrix Multiplication Performance Guide",
    .key = "half_dim",
    .read = read,
    .time_s = time_s,
};
