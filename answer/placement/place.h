/** @file
 *  What placing was asked for, answered: the placement, its document, and lines for the launcher. */
#ifndef FR_ANSWER_PLACEMENT_PLACE_H
#define FR_ANSWER_PLACEMENT_PLACE_H

#include "answer/placement/placing.h"
#include "base/text.h"

struct fr_place_ask {
    int64_t ranks;          /**< to place; 0: the plan's */
    int64_t ways;           /**< sub-grids of method subgraph; 0: the plan's */
    int64_t ranks_per_node; /**< 0: all that a node holds */
    bool with_model;        /**< else of sub-grids alone, ranks over ways */
    const char
        *placement; /**< a name, "all", or NULL: the plan's where it says one, else all */
};

/** Place the ranks as @p ask says; what that shrinks of the job's levels is left so.
 *  @return FR_OK; FR_ERR_USAGE for what does not fit together; FR_ERR_INPUT; FR_ERR_NOMEM.
 *  Free with fr_placing_free, also on error. */
fr_status fr_place(struct fr_job *job, const struct fr_place_ask *ask,
                   struct fr_placing *placing, struct fr_error *err);

/** The document of --json: one placement, or a list of several. */
void fr_place_json(struct fr_text *text, const struct fr_placing *placing);

/** "method tensor: 128 ranks, tp 8 x pp 4 x dp 4, rank = tp + 8 pp + 32 dp".  @return @p out */
const char *fr_place_what(const struct fr_placing *placing, char *out, size_t capacity);

typedef enum { FR_PLACE_SLURM, FR_PLACE_RANKFILE } fr_place_launcher;
/** Spellings of --emit in order, then NULL. */
extern const char *const fr_place_launchers[];
/** What the launcher needs for the best of the placements. */
void fr_place_lines(struct fr_text *text, const struct fr_placing *placing,
                    fr_place_launcher launcher);

#endif
