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
double fr_clock_steady_Hz(const struct fr_clock_power *power, double clock_Hz, double limit_W) {
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

/* ---- of a cluster file ------------------------------------------------------------------------ */

static const char *const keys[] = {"min",    "max",   "step",   "knee", "rise",
                                   "static", "fixed", "source", NULL};

static fr_status read_range(const struct fr_json *object, struct fr_device_clock *c,
                            struct fr_error *err) {
    struct fr_json min = fr_json_member(object, "min"), knee = fr_json_member(object, "knee");
    const struct {
        const char *key;
        bool required;
        double *out;
    } rows[] = {{"max", true, &c->max_Hz},
                {"min", true, &c->min_Hz},
                {"step", false, &c->step_Hz},
                {"knee", true, &c->voltage.knee_Hz}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        FR_TRY(fr_json_get_quantity(object, rows[i].key, rows[i].required,
                                    FR_QUANTITY_FREQUENCY, 1e6, 1e11, rows[i].out, err));
    if (c->min_Hz > c->max_Hz)
        return fr_json_fail(&min, err, "is %.6g Hz; expected at most the %.6g Hz of \"max\"",
                            c->min_Hz, c->max_Hz);
    if (c->voltage.knee_Hz > c->max_Hz)
        return fr_json_fail(&knee, err, "is %.6g Hz; expected at most the %.6g Hz of \"max\"",
                            c->voltage.knee_Hz, c->max_Hz);
    return FR_OK;
}

fr_status fr_device_clock_read(const struct fr_json *object, struct fr_device_clock *c,
                               struct fr_error *err) {
    double rise = 0;
    char source[512];
    *c = (struct fr_device_clock){.step_Hz = 15e6};
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(read_range(object, c, err));
    FR_TRY(fr_json_get_string(object, "source", false, source, sizeof source, err));
    FR_TRY(fr_json_get_number(object, "rise", true, 0, 10, &rise, err));
    FR_TRY(fr_json_get_number(object, "static", true, 0, 1, &c->static_share, err));
    FR_TRY(fr_json_get_number(object, "fixed", true, 0, 1, &c->fixed_share, err));
    if (c->max_Hz > c->voltage.knee_Hz)
        c->voltage.slope_per_Hz = rise / (c->max_Hz - c->voltage.knee_Hz);
    c->known = true;
    return FR_OK;
}

double fr_device_clock_slower(const struct fr_device_clock *c, double clock_Hz) {
    if (!(clock_Hz > 0)) return 1;
    return c->fixed_share + (1 - c->fixed_share) * c->max_Hz / clock_Hz;
}

double fr_device_clock_power(const struct fr_device_clock *c, double clock_Hz) {
    if (!(clock_Hz > 0)) return 1;
    return c->static_share + (1 - c->static_share) * clock_Hz / c->max_Hz *
                                 fr_clock_voltage_squared(&c->voltage, clock_Hz) /
                                 fr_clock_voltage_squared(&c->voltage, c->max_Hz);
}

int fr_device_clocks(const struct fr_device_clock *c) {
    return 1 + (int)floor((c->max_Hz - c->min_Hz) / c->step_Hz * (1 + 1e-12));
}

double fr_device_clock_at(const struct fr_device_clock *c, int i) {
    return c->max_Hz - (fr_device_clocks(c) - 1 - i) * c->step_Hz;
}

double fr_device_clock_within(const struct fr_device_clock *c, double busy_W, double limit_W) {
    int i = fr_device_clocks(c) - 1;
    while (i > 0 && busy_W * fr_device_clock_power(c, fr_device_clock_at(c, i)) > limit_W) i--;
    return fr_device_clock_at(c, i);
}
