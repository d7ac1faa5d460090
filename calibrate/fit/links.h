/** @file
 *  Can a collective be as fast as it says, over these links?
 *
 *  Whatever the algorithm, what a rank or a node must take in goes over its own links:
 *
 *      t >= B / r     B  all-reduce, broadcast, reduce, send: m;  all-gather, reduce-scatter, all-to-all, gather,
 *                        scatter: m (n-1)/n, n ranks of a node, or nodes (of all-to-all each rank's)
 *                     r  of a rank within a node; over nodes of a node's adapters together
 *
 *  Cluster files state what links reach, a fourth to a third below their peak: a time below two thirds of that bound is
 *  of other links, or of another size or rank count.
 *
 *  Symbols:  m  message as nccl-tests counts it [B]   r  rate [B/s]   t  time [s] */
#ifndef FR_CALIBRATE_FIT_LINKS_H
#define FR_CALIBRATE_FIT_LINKS_H

#include "calibrate/samples/samples.h"
#include "models/job/cluster.h"

/** The bound of @p s on @p base's links [s]; 0 where it says nothing. */
double fr_links_bound_s(const struct fr_sample_collective *s, const struct fr_levels *levels);

/** Take the samples below two thirds of their bound out of @p samples.  @return how many */
size_t fr_links_drop(struct fr_samples *samples, const struct fr_levels *levels);

#endif
