#include "studies/energy/pipelined.h"

#include <math.h>
#include <string.h>

bool fr_pipelined_is_other(const struct fr_pipelined *y, const struct fr_pipelined *x) {
    return y != x && strcmp(y->device, x->device) == 0;
}

/* u of a pipeline that its heaviest stage binds. */
static double bound_share(const struct fr_pipelined *x) {
    return x->micro_batches / (x->micro_batches + x->stages - 1) * x->balance;
}

static double rate(const struct fr_pipelined *x) {
    return x->flop / (bound_share(x) * x->devices * x->full_s);
}

/* R */
static double highest_rate(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                           const struct fr_pipelined *but) {
    double highest = 0;
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->items[i].device, x->device) == 0 && &t->items[i] != but)
            highest = fmax(highest, rate(&t->items[i]));
    return highest;
}

double fr_pipelined_share(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                          const struct fr_pipelined *but) {
    double highest = highest_rate(t, x, but);
    return rate(x) < 0.5 * highest ? x->flop / (highest * x->devices * x->full_s)
                                   : bound_share(x);
}

double fr_pipelined_waiting_W(const struct fr_pipelined *x, double share, double work_W) {
    double mean_W = x->full_J / x->full_s / x->devices;
    return fmin(work_W, fmax(0, (mean_W - share * work_W) / (1 - share)));
}

/* v(f)^2 over that at the highest clock. */
static double voltage_ratio(const struct fr_pipelined *x, const struct fr_pipelined_device *d,
                            double clock_Hz) {
    const struct fr_clock_voltage *v = &d->stage.voltage;
    return fr_clock_voltage_squared(v, clock_Hz) / fr_clock_voltage_squared(v, x->full_Hz);
}

double fr_pipelined_energy_J(const struct fr_pipelined *x, const struct fr_clock_plan *p,
                             const struct fr_pipelined_device *d, double share) {
    double n = x->devices, free_Hz = d->free_share * x->full_Hz,
           static_W = fmin(d->static_W, 0.95 * x->full_J / x->full_s / n),
           dynamic_J = x->full_J - n * static_W * x->full_s, busy_s = share * n * x->full_s,
           work_J = fmin(dynamic_J, fmax(0, d->work_W - static_W) * busy_s),
           fixed = d->stage.fixed_share,
           longer = fmax(1, fixed + (1 - fixed) * free_Hz / p->mean_Hz),
           waits = fmax(0, n * p->time_s - longer * busy_s) / (n * x->full_s - busy_s);
    return n * static_W * p->time_s +
           work_J * voltage_ratio(x, d, fmin(p->mean_Hz, free_Hz)) /
               voltage_ratio(x, d, free_Hz) +
           (dynamic_J - work_J) * waits * p->mean_Hz / x->full_Hz *
               voltage_ratio(x, d, p->mean_Hz);
}
