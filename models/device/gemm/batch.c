/* Rate = peak * b / (b + half_batch), b the local batch, constant beyond full_batch.  For
 * processors known only by images per second against batch, as the Knights Landing of the
 * 1.5D paper (Fig. 3): such a figure is of a whole training step. */
#include <math.h>

#include "models/device/device.h"

static const char *const keys[] = {"peak",         "half_batch", "full_batch",
                                   "nominal_peak", "residuals",  NULL};

static fr_status read(const struct fr_json *object, struct fr_gemm_model *model,
                      struct fr_error *err) {
    model->full_batch = 1e18;
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(fr_json_get_quantity(object, "peak", true, FR_QUANTITY_WORK_RATE, 1, 1e24,
                                &model->peak_flop_per_s, err));
    FR_TRY(fr_json_get_number(object, "half_batch", true, 0, 1e9, &model->half, err));
    return fr_json_get_number(object, "full_batch", false, 1, 1e18, &model->full_batch, err);
}

static double time_s(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape,
                     bool *extrapolated) {
    (void)extrapolated;
    double batch = fmin(shape->batch, model->full_batch);
    if (batch <= 0) return 0;
    double work_flop = 2 * shape->m * shape->n * shape->k;
    return work_flop * (batch + model->half) / (batch * model->peak_flop_per_s);
}

const struct fr_gemm_form fr_gemm_batch = {
    .name = "batch",
    .equation = "t = 2 m n k (b + half_batch) / (b peak), b = min(local batch, full_batch)",
    .source = "after Gholami et al., Integrated Model and Data Parallelism in Training Neural "
              "Networks, 2017, Fig. 3 (time of an epoch against batch)",
    .key = "half_batch",
    .whole_step = true,
    .read = read,
    .time_s = time_s,
};
