/* Power of a rank at work, waiting and communicating: a node's, as the meters saw it, shared by
 * its ranks; else what the user states; else an assumption.  Each says which. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"
#include "trust/numbers/statistics.h"

/* Where no meter exists: an assumption, the thermal design power of a server processor (350 W,
 * 56 cores) shared out over its cores, and a quarter of that at rest. */
static const double ASSUMED_BUSY_W = 6.3, ASSUMED_IDLE_W = 1.6;

/* Median of one state over all windows at the clock that was found, a rank's share [W]; NAN
 * where there is none.  While waiting: the power left to those that wait for the one asleep. */
static double median_W(const struct fr_samples *samples, int state, double idle_W,
                       double *scratch, int *quality) {
    size_t n = 0;
    for (size_t i = 0; i < samples->n_power; i++) {
        const struct fr_sample_power *s = &samples->power[i];
        double asleep = state == FR_POWER_AWAITING ? 1 : 0,
               others = (double)s->n_ranks - asleep;
        if (s->state != state || s->quality == FR_QUALITY_UNAVAILABLE || s->clock_Hz > 0 ||
            others <= 0)
            continue;
        scratch[n++] = asleep > 0 ? (s->power_W - idle_W) / others : s->power_W / others;
        if (quality && s->quality > *quality) *quality = s->quality;
    }
    if (n == 0) return NAN;
    fr_sort(scratch, n);
    return fr_sorted_median(scratch, n);
}

static void set_work(const struct fr_samples *samples, double *scratch, int *quality,
                     struct fr_fit_result *result) {
    for (int state = 0; state < FR_POWER_STATES; state++)
        result->work_W[state] = median_W(samples, state, result->work_W[FR_POWER_IDLE], scratch,
                                         state <= FR_POWER_COMMUNICATING ? quality : NULL);
}

static void state_assumption(const struct fr_fit_options *options,
                             struct fr_fit_result *result) {
    bool given = options->busy_W >= 0;
    result->busy_W = given ? options->busy_W : ASSUMED_BUSY_W;
    result->idle_W = options->idle_W >= 0 ? options->idle_W
                     : given              ? 0.25 * options->busy_W
                                          : ASSUMED_IDLE_W;
    result->communicating_W = -1;
    result->power_quality = FR_QUALITY_ESTIMATED;
    snprintf(result->power_source, sizeof result->power_source, "%s",
             given ? "stated on the command line, not measured"
                   : "assumed, not measured: one core's share of a 350 W, 56-core server "
                     "processor, a quarter of it idle");
}

fr_status fr_fit_power(const struct fr_samples *samples, const struct fr_fit_options *options,
                       struct fr_fit_result *result) {
    double *scratch = fr_malloc(samples->n_power + 1, sizeof *scratch);
    if (!scratch) return FR_ERR_NOMEM;
    int quality = FR_QUALITY_MEASURED;
    set_work(samples, scratch, &quality, result);
    free(scratch);
    double busy_W = result->work_W[FR_POWER_BUSY], idle_W = result->work_W[FR_POWER_IDLE],
           communicating_W = result->work_W[FR_POWER_COMMUNICATING];
    state_assumption(options, result);
    if (options->busy_W >= 0 || isnan(busy_W) || isnan(idle_W)) return FR_OK;
    result->busy_W = busy_W;
    result->idle_W = fmin(idle_W, busy_W); /* meters err; who waits draws least */
    result->communicating_W =
        isnan(communicating_W) ? -1 : fmax(communicating_W, result->idle_W);
    result->power_quality = quality;
    snprintf(result->power_source, sizeof result->power_source,
             "meter %s: a rank's share of its node", samples->power->meter);
    return FR_OK;
}
