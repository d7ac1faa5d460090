/** @file
 *  Does a second calibration find what the first did, within what the first stated?
 *
 *  A point's median is uncertain in two ways: within a launch by the scatter of samples, between
 *  launches by what each start of the job draws anew.  From the first calibration alone, for the
 *  median m of a repetition made alike:
 *
 *      |ln m'/m| <= sqrt( 2 w^2 + 2 (t s)^2 / L )
 *
 *      w  half width of the 95 % interval of the pooled median, order statistics, relative
 *      s  standard deviation of the logarithms of the launches' medians
 *      L  launches;  t  Student's 0.975 quantile with L - 1 degrees of freedom
 *
 *  (our derivation; both medians are uncertain, hence the twos).  Points with fewer than six
 *  samples state no interval and are counted apart.  A point of one launch (large tables are
 *  shared out over launches) borrows the usual s of the others, with t = 1.96. */
#ifndef FR_CALIBRATE_SAMPLES_COMPARE_H
#define FR_CALIBRATE_SAMPLES_COMPARE_H

#include "calibrate/samples/samples.h"

/** One point as a calibration knows it. */
struct fr_known_point {
    char *key; /**< as fr_sample_key writes it */
    int n, n_launches;
    double median_s;
    double half_width; /**< of the median itself (w); 1e9: too few samples */
    double between;    /**< s; of one launch: borrowed, or 0 */
    double interval;   /**< for a repetition, half width of ln; 1e9: not stated */
    /** Time without interruptions: median over launches of those near their fastest. */
    double own_s;
    double own_half_width; /**< w of the samples near the fastest of all; 1e9: too few */
    double own_between;    /**< s of the launches' own times; of one launch: borrowed, or 0 */
};

struct fr_known_points {
    struct fr_known_point *item; /**< by key */
    size_t n;
};

/** All points of timed samples.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_known_points_find(const struct fr_samples *samples,
                               struct fr_known_points *points);
void fr_known_points_free(struct fr_known_points *points);
/** The point called @p key, or NULL. */
const struct fr_known_point *fr_known_points_get(const struct fr_known_points *points,
                                                 const char *key);

#endif
