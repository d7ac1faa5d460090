/* The papers' form, least squares of relative errors. */
#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"

static fr_status fit(const struct fr_fit_point *points, int n, bool gpu,
                     struct fr_price *price) {
    struct fr_fit_log log = {0};
    (void)gpu;
    FR_TRY(fr_fit_log_form(points, n, true, -1, &log));
    if (!log.present) return FR_OK;
    price->form = &fr_form_log;
    price->c1_s = log.c1_s;
    price->c2_s_per_B = log.c2_s_per_B;
    price->c3_s = log.c3_s;
    return FR_OK;
}

const struct fr_fitter fr_fitter_log = {.name = "log", .fit = fit};
