#include "models/outcome/fits/fits.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "models/outcome/memory.h"

/* Nine tenths of a normal distribution lie within this many standard deviations; five in a hundred lie below, as for
 * plans that are refused. */
static const double NINETY = -FR_FITS_REFUSED;

double fr_fits_probability(double spare) { return erfc(-spare / sqrt(2)) / 2; }

/* Phi grows: halving finds it, to the last bits of what a level is said in. */
double fr_fits_spare(double probability) {
    double low = -40, high = 40;
    if (!(probability > 0)) return -INFINITY;
    if (!(probability < 1)) return INFINITY;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (fr_fits_probability(middle) < probability)
            low = middle;
        else
            high = middle;
    }
    return high;
}

const char *fr_fits_percent(double probability, char text[FR_FITS_PERCENT]) {
    const double least = 0.001;
    snprintf(text, FR_FITS_PERCENT, "%s%.3g %%",
             probability > 1 - least ? "over "
             : probability < least   ? "under "
                                     : "",
             100 * fmin(1 - least, fmax(least, probability)));
    return text;
}

/* Ranks of the largest group that sends all to all; 1: none. */
static int64_t all_to_all_ranks(const struct fr_plan *plan) {
    int64_t heads = plan->context_heads && plan->cp > 1 ? plan->cp : 1;
    return plan->ep > heads ? plan->ep : heads;
}

/* Memory that the allocator does not count [B]. */
static double beside_B(const struct fr_shown *s, const struct fr_plan *plan, int64_t ranks) {
    enum { PEERS = 7 };
    const int64_t peers = all_to_all_ranks(plan) - 1;
    if (ranks <= 1) return s->context_B;
    int groups =
        (plan->tp > 1) + (plan->cp > 1) + (plan->pp > 1) + (plan->dp > 1) + (plan->ep > 1);
    return s->context_B + s->first_B + s->each_B * groups +
           s->all_to_all_B * (double)(peers < PEERS ? peers : PEERS) / PEERS;
}

static double times(const struct fr_shown *s, double ratio) {
    return s->margin || !(ratio > 0) ? 1 : ratio;
}

/* Their peaks were measured. */
static double spread_of(const struct fr_job *job) {
    return job->workload.transformer.layers > 0 ? FR_MEMORY_SPREAD : 0;
}

static double deviation_B(const struct fr_shown *s, double tensors_B, double tensors_spread,
                          double ratio_spread) {
    return sqrt(tensors_B * tensors_B *
                    (tensors_spread * tensors_spread + ratio_spread * ratio_spread) +
                s->deviation_B * s->deviation_B);
}

void fr_fits_add(const struct fr_job *job, struct fr_outcome *out) {
    const struct fr_device *device = &job->cluster.device;
    const struct fr_shown *s = &device->shown;
    double tensors_B = times(s, s->least) * out->memory_peak_B,
           left_B = device->memory_B - tensors_B - beside_B(s, &out->plan, out->ranks),
           by_B = deviation_B(s, tensors_B, spread_of(job), s->least_deviation);
    out->memory_spare = !(device->memory_B > 0) ? NAN
                        : by_B > 0              ? left_B / by_B
                        : left_B >= 0           ? INFINITY
                                                : -INFINITY;
    if (out->memory_spare < FR_FITS_REFUSED ||
        (device->host_memory_B > 0 && out->host_memory_B > device->host_memory_B))
        out->reasons |= FR_BECAUSE(FR_REASON_MEMORY);
}

struct fr_fits fr_fits_of(const struct fr_job *job, const struct fr_outcome *out) {
    const struct fr_shown *s = &job->cluster.device.shown;
    struct fr_fits f = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (job->cluster.device.memory_B > 0) f.memory_B = job->cluster.device.memory_B;
    if (!isfinite(out->time_s) || !isfinite(out->parameters)) return f;
    double spread = spread_of(job), beside = beside_B(s, &out->plan, out->ranks),
           least_B = times(s, s->least) * out->memory_peak_B;
    f.reserved_B = times(s, s->reserved) * out->memory_peak_B + out->memory_step_B;
    if (out->memory_step_B > 0) /* what is not there it gives back, down to what it needs */
        f.reserved_B = fmax(least_B, fmin(f.reserved_B, f.memory_B - beside));
    double shown_by_B = deviation_B(s, f.reserved_B, spread, s->reserved_deviation),
           reserved_by_B = f.reserved_B * hypot(spread, s->margin ? 0 : s->reserved_deviation),
           needed_by_B = deviation_B(s, least_B, spread, s->least_deviation);
    f.reserved_low_B = f.reserved_B - NINETY * reserved_by_B;
    f.reserved_high_B = f.reserved_B + NINETY * reserved_by_B;
    f.shown_B = f.reserved_B + beside;
    f.shown_low_B = f.shown_B - NINETY * shown_by_B;
    f.shown_high_B = f.shown_B + NINETY * shown_by_B;
    f.needed_B = least_B + beside;
    f.needed_low_B = f.needed_B - NINETY * needed_by_B;
    f.needed_high_B = f.needed_B + NINETY * needed_by_B;
    f.probability = fr_fits_probability(out->memory_spare);
    return f;
}

/* " 71.2": of a small share as many digits as tell it from nothing. */
static void add_size(double size, char *line, size_t *used) {
    fr_line_addf(line, FR_FITS_LINE, used, fabs(size) < 1 ? " %.3g" : " %.1f", size);
}

const char *fr_fits_line(const struct fr_fits *f, char line[FR_FITS_LINE]) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    const double whole_B = isfinite(f->memory_B) ? f->memory_B : f->needed_B;
    char percent[FR_FITS_PERCENT];
    double unit_B = 1;
    size_t used = 0;
    int u = 0;
    for (; u < 4 && whole_B >= 1000 * unit_B; u++) unit_B *= 1000;
    if (isnan(f->probability))
        fr_line_addf(line, FR_FITS_LINE, &used, "needs");
    else
        fr_line_addf(line, FR_FITS_LINE, &used,
                     "fits with %s:", fr_fits_percent(f->probability, percent));
    add_size(f->needed_B / unit_B, line, &used);
    if (isfinite(f->memory_B)) {
        fr_line_addf(line, FR_FITS_LINE, &used, " of");
        add_size(f->memory_B / unit_B, line, &used);
    }
    fr_line_addf(line, FR_FITS_LINE, &used, " %s", units[u]);
    if (!(f->needed_high_B > f->needed_B)) return line;
    fr_line_addf(line, FR_FITS_LINE, &used, ",");
    add_size(f->needed_low_B / unit_B, line, &used);
    fr_line_addf(line, FR_FITS_LINE, &used, " to");
    add_size(f->needed_high_B / unit_B, line, &used);
    return line;
}
