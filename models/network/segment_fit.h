/** @file
 *  Times of fits that are piecewise linear in the message size, never falling with it.
 *
 *      t(m) = max over m' <= m of latency + per_byte m'        in the segment of m'
 *
 *  Measurements of two segments need not meet.  Where the upper begins below the end of the lower, a larger message
 *  would be faster than a smaller one.  The larger could then be sent in place of the smaller, hence the maximum.
 *  Between two rank counts t = t1^(1-w) t2^w with w = log(p/p1) / log(p2/p1): it does not fall where both do not
 *  fall.  Outside it may, where the two come nearer to each other, and the largest of all smaller messages is taken
 *  again; more ranks are there no cheaper than the nearest. */
#ifndef FR_MODELS_NETWORK_SEGMENT_FIT_H
#define FR_MODELS_NETWORK_SEGMENT_FIT_H

#include "models/network/comm.h"

/** Time of a message of @p size_B, of fit->min_B at least [s]. */
double fr_segment_fit_s(const struct fr_segment_fit *fit, double size_B);

/** The same over @p n_ranks ranks, from fits of fewer and of more ranks, or both of more, or fewer [s]. */
double fr_segment_fits_s(const struct fr_segment_fit *fewer, const struct fr_segment_fit *more,
                         double n_ranks, double size_B);

#endif
