/** @file
 *  What repeated timings say: median, quantiles, how sure the median is, which runs were slow.
 *
 *  Timings have a hard floor and a long slow tail, so everything here rests on order
 *  statistics and nothing on a normal distribution.  All functions but fr_sort and fr_log_deviation take
 *  values in ascending order, n >= 1.
 */
#ifndef FR_TRUST_NUMBERS_STATISTICS_H
#define FR_TRUST_NUMBERS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/** So many standard deviations to each side hold 90 % of a normal distribution. */
#define FR_NORMAL_90 1.645

/** Sort ascending, in place. */
void fr_sort(double *x, size_t n);

/** The value below which a share @p q (0..1) lies, linear between order statistics:
 *      position (n-1) q      Hyndman and Fan, Am. Stat. 50, 1996, definition 7 */
double fr_sorted_quantile(const double *x, size_t n, double q);
static inline double fr_sorted_median(const double *x, size_t n) {
    return fr_sorted_quantile(x, n, 0.5);
}

/** Median of |x - median|, in the unit of x. */
double fr_sorted_mad(const double *x, size_t n);

/** Interval of order statistics that holds the median of the distribution with at least
 *  @p confidence (0..1), whatever the distribution: x_(l) .. x_(n+1-l) with the largest l for
 *      P(Binomial(n, 1/2) <= l - 1) <= (1 - confidence) / 2
 *  @return false when n is too small for that (below 6 at 0.95); then the interval is the
 *          whole range. */
bool fr_sorted_median_interval(const double *x, size_t n, double confidence, double *low,
                               double *high);

/** Half the width of that interval over the median, its longer side; 1e9 when n is too small. */
double fr_sorted_median_uncertainty(const double *x, size_t n, double confidence);

/** Standard deviation of the logarithms of a sample, all > 0 and in any order: of rates or ratios, not of timings.
 *  NaN of fewer than two. */
double fr_log_deviation(const double *x, size_t n);

/** Half a 90 % interval over the standard deviation that @p degrees independent errors tell, Student's t:
 *  6.31 of one, 2.92 of two, 1.645 of very many (and of 0: known). */
double fr_reach_90(int degrees);

/** How likely so few or so many of @p n are what @p k of them are, where each is with probability @p share:
 *      p = min(1, 2 min(P(K <= k), P(K >= k))),   K binomial(n, share)
 *  @param k  at most n.  1 where n is 0. */
double fr_binomial_likely(size_t k, size_t n, double share);

/** Beyond this a value counts as disturbed: median + 5 max(1.4826 MAD, 0.001 median).  Slow
 *  side only, since nothing outside makes a machine faster.  Such values are counted and
 *  reported, never removed; the median does not mind them. */
double fr_sorted_slow_limit(const double *x, size_t n);

/** Own time of an operation from repeated timings, where the system may only lengthen it.  It is the median of those
 *  timings that are no more than 8 % above the lower decile.  Uninterrupted timings scatter less, so it is their
 *  median as long as at most nine in ten were interrupted.  Where all were interrupted, it is about the lowest. */
double fr_sorted_own(const double *x, size_t n);
/** How many of them these are. */
size_t fr_sorted_near_fastest(const double *x, size_t n);

#endif
