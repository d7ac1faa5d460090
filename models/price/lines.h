/** @file
 *  Where the messages of a pipeline meet.
 *
 *  NCCL runs the messages from one rank to another in order ("Point-to-point communication" of its user guide), so
 *  each ordered pair of neighbouring stages is a line: one message at a time, first come first served.  Messages of
 *  different lines share the links on which they meet, max-min fairly.  models/outcome/message_lines.h plays this.
 *
 *  Line 2 i goes from stage i to the next one, line 2 i + 1 to the one before, round the ring of stages.  Of two
 *  stages there are lines 0 and 2 alone. */
#ifndef FR_MODELS_PRICE_LINES_H
#define FR_MODELS_PRICE_LINES_H

#include "models/price/rank_map.h"
#include "topology/path.h"

struct fr_lines {
    int32_t n; /**< 2 P */
    struct fr_path
        *path; /**< [n]; its uses are of the links where lines can hold up one another */
    struct fr_used_links links;
    /** On each of these links no more than two lines meet, and each alone fills it: then a message goes at half its
     *  rate while it meets another, else at its whole rate. */
    bool halves;
    bool
        uneven; /**< first replicas do not speak for all: the others are placed in other ways */
};

/** The line from stage @p from to @p to of @p stages, its neighbour. */
static inline int32_t fr_line_of(int32_t stages, int32_t from, int32_t to) {
    return 2 * from + (to != (from + 1) % stages);
}

/** The lines of @p stages >= 2 stages in their placement.  @return NULL without memory.  Free with fr_lines_free. */
struct fr_lines *fr_lines_make(const struct fr_rank_map *rank_map, int32_t stages);
void fr_lines_free(struct fr_lines *lines);

#endif
