#include "models/device/jitter.h"

#include <math.h>

static const double normal_95 = 1.645;

double fr_jitter_s(const struct fr_device *device, double ranks, double time_s) {
    const struct fr_interruptions *i = &device->interruptions;
    double jitter_s = device->jitter_s;
    if (!(jitter_s > 0) && i->every_s > 0) jitter_s = i->length_s / sqrt(i->every_s);
    return hypot(jitter_s * sqrt(ranks * time_s), device->jitter_share * time_s);
}

bool fr_jitter_steps(const struct fr_device *device, double ranks, double time_s, double *p05_s,
                     double *p95_s) {
    if (!(time_s > 0) || !isfinite(time_s)) return false;
    double share = fr_jitter_s(device, ranks, time_s) / time_s;
    *p05_s = time_s * exp(-normal_95 * share);
    *p95_s = time_s * exp(normal_95 * share);
    return share > 0 && isfinite(*p95_s);
}
