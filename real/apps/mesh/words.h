/** @file
 *  Shared parts of the units embedding and logits: a table of words x hidden, of which a rank
 *  has 1/tp of the words.  Where it is tied and one rank has both ends, they have it in
 *  common. */
#ifndef FR_REAL_APPS_MESH_WORDS_H
#define FR_REAL_APPS_MESH_WORDS_H

#include "real/apps/mesh/unit.h"

/** Values of the table. */
int64_t fr_words_size(const struct fr_unit *u);
/** Random numbers for it; @p logits  of the logits' own. */
void fr_words_fill(const struct fr_real *real, const struct fr_unit *u, bool logits);
/** No weight matrix of it goes compressed: models/price/pipeline.c codes layers alone. */
int fr_words_matrices(const struct fr_real *real, const struct fr_unit *u,
                      struct fr_unit_matrix *out, int capacity);

/** Has a rank, between units, 1/tp of every token's values? */
static inline bool fr_words_divided(const struct fr_unit *u) {
    return u->run->plan->method->uses_ghost;
}

/** Do tokens move between the table's grid and that of the layers beside it?  And the most values of them on a rank. */
static inline bool fr_words_move(const struct fr_unit *u) {
    return u->from.p != u->to.p && !u->block.parted;
}
static inline int64_t fr_words_moved(const struct fr_unit *u) {
    int in = u->from.columns.n, out = u->to.columns.n;
    return (int64_t)u->block.hidden * (in > out ? in : out);
}

/** Have the logits a table of their own on their rank: one that is not tied, or a copy? */
static inline bool fr_words_apart(const struct fr_real_case *run) {
    return !run->workload->transformer.tied || fr_plan_last_stage(run->plan) > 0;
}

#endif
