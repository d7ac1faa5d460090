/* Readings, and the energy between two times.
 *
 *      counter   E(t1) - E(t0), E linear between readings
 *      gauge     integral of P from t0 to t1, P linear between readings (trapezoids)
 *
 * Outside the readings the nearest power is taken to have gone on. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/measure/power.h"

static bool grow(void **items, size_t capacity, size_t item_B) {
    void *grown = fr_realloc(*items, capacity, item_B);
    if (grown) *items = grown;
    return grown != NULL;
}

fr_status fr_power_log_add(struct fr_power_log *log, double t_s, double value, int quality) {
    size_t n = log->n;
    if (!isfinite(t_s) || !isfinite(value) || value < 0) return FR_OK;
    if (n > 0 && (t_s <= log->t_s[n - 1] || (log->counter && value < log->value[n - 1])))
        return FR_OK;
    if (n == log->capacity) {
        size_t capacity = n ? 2 * n : 64;
        void *t = log->t_s, *v = log->value, *q = log->quality;
        bool grown = grow(&t, capacity, sizeof *log->t_s) &&
                     grow(&v, capacity, sizeof *log->value) &&
                     grow(&q, capacity, sizeof *log->quality);
        log->t_s = t;
        log->value = v;
        log->quality = q;
        if (!grown) return FR_ERR_NOMEM;
        log->capacity = capacity;
    }
    log->t_s[n] = t_s;
    log->value[n] = value;
    log->quality[n] = quality;
    log->n++;
    return FR_OK;
}

void fr_power_log_free(struct fr_power_log *log) {
    free(log->t_s);
    free(log->value);
    free(log->quality);
    *log = (struct fr_power_log){.counter = log->counter};
}

/* Last reading at or before @p t_s, at most the last but one; 0 when there is none. */
static size_t segment(const struct fr_power_log *log, double t_s) {
    size_t low = 0, high = log->n - 1; /* t[low] <= t < t[high], but at the rims */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (log->t_s[middle] <= t_s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The value at @p t_s on the line through two readings; it goes on beyond a counter's ends. */
static double on_line(const struct fr_power_log *log, size_t i, double t_s) {
    double share = (t_s - log->t_s[i]) / (log->t_s[i + 1] - log->t_s[i]);
    return log->value[i] + share * (log->value[i + 1] - log->value[i]);
}

static double power_at(const struct fr_power_log *log, double t_s) {
    if (log->n == 1 || t_s <= log->t_s[0]) return log->value[0];
    if (t_s >= log->t_s[log->n - 1]) return log->value[log->n - 1];
    return on_line(log, segment(log, t_s), t_s);
}

static double integral_J(const struct fr_power_log *log, double from_s, double to_s) {
    double energy_J = 0, at_s = from_s, power_W = power_at(log, from_s);
    for (size_t i = 0; i < log->n; i++) {
        if (log->t_s[i] <= from_s || log->t_s[i] >= to_s) continue;
        energy_J += (log->value[i] + power_W) / 2 * (log->t_s[i] - at_s);
        at_s = log->t_s[i];
        power_W = log->value[i];
    }
    return energy_J + (power_at(log, to_s) + power_W) / 2 * (to_s - at_s);
}

double fr_power_log_energy_J(const struct fr_power_log *log, double from_s, double to_s,
                             int *quality) {
    *quality = FR_QUALITY_UNAVAILABLE;
    if (log->n < (log->counter ? 2 : 1) || !(to_s >= from_s)) return 0;
    *quality = FR_QUALITY_MEASURED;
    size_t first = log->n > 1 ? segment(log, from_s) : 0,
           last = log->n > 1 ? segment(log, to_s) + 1 : 0;
    for (size_t i = first; i <= last; i++)
        if (log->quality[i] > *quality) *quality = log->quality[i];
    bool covered = log->t_s[0] <= from_s && log->t_s[log->n - 1] >= to_s;
    if (!covered && *quality < FR_QUALITY_ESTIMATED) *quality = FR_QUALITY_ESTIMATED;
    if (!log->counter) return integral_J(log, from_s, to_s);
    return fmax(0, on_line(log, last - 1, to_s) - on_line(log, first, from_s));
}
