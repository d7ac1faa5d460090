/** @file
 *  A cluster's network as a SimGrid platform, version 4.1.
 *
 *  One zone with a host a rank, the links of topology/route.h, each one way and SHARED, and the route of every pair
 *  written out.  Nested zones would add up the links of inner levels, which our routes do not use.  SPLITDUPLEX links
 *  report no energy.  SimGrid's defaults multiply latencies by 13 and rates by 0.97; --cfg=network/model:CM02
 *  --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:no takes links as they are.
 */
#ifndef FR_TOPOLOGY_PLATFORM_H
#define FR_TOPOLOGY_PLATFORM_H

#include "base/text.h"
#include "topology/levels.h"

/** Ranks of which all pairs' routes are written: a quarter million. */
enum { FR_PLATFORM_RANKS_MAX = 512 };

struct fr_platform {
    const char *name;           /**< of the zone, and in the head */
    int64_t n_ranks;            /**< hosts "rank0", ... */
    const int64_t *slot;        /**< slot of each, or NULL: rank i in slot i */
    double speed_flop_per_s;    /**< of a core */
    int cores;                  /**< of a host */
    double idle_W, all_cores_W; /**< NAN: no power */
    int64_t n_pairs;            /**< negative: routes of all pairs */
    const int32_t (*pairs)[2];  /**< ranks, else: routes of these only, one way */
};

/** Append the file.  @return FR_OK; FR_ERR_INPUT for more ranks than the cluster has, or than
 *  FR_PLATFORM_RANKS_MAX with all pairs; FR_ERR_NOMEM. */
fr_status fr_platform_write(const struct fr_levels *levels, const struct fr_platform *platform,
                            struct fr_text *text, struct fr_error *err);

#endif
