#include "models/device/clock.h"

#include <math.h>

double fr_clock_voltage_squared(const struct fr_clock_voltage *voltage, double clock_Hz) {
    double v = 1 + voltage->slope_per_Hz * fmax(0, clock_Hz - voltage->knee_Hz);
    return v * v;
}

double fr_clock_power_W(const struct fr_clock_power *power, double clock_Hz) {
    return power->static_W +
           power->dynamic_J * clock_Hz * fr_clock_voltage_squared(&power->voltage, clock_Hz);
}

/* P grows with f, so halving finds it: forty times leave 1e-12 of the clock. */
double fr_clock_settled_Hz(const struct fr_clock_power *power, double clock_Hz,
                           double limit_W) {
    double low_Hz = 0.1 * clock_Hz, high_Hz = clock_Hz;
    if (fr_clock_power_W(power, clock_Hz) <= limit_W) return clock_Hz;
    for (int i = 0; i < 40; i++) {
        double mid_Hz = (low_Hz + high_Hz) / 2;
        if (fr_clock_power_W(power, mid_Hz) <= limit_W)
            low_Hz = mid_Hz;
        else
            high_Hz = mid_Hz;
    }
    return low_Hz;
}
