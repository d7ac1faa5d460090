/** @file
 *  How a transformer divides into branches over the g = tp sub-grids of method subgraph.
 *
 *  A stage's n = g x n_g ranks hold the same micro-batch of b samples in every group of g ranks.  In common layers
 *  each rank has b/g of them (D&SP), or the rank of the first sub-grid has all b (D&SP-cSub).  In branches a rank has
 *  all b samples of 1/g of the branches.  Between the two (Jain et al. 2021, section IV; C = (b/g) s tokens, T = b
 *  s):
 *
 *                      forward D&SP      forward cSub    backward D&SP    backward cSub
 *      split           all-gather  T h   broadcast T h   reduce-scatter   reduce
 *      sum             reduce-scatter    reduce          all-gather       broadcast
 *      slice           all-to-all  C w   scatter   T w   all-to-all       gather
 *      concatenation   all-to-all  C w   gather    T w   all-to-all       scatter
 *
 *  each over the g ranks of equal place in their sub-grids, all n_g such groups at once.  The paper had no
 *  all-to-all; it gathered all and discarded the rest: g C w.
 *
 *  Gradients of common layers are reduced over all n ranks (cSub: the first sub-grid), those of
 *  branches within each sub-grid.  With g = 1 this is data parallelism; with g = n and cSub the
 *  paper's pure sub-graph parallelism.
 */
#ifndef FR_MODELS_WORK_SUBGRAPH_H
#define FR_MODELS_WORK_SUBGRAPH_H

#include "models/work/transformer.h"

/** Reasons why tp ways cannot divide this transformer's branches. */
fr_reasons fr_subgraph_check(const struct fr_workload *workload, const struct fr_plan *plan);

/** Work of stage @p i on the busiest rank, for one micro-batch: the plan's micro_batch samples a
 *  group of tp ranks. */
void fr_subgraph_stage(const struct fr_workload *workload, const struct fr_plan *plan,
                       int64_t i, struct fr_rank_work *work);

#endif
