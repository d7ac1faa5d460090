#include "calibrate/fit/products.h"

#include <math.h>
#include <string.h>

#include "trust/numbers/nlfit.h"

static const double knee = 2, scale = 0.05, width = 0.5, unknown = 2;
/* Where presets without rows start. */
static const double efficiency_start = 0.65, tail_start = 0.4;

double fr_products_ratio(const struct fr_products *p, int i) {
    const struct fr_product_timed *x = &p->item[i];
    bool extrapolated = false;
    double time_s =
        fr_gemm_time_of_s(&p->device, p->dtype, &x->shape, x->result, &extrapolated);
    if (!x->gradient) time_s += fr_gemm_own_s(&p->device, p->dtype, &x->shape);
    return x->count * time_s / x->time_s;
}

double fr_products_mean_error(const struct fr_products *p) {
    double sum = 0;
    for (int i = 0; i < p->n; i++) sum += fabs(fr_products_ratio(p, i) - 1);
    return sum / p->n;
}

bool fr_products_values(struct fr_products *p, double *value[FR_PRODUCT_VALUES],
                        const char *names[FR_PRODUCT_VALUES]) {
    struct fr_gemm_model *gemm = &p->device.gemm[p->dtype];
    if (gemm->form == &fr_gemm_tiled) {
        value[0] = &gemm->tiles.efficiency;
        value[1] = &gemm->tiles.tail;
        names[0] = "efficiency";
        names[1] = "tail";
        return true;
    }
    if (gemm->form != &fr_gemm_saturating || !(gemm->half > 0)) return false;
    value[0] = &gemm->peak_flop_per_s;
    value[1] = &gemm->half;
    names[0] = "peak";
    names[1] = "half_dim";
    return true;
}

static double huber(double error) {
    double rho = 2 * knee * knee * (sqrt(1 + error * error / (knee * knee)) - 1);
    return copysign(sqrt(rho), error);
}

struct fit {
    struct fr_products *products;
    double *value[FR_PRODUCT_VALUES], start[FR_PRODUCT_VALUES];
};

static void residuals(void *context, const double *x, double *out) {
    struct fit *f = context;
    int n = f->products->n;
    for (int k = 0; k < FR_PRODUCT_VALUES; k++) {
        *f->value[k] = x[k];
        out[n + k] = log(x[k] / f->start[k]) / width;
    }
    for (int i = 0; i < n; i++) out[i] = huber(log(fr_products_ratio(f->products, i)) / scale);
}

static void find_widths(const struct fit *f, double sigma[FR_PRODUCT_VALUES]) {
    const double step = 0.02;
    double square = 0, a = 0, b = 0, c = 0;
    for (int i = 0; i < f->products->n; i++) {
        double error = log(fr_products_ratio(f->products, i)), by[FR_PRODUCT_VALUES];
        for (int k = 0; k < FR_PRODUCT_VALUES; k++) {
            double at = *f->value[k];
            *f->value[k] = at * exp(step);
            by[k] = (log(fr_products_ratio(f->products, i)) - error) / step;
            *f->value[k] = at;
        }
        square += error * error;
        a += by[0] * by[0];
        b += by[0] * by[1];
        c += by[1] * by[1];
    }
    sigma[0] = sqrt(square / (f->products->n - FR_PRODUCT_VALUES));
    sigma[1] = sigma[0] * sqrt(a / (a * c - b * b));
    for (int k = 0; k < FR_PRODUCT_VALUES; k++)
        if (!(sigma[k] <= unknown)) sigma[k] = unknown;
}

fr_status fr_products_fit(struct fr_products *p, double x[FR_PRODUCT_VALUES],
                          double sigma[FR_PRODUCT_VALUES], struct fr_error *err) {
    struct fit f = {.products = p};
    const char *names[FR_PRODUCT_VALUES];
    if (!p->device.gemm[p->dtype].form)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the device has no %s products to fit",
                       fr_dtype_names[p->dtype]);
    if (!fr_products_values(p, f.value, names))
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "the device's %s products are of a form that single products are not fitted to: "
            "expected \"efficiency\" or \"half_dim\"",
            fr_dtype_names[p->dtype]);
    if (p->n <= FR_PRODUCT_VALUES)
        return fr_fail(err, FR_ERR_INPUT, NULL, "%d %s products say too little: expected %d",
                       p->n, fr_dtype_names[p->dtype], FR_PRODUCT_VALUES + 1);
    bool tiled = p->device.gemm[p->dtype].form == &fr_gemm_tiled;
    f.start[0] = tiled ? efficiency_start : *f.value[0];
    f.start[1] = tiled ? tail_start : *f.value[1];
    memcpy(x, f.start, sizeof f.start);
    FR_TRY(fr_nlfit(residuals, &f, FR_PRODUCT_VALUES, (size_t)(p->n + FR_PRODUCT_VALUES), x,
                    NULL, err));
    for (int k = 0; k < FR_PRODUCT_VALUES; k++) *f.value[k] = x[k];
    if (sigma) find_widths(&f, sigma);
    return FR_OK;
}
