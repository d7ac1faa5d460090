/** @file
 *  The configurations a search goes through: rank counts times the varied keys of a plan.
 *
 *  A configuration is a number 0..size-1; its digits in the mixed base of the dimensions are
 *  the values taken (the last dimension varies fastest).  Nothing is stored per configuration.
 *
 *  The axis of the mesh that is neither set nor varied takes what is left of the ranks: dp if
 *  tp is set or varied, else tp. */
#ifndef FR_SEARCH_SPACE_H
#define FR_SEARCH_SPACE_H

#include "models/plan.h"

/** Keys of a plan that can be varied: code, spelling. */
#define FR_VARY_LIST(X)                                                                        \
    X(FR_VARY_METHOD, "method")                                                                \
    X(FR_VARY_DP, "dp")                                                                        \
    X(FR_VARY_PP, "pp")                                                                        \
    X(FR_VARY_TP, "tp")                                                                        \
    X(FR_VARY_SCHEDULE, "schedule")                                                            \
    X(FR_VARY_CHUNKS, "chunks")                                                                \
    X(FR_VARY_RECOMPUTE, "recompute")                                                          \
    X(FR_VARY_SEQUENCE, "sequence_parallel")                                                   \
    X(FR_VARY_OVERLAP, "overlap")                                                              \
    X(FR_VARY_GHOST, "ghost")                                                                  \
    X(FR_VARY_GLOBAL_BATCH, "global_batch")                                                    \
    X(FR_VARY_MICRO_BATCH, "micro_batch")                                                      \
    X(FR_VARY_SCOPE, "compression.backward.scope")                                             \
    X(FR_VARY_BACKWARD_RANK, "compression.backward.rank")                                      \
    X(FR_VARY_EMBEDDING, "compression.embedding")                                              \
    X(FR_VARY_GRADIENT_STAGES, "compression.gradient.stages")                                  \
    X(FR_VARY_GRADIENT_RANK, "compression.gradient.rank")                                      \
    X(FR_VARY_PLACEMENT, "placement")                                                          \
    X(FR_VARY_COMMON, "common")                                                                \
    X(FR_VARY_EXCHANGE, "exchange")                                                            \
    X(FR_VARY_BRANCHES, "branches")

enum {
#define FR_VARY_ENUM(code, name) code,
    FR_VARY_LIST(FR_VARY_ENUM)
#undef FR_VARY_ENUM
        FR_VARY_COUNT
};
extern const char *const fr_vary_names[];

struct fr_dimension {
    int key; /**< FR_VARY_... */
    int64_t *
        values; /**< of words (method, schedule, ...): index into their tables; a placement packed */
    size_t count;
};

struct fr_space {
    struct fr_plan base; /**< what is not varied */
    int64_t *ranks;
    size_t n_ranks;
    struct fr_dimension dimension[FR_VARY_COUNT];
    int n_dimensions;
    bool dp_given, tp_given; /**< set or varied */
    int64_t size;
};

/** Make the space.
 *  @param ranks   range text of --ranks
 *  @param vary    "KEY=RANGE" texts; KEY may begin with "plan."
 *  @param base    the plan of the job;  @p dp_set, @p tp_set: whether its file or --set say so
 *  @return FR_OK or FR_ERR_USAGE.  Free with fr_space_free, also on error. */
fr_status fr_space_make(const char *ranks, const char *const *vary, int n_vary,
                        const struct fr_plan *base, bool dp_set, bool tp_set,
                        struct fr_space *space, struct fr_error *err);
void fr_space_free(struct fr_space *space);

/** Configuration @p index as a plan.
 *  @param[out] mesh_fits  false when the ranks are no dp x pp x tp with these values
 *  @return false when the configuration repeats another one (a ghost width for a method that
 *          has none), and is left out. */
bool fr_space_plan(const struct fr_space *space, int64_t index, struct fr_plan *plan,
                   bool *mesh_fits);

/** Can a plan of this space use ghost neurons? */
bool fr_space_has_ghost(const struct fr_space *space);
bool fr_space_has_method(const struct fr_space *space, const struct fr_method *method);

#endif
