/** @file
 *  A cluster file is replaced only by one that is at least as complete.
 *
 *  It rests on families of measured coefficients: products of each dtype and of each way that their operands come,
 *  working sets, clocks, power where a meter was read, and the price of each collective.  Assumed values (links of 10 us and
 *  1 GB/s, a processor's share of power) are none.  A file is as complete as another when it has all families of that one;
 *  one of a calibration that ended early must rest on as many points too. */
#ifndef FR_APP_COMPLETENESS_H
#define FR_APP_COMPLETENESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

/** Is the cluster file @p now as complete as @p then?
 *  @param[out] lacks  what it lacks, as words for a sentence; of @p capacity bytes, cut where they are more */
bool fr_cluster_as_complete(const struct fr_json *then, const struct fr_json *now,
                            bool ended_early, char *lacks, size_t capacity);

#endif
