/** @file
 *  A grid of its own for every layer (Gholami et al. 2017, section 4, left open there). */
#ifndef FR_SEARCH_LAYER_GRIDS_H
#define FR_SEARCH_LAYER_GRIDS_H

#include "models/outcome/cost.h"
#include "models/price/layers.h"

/** The P_r of each layer that minimises the iteration of @p plan's ranks, the cost of moving activations and their
 *  gradients between different grids included.  Exact: dynamic programming over layers, the state being a layer's
 *  grid; candidates are all divisors of the ranks that leave a data axis dividing the batch.  For a transformer these
 *  are P_r of its attention, its MLP, and embedding and logits, and every combination is priced.
 *  @param[out] layer_tp  one entry per entry of the workload's layers; three for a transformer
 *  @return FR_OK; FR_ERR_INFEASIBLE when some layer has no grid; FR_ERR_NOMEM. */
fr_status fr_layer_grids_best(const struct fr_job *job, const struct fr_plan *plan,
                              int64_t *layer_tp, struct fr_error *err);

/** Where the plan of @p job asks for layer_tp "best", choose it now; the list is owned by the job. */
fr_status fr_layer_grids_choose(struct fr_job *job, struct fr_error *err);

#endif
