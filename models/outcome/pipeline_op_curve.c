#include "models/outcome/pipeline_op_curve.h"

#include <math.h>

void fr_pass_curve_add(struct fr_pass_curve *c, double longer_s, double energy_J) {
    while (c->n > 1) {
        double *x = c->longer_s, *y = c->energy_J;
        int b = c->n - 1, a = b - 1;
        if ((y[b] - y[a]) * (longer_s - x[a]) < (energy_J - y[a]) * (x[b] - x[a])) break;
        c->n--;
    }
    c->longer_s[c->n] = longer_s;
    c->energy_J[c->n++] = energy_J;
}

void fr_pass_curve_make(const struct fr_device *device, const struct fr_clocked_pass *pass,
                        struct fr_pass_curve *c) {
    double least_J = INFINITY;
    c->n = 0;
    for (int k = fr_device_clocks(&device->clock) - 1; k >= 0; k--) {
        double clock_Hz = fr_device_clock_at(&device->clock, k),
               energy_J = fr_clocked_J(device, pass, clock_Hz);
        if (energy_J >= least_J || (c->n > 0 && !(pass->compute_s > 0))) break;
        least_J = energy_J;
        fr_pass_curve_add(c, fr_clocked_longer_s(device, pass, clock_Hz), energy_J);
    }
}

double fr_pass_curve_J(const struct fr_pass_curve *c, double longer_s, double exact_s) {
    int b = 1;
    if (longer_s < -exact_s) return INFINITY;
    if (longer_s >= c->longer_s[c->n - 1]) return c->energy_J[c->n - 1];
    while (longer_s > c->longer_s[b]) b++;
    double share =
        fmax(0, longer_s - c->longer_s[b - 1]) / (c->longer_s[b] - c->longer_s[b - 1]);
    return c->energy_J[b - 1] + share * (c->energy_J[b] - c->energy_J[b - 1]);
}
