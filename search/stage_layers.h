/** @file
 *  How many layers each stage of a pipeline has, where it may be uneven: embedding and logits come on top of the
 *  first and the last stage, so equal numbers are not equal times. */
#ifndef FR_SEARCH_STAGE_LAYERS_H
#define FR_SEARCH_STAGE_LAYERS_H

#include "models/outcome/cost.h"

/** Has the model a layer for each of @p pp stages? */
bool fr_stage_layers_enough(const struct fr_workload *workload, int64_t pp);

/** Layers of each stage that make the iteration of @p plan shortest.  From equal numbers the search moves one layer
 *  at a time from any stage to any other, as long as that is faster.  Where nothing fits the memory with
 *  FR_FITS_USUAL it moves as long as that needs less memory.  The result is a local minimum;
 *  tests/search/test_stage_layers.c compares it with all divisions of small pipelines.
 *  @param[out] layers  [pp]
 *  @return FR_OK; FR_ERR_INFEASIBLE where the plan cannot be for another reason; FR_ERR_NOMEM. */
fr_status fr_stage_layers_best(const struct fr_job *job, const struct fr_plan *plan,
                               int64_t *layers, struct fr_error *err);

/** Where the plan of @p job asks for stage_layers "best", choose them now; the list is owned by the job. */
fr_status fr_stage_layers_choose(struct fr_job *job, struct fr_error *err);

#endif
