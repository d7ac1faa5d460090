/** @file
 *  How fast the machine was while it was being measured, and what took time from it.
 *
 *  Speed.  Probes, a small product and a small stream, run beside the samples.  They give the
 *  slowness: the time that the machine takes now over its time when it is fast.  That is the
 *  running median of nine probes of a launch over the lower quartile.  The quartile is over all
 *  probes of the job for products, and over the launch's probes for streams: every process gets
 *  pages of its own, and keeps their speed.
 *
 *  Samples of products are divided by the slowness, so that the fit describes one machine, the idle
 *  one.  The typical load is the median slowness, times the mean of idle timings over the own time
 *  that is taken from them.  A stream over another set than the probe's is not slow when the probe
 *  is.  So memory's own times are those of the middle launch, which is the machine under typical
 *  load.  They are divided by the median slowness (fr_fit_memory_slowness).
 *
 *  Interruptions.  A product of own time t is timed in windows of t, on r ranks that start together.
 *  A window is disturbed when it is longer by more than what uninterrupted ones scatter.  With a rate
 *  lambda of each rank
 *
 *      P(window is not disturbed) = exp(-r lambda t)
 *
 *  and lambda is that of greatest likelihood over all windows.  The length of an interruption is
 *  the time lost over the number of interruptions that lambda expects, E[max] of the ranks
 *  (models/device/interruptions.h).  A window longer than 100 times its own time counts as 100
 *  times. */
#ifndef FR_CALIBRATE_FIT_SPEED_H
#define FR_CALIBRATE_FIT_SPEED_H

#include "calibrate/samples/samples.h"
#include "models/device/interruptions.h"

struct fr_fit_speed {
    size_t n;                            /**< probes; 0: speed is not known */
    double *products, *memory;           /**< [n] time over idle */
    double usual_products, usual_memory; /**< as said above; 1 where not known */
    double streams;   /**< of usual_memory what probes say; 0 where there are none */
    double variation; /**< half of the range from tenth to ninetieth percentile of
                                                products, logarithm; 0 where not known */
    struct fr_interruptions interruptions; /**< every_s 0: none seen */
    double ranks; /**< that waited for each other when they were seen */
    double lost;  /**< share of time taken from products */
};

/** Speeds from the probes; interruptions are left at none.  Free with fr_fit_speed_free.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_fit_speed_make(const struct fr_samples *samples, struct fr_fit_speed *speed);
void fr_fit_speed_free(struct fr_fit_speed *speed);

/** Time of a sample taken after @p probe probes over idle; 1 where it is not known. */
double fr_fit_slowness(const struct fr_fit_speed *speed, const double *kind, int64_t probe);

/** Time of memory as it was timed over idle; 1 where it is not known. */
double fr_fit_memory_slowness(const struct fr_fit_speed *speed);

/** A thing's own time from @p n ascending timings, which are already divided by the slowness.
 *  Usually that is the own time of the uninterrupted timings (fr_sorted_own).  Interruptions may
 *  leave fewer than a tenth uninterrupted, or none: exp(-r lambda t) < max(0.1, 1/n).  Then it is
 *  the time that, so interrupted, takes their median. */
double fr_fit_own(const struct fr_fit_speed *speed, const double *sorted_s, size_t n);

/** Interruptions from the samples of products. */
fr_status fr_fit_interruptions(const struct fr_samples *samples, struct fr_fit_speed *speed);

#endif
