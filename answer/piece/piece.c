#include "answer/piece/piece.h"

#include <math.h>
#include <string.h>

#include "trust/interval.h"
#include "trust/numbers/statistics.h"

/* `forerun reproduce collectives`, rows ranks/: median of p90 over the series, by form. */
static const struct {
    const char *form;
    double miss;
} forms[] = {{"log", 0.67}, {"algorithm", 0.54}, {"segments", 0.42}, {"similarity", 0.33}};

/* `forerun reproduce gemm`, rows .../all: median of p90 over devices and kernels. */
const double fr_product_miss = 0.33;

double fr_form_miss(const char *form) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].form, form) == 0) return forms[i].miss;
    return forms[0].miss;
}

static void put(double time_s, double fast, double slow, double *low_s, double *high_s) {
    *low_s = time_s * exp(-fast);
    *high_s = time_s * exp(slow);
}

void fr_collective_widen(const struct fr_cluster *cluster, const char *form, double half,
                         double time_s, double *low_s, double *high_s) {
    if (!(time_s > 0)) return;
    bool stated = *low_s < time_s && time_s < *high_s;
    double model_error = stated ? 0 : log1p(fr_form_miss(form)),
           further =
               hypot(half, hypot(model_error, FR_NORMAL_90 * cluster->calibration.variation));
    put(time_s, hypot(log(time_s / *low_s), further), hypot(log(*high_s / time_s), further),
        low_s, high_s);
}

void fr_product_interval(struct fr_cluster *cluster, fr_dtype dtype,
                         const struct fr_gemm_shape *shape, double time_s, bool extrapolated,
                         double *low_s, double *high_s) {
    static const double moved = 0.02; /* logarithm by which a value is moved */
    const struct fr_calibration *c = &cluster->calibration;
    bool stated = c->held_out > 0, ignored = false;
    double width = hypot(stated ? fr_spread_of(c->held_out) : 0, c->variation);
    for (int j = 0; j < fr_coefficient_count(); j++) {
        double *at = fr_coefficient_at(j, cluster, dtype);
        if (!at || fr_coefficients[j].group != FR_GROUP_DEVICE) continue;
        double value = *at;
        *at = value * exp(-moved);
        double other_s = fr_gemm_time_s(&cluster->device, dtype, shape, &ignored),
               slope = log(other_s / time_s) / moved;
        *at = value;
        if (!(fabs(slope) > 0)) continue;
        stated = stated || fr_interval_stated(cluster, j, dtype) > 0;
        /* A calibration measured its own products, so the prior does not apply. */
        bool known = c->held_out > 0 && !(fr_interval_stated(cluster, j, dtype) > 0);
        if (!known) width = hypot(width, slope * fr_interval_width(cluster, j, dtype));
    }
    bool model_error = !stated || extrapolated;
    double half = hypot(FR_NORMAL_90 * width, model_error ? log1p(fr_product_miss) : 0);
    put(time_s, half, half, low_s, high_s);
}
