/** @file
 *  A parallel method: how a model is divided over the model axis (tp).
 *
 *  What a plan and its keys must know of it, and the functions that say how much work it makes
 *  (models/work/method.h).
 *
 *  To add one: models/work/method/<name>.c exporting fr_method_<name>, row FR_METHOD(<name>) in
 *  models/work/method_list.h.
 */
#ifndef FR_MODELS_PLAN_METHOD_H
#define FR_MODELS_PLAN_METHOD_H

#include "models/plan/reason.h"
#include "models/workload/workload.h"

struct fr_plan;  /* models/plan/plan.h */
struct fr_shard; /* models/work/method.h */

struct fr_rank_work; /* models/work/operation.h */

struct fr_method {
    const char *name;
    const char *summary;
    const char *source;
    bool exact;      /**< computes what one processor would, to rounding */
    bool uses_ghost; /**< the plan's ghost width matters */
    bool divided;    /**< activations between layers stay divided over tp */
    bool data_first; /**< its program numbers the ranks of the data axis first, not of tp */
    bool
        branches; /**< divides branches, by the plan's `branches`, `common` and `exchange`; the rest of
                          a model is as on one rank, and tp ranks share a micro-batch's samples */
    bool grids; /**< a layer may have a grid of its own (`layer_tp`) */
    /** Reasons why @p layer cannot be divided so; 0 when it can. */
    fr_reasons (*check)(const struct fr_layer *layer, const struct fr_shard *shard);
    /** The work.  Total on what check accepts. */
    void (*layer)(const struct fr_workload *workload, const struct fr_layer *layer,
                  const struct fr_shard *shard, struct fr_rank_work *work);
    /** The same for stage @p i of a transformer; NULL: it cannot divide one. */
    fr_reasons (*check_stage)(const struct fr_workload *workload, const struct fr_plan *plan);
    void (*stage)(const struct fr_workload *workload, const struct fr_plan *plan, int64_t i,
                  struct fr_rank_work *work);
};

/** Rows that others name. */
extern const struct fr_method fr_method_tensor, fr_method_phantom, fr_method_grid,
    fr_method_subgraph;
/** Rows in table order, then NULL; and their names likewise. */
extern const struct fr_method *const fr_methods[];
extern const char *const fr_method_names[];

#endif
