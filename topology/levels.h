/** @file
 *  How ranks are grouped and what joins them: nested levels, innermost first.
 *
 *  Think of the machine as boxes in boxes: a unit of level 0 (a node, say) holds `ranks`
 *  ranks, a unit of level 1 holds several of those, and so on.  A message between two ranks
 *  crosses the innermost level whose unit holds both, and pays that level's latency and
 *  bandwidth.  `shared_by` neighbouring ranks hang on one link of the level; as every rank
 *  takes part in a training step's collectives at once, each gets its share of the link.
 *
 *  Ranks are laid out linearly: rank r sits in unit r / ranks of each level.
 */
#ifndef FR_TOPOLOGY_LEVELS_H
#define FR_TOPOLOGY_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "topology/shape.h"

enum { FR_LEVEL_MAX = 8 };
#define FR_RANKS_MAX ((int64_t)1 << 40)

/** One kind of link: alpha and beta. */
struct fr_link_cost {
    double latency_s; /**< >= 0 */
    double s_per_B;   /**< >= 0 */
};

/** What one unit of a level draws beside its devices [W]; all 0 where the file does not say. */
struct fr_level_power {
    bool known;
    double idle_W, busy_W; /**< processors, memory, fans: at rest, and while all devices work */
    double efficiency;     /**< of the supplies of all that is inside; 1: none counted */
    double switches_W;     /**< what joins its parts, of each unit of the level inside */
};

struct fr_level {
    char name[32];
    int64_t ranks;       /**< one unit holds, >= 1 */
    double latency_s;    /**< of one message, >= 0 */
    double rate_B_per_s; /**< of one link, each direction, > 0 */
    int64_t shared_by;   /**< ranks on one link, >= 1 */
    struct fr_level_power power;
};

struct fr_levels {
    int count; /**< 1..FR_LEVEL_MAX */
    struct fr_level level[FR_LEVEL_MAX];
    struct fr_fabric fabric; /**< what joins the links of the outermost level; often nothing */
};

/** Read the array "levels" of a cluster file.  `ranks` must be a multiple of the level below. */
fr_status fr_levels_read(const struct fr_json *array, struct fr_levels *levels,
                         struct fr_error *err);

/** Ranks the whole machine holds; with a fabric, as many as that has ports for. */
int64_t fr_levels_capacity(const struct fr_levels *levels);

/** Innermost level whose unit holds the ranks 0, stride, ..., (n_ranks-1) stride; the outermost
 *  one when none does. */
int fr_levels_spanning(const struct fr_levels *levels, int64_t n_ranks, int64_t stride);

/** Innermost level whose unit holds both ranks @p a and @p b; the outermost when none does. */
int fr_levels_between(const struct fr_levels *levels, int64_t a, int64_t b);

/** How many of the ranks 0, stride, ..., (n_ranks-1) stride share one unit of level @p l. */
int64_t fr_levels_members(const struct fr_levels *levels, int l, int64_t n_ranks,
                          int64_t stride);

/** Time per byte of one rank's share of a link of level @p l, all ranks sending [s/B]. */
double fr_level_s_per_B(const struct fr_levels *levels, int l);

/** The level whose units are nodes: the one called "node", else the innermost. */
int fr_levels_node(const struct fr_levels *levels);

/** Of a job that leaves its last node partly empty, how many ranks of each node it would have, did it take as many of all:
 *  64 of 72 for 256.  0 where it fills nodes whole, has one, or would have less than half of each. */
int64_t fr_levels_even(const struct fr_levels *levels, int64_t n_ranks);

/** Index of the level called @p name, or -1. */
int fr_levels_find(const struct fr_levels *levels, const char *name);

#endif
