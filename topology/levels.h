/** @file
 *  How ranks are grouped and what joins them: nested levels, innermost first.
 *
 *  Think of the machine as boxes in boxes: a unit of level 0 (a node, say) holds `ranks`
 *  ranks, a unit of level 1 holds several of those, and so on.  A message between two ranks
 *  crosses the innermost level whose unit holds both, and pays that level's latency and
 *  bandwidth.  `shared_by` neighbouring ranks hang on one link of the level; as every rank
 *  takes part in a training step's collectives at once, each gets its share of the link.
 *
 *  A job that fits into one unit of a level sits in it.  A larger one takes `segment` ranks of each
 *  unit, and of its last one the rest: racks of 72 GPUs have trays to spare, and 64 of each make
 *  groups of 8 or 16 whole.  fr_levels_take gives the levels that a job of n ranks sees, whose
 *  units hold what the job takes of them; all that follows works on these.
 *
 *  Ranks are laid out linearly: rank r sits in unit r / ranks of each level that the job takes.
 */
#ifndef FR_TOPOLOGY_LEVELS_H
#define FR_TOPOLOGY_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "topology/link_class.h"
#include "topology/pair_links.h"
#include "topology/shape.h"

enum { FR_LEVEL_MAX = 8 };
#define FR_RANKS_MAX ((int64_t)1 << 40)

/** One kind of link: alpha and beta. */
struct fr_link_cost {
    double latency_s; /**< >= 0 */
    double s_per_B;   /**< >= 0 */
};

/** Power of one unit of a level beside its devices [W]; all 0 where the file does not say. */
struct fr_level_power {
    bool known;
    double idle_W, busy_W; /**< processors, memory, fans: at rest, and while all devices work */
    double efficiency;     /**< of the supplies of all that is inside; 1: none counted */
    double
        switches_W; /**< what joins its parts, of each unit of the level inside, switches full */
    double
        switches_idle; /**< share of that which a switch draws for a port that nothing uses */
};

struct fr_level {
    char name[32];
    int64_t ranks;       /**< one unit holds, >= 1; of levels that a job takes: it gives */
    double latency_s;    /**< of one message, >= 0 */
    double rate_B_per_s; /**< of one link, each direction, > 0 */
    int64_t shared_by;   /**< ranks on one link, >= 1 */
    struct fr_level_power power;
    struct fr_link_cost
        measured; /**< one rank's share of a link when the file's forms were fitted */
    const struct fr_link_class *link; /**< what its links are; NULL: not stated */
    int64_t segment; /**< ranks of a unit that a job larger than it takes; 0: all */
    int64_t holds;   /**< of levels that a job takes: ranks that the unit has; else 0 */
};

struct fr_levels {
    int count; /**< 1..FR_LEVEL_MAX */
    struct fr_level level[FR_LEVEL_MAX];
    struct fr_pair_links mesh; /**< of a node of level 0 without a switch */
    struct fr_fabric fabric; /**< what joins the links of the outermost level; often nothing */
};

/** Read the array "levels" of a cluster file.  `ranks` must be a multiple of the level below. */
fr_status fr_levels_read(const struct fr_json *array, struct fr_levels *levels,
                         struct fr_error *err);

/** How a job takes units larger than which it is. */
typedef enum {
    FR_UNITS_SEGMENTS, /**< the level's `segment` of each, the rest of the last */
    FR_UNITS_EQUAL, /**< as many of each, as few units as that allows; no more than they hold */
} fr_units;

/** Levels as a job of @p n_ranks ranks takes them, innermost first:
 *
 *      ranks'_l = R_l                            where n <= R_l,    R_l = ranks_l ranks'_(l-1) / ranks_(l-1)
 *                 segment_l / ranks_l R_l        where n > R_l
 *                 the largest multiple of ranks'_(l-1) up to R_l that divides n   of FR_UNITS_EQUAL
 *
 *  The outermost level has R_l.  Where a unit gives fewer ranks than it holds, they are dealt evenly to its links.
 *  Levels taken already are taken whole. */
struct fr_levels fr_levels_take(const struct fr_levels *levels, int64_t n_ranks,
                                fr_units units);

/** fr_levels_capacity of that. */
int64_t fr_levels_capacity_for(const struct fr_levels *levels, int64_t n_ranks, fr_units units);

/** Ranks in the outermost unit; with a fabric, as many as that has ports for. */
int64_t fr_levels_capacity(const struct fr_levels *levels);

/** Ranks of the largest job that the machine holds, in segments. */
int64_t fr_levels_largest(const struct fr_levels *levels);

/** Innermost level whose unit holds the ranks 0, stride, ..., (n_ranks-1) stride; the outermost
 *  one when none does. */
int fr_levels_spanning(const struct fr_levels *levels, int64_t n_ranks, int64_t stride);

/** Innermost level whose unit holds both ranks @p a and @p b; the outermost when none does. */
int fr_levels_between(const struct fr_levels *levels, int64_t a, int64_t b);

/** How many of the ranks 0, stride, ..., (n_ranks-1) stride share one unit of level @p l. */
int64_t fr_levels_members(const struct fr_levels *levels, int l, int64_t n_ranks,
                          int64_t stride);

/** Rate of one link that messages keep up: the stated one times its class's share [B/s]. */
double fr_level_rate_B_per_s(const struct fr_level *level);

/** Time per byte of one rank's share of a link of level @p l, all ranks sending [s/B]. */
double fr_level_s_per_B(const struct fr_levels *levels, int l);

/** How a level's numbers differ from those that fitted forms were measured over: latency over
 *  latency, time per byte over time per byte; 1 where nothing was changed. */
struct fr_link_ratio {
    double latency, per_byte; /**< > 0; both 0: 1 */
};
struct fr_link_ratio fr_level_changed(const struct fr_levels *levels, int l);

/** The level whose units are nodes: the one called "node", else the innermost. */
int fr_levels_node(const struct fr_levels *levels);

/** The innermost level, but the node's where the innermost is called "package": its dies are near, and still a node is
 *  what a group of ranks is made to fit. */
int fr_levels_near(const struct fr_levels *levels);

/** Units of level @p l that a job of @p n_ranks ranks fills, of levels that it takes: all of them with `ranks`,
 *  but the last, which has @p last. @return how many */
int64_t fr_levels_units(const struct fr_levels *levels, int l, int64_t n_ranks, int64_t *last);

/** Index of the level called @p name, or -1. */
int fr_levels_find(const struct fr_levels *levels, const char *name);

#endif
