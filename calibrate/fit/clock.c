/* The law of the clock (models/device/clock.h) from power that was metered at clocks that were set: of products
 * and of passes over memory, which share the device's voltage.  A rank's share of its node counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/energy/clock_fit.h"
#include "calibrate/energy/line.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

enum { KINDS = 2, LEAST = 3 };

static const int kinds[KINDS] = {FR_POWER_BUSY, FR_POWER_MEMORY};

struct seen {
    struct fr_clock_point points[FR_LINE_POINTS_MAX];
    int n;
};

static bool usable(const struct fr_sample_power *s, int state) {
    return s->state == state && s->clock_Hz > 0 && s->call_s > 0 && s->power_W > 0 &&
           s->quality != FR_QUALITY_UNAVAILABLE;
}

/* Medians over the windows of @p state at @p clock_Hz. */
static struct fr_clock_point point_at(const struct fr_samples *samples, int state,
                                      double clock_Hz, double *power_W, double *call_s) {
    size_t n = 0;
    for (size_t i = 0; i < samples->n_power; i++) {
        const struct fr_sample_power *s = &samples->power[i];
        if (!usable(s, state) || s->clock_Hz != clock_Hz) continue;
        power_W[n] = s->power_W / (double)s->n_ranks;
        call_s[n++] = s->call_s;
    }
    fr_sort(power_W, n);
    fr_sort(call_s, n);
    double time_s = fr_sorted_median(call_s, n);
    return (struct fr_clock_point){clock_Hz, time_s, time_s * fr_sorted_median(power_W, n)};
}

static int by_clock(const void *a, const void *b) {
    const struct fr_clock_point *x = a, *y = b;
    return FR_ORDER(x->clock_Hz, y->clock_Hz);
}

static void collect(const struct fr_samples *samples, int state, double *scratch,
                    struct seen *seen) {
    seen->n = 0;
    for (size_t i = 0; i < samples->n_power && seen->n < FR_LINE_POINTS_MAX; i++) {
        const struct fr_sample_power *s = &samples->power[i];
        bool known = !usable(s, state);
        for (int k = 0; k < seen->n && !known; k++)
            known = seen->points[k].clock_Hz == s->clock_Hz;
        if (!known)
            seen->points[seen->n++] =
                point_at(samples, state, s->clock_Hz, scratch, scratch + samples->n_power);
    }
    fr_sort_items(seen->points, (size_t)seen->n, sizeof *seen->points, by_clock);
}

/* From the series of products; clocks are given as if evenly spread, which they were asked to be. */
static void set_clock(const struct seen *products, const struct fr_clock_fitted *f,
                      struct fr_fit_clock *clock) {
    double min_Hz = products->points[0].clock_Hz,
           max_Hz = products->points[products->n - 1].clock_Hz;
    const struct fr_clock_voltage *v = &f->power.voltage;
    clock->known = true;
    clock->min_Hz = min_Hz;
    clock->max_Hz = max_Hz;
    clock->step_Hz = (max_Hz - min_Hz) / (products->n - 1);
    clock->knee_Hz = fmin(v->knee_Hz, max_Hz);
    clock->rise = v->slope_per_Hz * fmax(0, max_Hz - v->knee_Hz);
    clock->static_share = f->power.static_W / fr_clock_power_W(&f->power, max_Hz);
    clock->fixed_share = f->time.fixed_s / fr_clock_time_s(&f->time, max_Hz);
}

fr_status fr_fit_clocks(const struct fr_samples *samples, struct fr_fit_result *result,
                        struct fr_error *err) {
    struct fr_clock_series series[KINDS];
    struct fr_clock_fitted fitted[KINDS];
    struct seen *seen = fr_calloc(KINDS, sizeof *seen);
    double *scratch = fr_calloc(2 * samples->n_power + 1, sizeof *scratch);
    fr_status status = seen && scratch ? FR_OK : FR_ERR_NOMEM;
    int n = 0;
    result->clock = (struct fr_fit_clock){.known = false};
    for (int k = 0; k < KINDS && status == FR_OK; k++) {
        collect(samples, kinds[k], scratch, &seen[k]);
        if (seen[k].n >= LEAST)
            series[n++] = (struct fr_clock_series){seen[k].points, seen[k].n};
    }
    if (status == FR_OK && n > 0 && seen[0].n >= LEAST) {
        status = fr_clock_fit(series, n, fitted, NULL, err);
        if (status == FR_OK) set_clock(&seen[0], &fitted[0], &result->clock);
    }
    free(scratch);
    free(seen);
    return status;
}
