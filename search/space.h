/** @file
 *  The configurations a search goes through: what is varied of the model and the cluster, times rank
 *  counts, times the varied keys of a plan.
 *
 *  A configuration is a number 0..size-1; its digits in the mixed base of the dimensions are
 *  the values taken (the last dimension varies fastest).  Nothing is stored per configuration.
 *
 *  The axis of the mesh that is neither set nor varied takes what is left of the ranks: dp if
 *  tp is set or varied, else tp.
 *
 *  A plan stands once.  A key that nothing reads goes back to its default, and the first configuration stands for all
 *  that differ in such keys alone.  Likewise one of several names of a plan stands for all (search/equivalent.h).
 *  One mesh stands for all grids of layers, since such grids use all ranks however these are divided. */
#ifndef FR_SEARCH_SPACE_H
#define FR_SEARCH_SPACE_H

#include "models/job/job.h"
#include "models/plan/key.h"

/** A varied key of the plan. */
struct fr_dimension {
    const struct fr_plan_key *key;
    unsigned char *values;       /**< [count] fields of the key, one after another */
    struct fr_plan_lists *lists; /**< [count] that they point to, or NULL */
    size_t count;
};

/** A varied key of the model or the cluster: texts as --set takes them. */
struct fr_space_input {
    char key[160];
    char **texts;
    size_t count;
};

enum { FR_SPACE_INPUTS_MAX = 8 };

struct fr_space {
    struct fr_plan base;  /**< what is not varied */
    struct fr_plan plain; /**< the defaults */
    int64_t *ranks;
    size_t n_ranks;
    struct fr_dimension dimension[FR_PLAN_KEYS];
    int n_dimensions;
    struct fr_space_input input[FR_SPACE_INPUTS_MAX];
    int n_inputs;
    struct fr_job
        *variants;      /**< one for each choice of inputs, or NULL: nothing of them varies */
    char **settings;    /**< [n_variants][n_inputs] "KEY=VALUE" */
    int64_t n_variants; /**< at least 1 */
    fr_plan_key_set varied; /**< keys of the dimensions */
    int watched[FR_PLAN_KEYS],
        digit_of[FR_PLAN_KEYS];      /**< keys that may be idle; their dimension, -1 */
    uint64_t needs_of[FR_PLAN_KEYS]; /**< and their needs */
    int n_watched;
    uint64_t asked;          /**< needs of the watched keys */
    bool cp_watched;         /**< it is of the mesh, and settled before the mesh is filled */
    bool dp_given, tp_given; /**< set or varied */
    int64_t size;
    /** Whose plans take what is usual where they leave keys open (models/job/assume.h), or NULL: no plan does. */
    const struct fr_job *completes;
};

/** Make the space.
 *  @param ranks   range text of --ranks
 *  @param vary    "KEY=RANGE" texts; KEY may begin with "plan.", "model." or "cluster."
 *  @param base    the plan of the job;  @p dp_set, @p tp_set: whether its file or --set say so
 *  @param names   of the job, to load it anew for each value of a model's or cluster's key; or NULL
 *  @return FR_OK, FR_ERR_USAGE, or what loading gave.  Free with fr_space_free, also on error. */
fr_status fr_space_make(const char *ranks, const char *const *vary, int n_vary,
                        const struct fr_plan *base, bool dp_set, bool tp_set,
                        const struct fr_job_names *names, struct fr_space *space,
                        struct fr_error *err);
void fr_space_free(struct fr_space *space);

/** Let every plan of the space take what is usual of @p job, but of keys that are varied; before the first is asked for. */
void fr_space_complete(struct fr_space *space, struct fr_job *job);

/** Plans of one choice of inputs. */
static inline int64_t fr_space_plans(const struct fr_space *space) {
    return space->size / space->n_variants;
}

/** The job that configuration @p index is a plan of: @p job, unless inputs are varied. */
const struct fr_job *fr_space_job(const struct fr_space *space, const struct fr_job *job,
                                  int64_t index);

/** Configuration @p index as a plan.
 *  @param model  what it is a plan of, or NULL
 *  @param[out] mesh_fits  false when the ranks are no dp x pp x tp with these values
 *  @return false when the configuration repeats another one and is left out */
bool fr_space_plan(const struct fr_space *space, const struct fr_workload *model, int64_t index,
                   struct fr_plan *plan, bool *mesh_fits);

/** Where somebody is who goes through a space: {.begun = false} before. */
struct fr_space_cursor {
    bool begun;
    int64_t index, next;              /**< next: all between them repeat others */
    size_t rank, digit[FR_PLAN_KEYS]; /**< number of its ranks, and of each dimension's value */
    struct fr_plan plan;              /**< with these values, nothing else done to it */
    bool alone;                       /**< he asks for one configuration and goes nowhere */
    /** The model that `passes` is of: of a dimension, needs of its key that hang on keys varied before it alone
     *  (search/repeats.h). */
    const struct fr_workload *model;
    bool knows_passes;
    uint64_t passes[FR_PLAN_KEYS];
};

/** The same; from the configuration before, or to at->next, a step is cheaper than to begin anew. */
bool fr_space_plan_after(const struct fr_space *space, const struct fr_workload *model,
                         int64_t index, struct fr_space_cursor *at, struct fr_plan *plan,
                         bool *mesh_fits);

/** Can a plan of this space use ghost neurons? */
bool fr_space_has_ghost(const struct fr_space *space);
/** Have its plans more than one global batch? */
bool fr_space_has_batches(const struct fr_space *space);

#endif
