/** @file
 *  Measured layer times in place of the analytic layer.
 *
 *  `layer_profile` of a transformer's model file: rows of forward and backward time of one layer for
 *  one micro-batch, by tp and micro-batch, and where measured those of the logits with their loss
 *  and the embedding.  Where a plan's tp and micro-batch have a row, it replaces what
 *  the layers would be priced at, collectives over tp and recomputation included, as they ran; the
 *  schedule, messages, gradients and the optimiser stay. */
#ifndef FR_MODELS_WORKLOAD_LAYER_PROFILE_H
#define FR_MODELS_WORKLOAD_LAYER_PROFILE_H

#include "base/json.h"

struct fr_workload;

struct fr_layer_profile {
    int64_t tp, micro_batch;
    double forward_s, backward_s;               /**< of one layer */
    double logits_forward_s, logits_backward_s; /**< < 0: not measured */
};

/** Read the array "layer_profile" (or the object {"source", "rows"}) into the workload, whose free
 *  function frees it. */
fr_status fr_layer_profile_read(const struct fr_json *node, struct fr_workload *workload,
                                struct fr_error *err);

/** The row for this tp and micro-batch, or NULL. */
const struct fr_layer_profile *fr_layer_profile_find(const struct fr_workload *workload,
                                                     int64_t tp, int64_t micro_batch);

#endif
