/** @file
 *  A parallel method: how a model is divided over the model axis (tp).
 *
 *  It holds what a plan and its keys must know of a method, and the functions that compute its work
 *  (models/work/method.h).
 *
 *  To add one: models/work/method/<name>.c exporting fr_method_<name>, row FR_METHOD(<name>) in
 *  models/work/method_list.h.
 */
#ifndef FR_MODELS_PLAN_METHOD_H
#define FR_MODELS_PLAN_METHOD_H

#include <stddef.h>

#include "models/plan/reason.h"
#include "models/workload/workload.h"

struct fr_work_part; /* models/work/method.h */
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
    bool
        by_products; /**< a transformer's products are divided one by one (models/work/transformer_stage.c),
                          which knows recomputing some layers and values wider than products' inputs */
    bool
        megatron; /**< of these by heads and columns, then rows, as Megatron-LM: what is measured or stated
                       of that program holds, and adapters, latent attention, further tokens, hybrids' blocks
                       and recomputed modules are divided so alone */
    /** Reasons why @p part cannot be divided so; 0 when it can.  For a transformer one call covers all its stages. */
    fr_reasons (*check)(const struct fr_work_part *part);
    /** The work of one rank, a micro-batch.  Total on what check accepts. */
    void (*lower)(const struct fr_work_part *part, struct fr_rank_work *work);
};

/** Rows that others name. */
extern const struct fr_method fr_method_tensor, fr_method_phantom, fr_method_grid,
    fr_method_subgraph;
/** Rows in table order, then NULL; and their names likewise.  The first is what a plan has that says nothing. */
extern const struct fr_method *const fr_methods[];
extern const char *const fr_method_names[];
/** The first row with a trait: FR_METHOD_WITH(grids).  @param at  the trait's place in the object */
const struct fr_method *fr_method_with(size_t at);
#define FR_METHOD_WITH(trait) fr_method_with(offsetof(struct fr_method, trait))
/** Has the method of that name the trait?  FR_METHOD_IS(name, grids); false: there is none of that name. */
bool fr_method_is(const char *name, size_t at);
#define FR_METHOD_IS(name, trait) fr_method_is(name, offsetof(struct fr_method, trait))

#endif
