/** @file
 *  Figures 3 and 10 of Song et al. 2023: an iteration with some of its work turned off.
 *
 *  "We turn off each communication/computation and observe the execution time difference" (section 3), as a CPI stack
 *  does.  So a part is charged what the iteration loses when it takes no time:
 *      part = T - T(without it)
 *  Work that hides behind other work is charged nothing, and the parts need not add up to T.  Exchanges of a pair that
 *  send both ways at once are turned off with the messages of both directions only. */
#ifndef FR_STUDIES_OPTIMUS_TURNED_OFF_H
#define FR_STUDIES_OPTIMUS_TURNED_OFF_H

#include "models/job/job.h"

/** Passes are turned off with the tensor-parallel exchanges in them, which the paper counts there.  Codecs go with what
 *  they code.  The embedding has its part of the all-reduce over replicas and one between the ends, or both fused. */
enum {
    FR_OFF_FORWARD_PASSES = 1,
    FR_OFF_BACKWARD_PASSES = 2,
    FR_OFF_FORWARD = 4,    /**< messages of activations between stages */
    FR_OFF_BACKWARD = 8,   /**< messages of their gradients */
    FR_OFF_GRADIENTS = 16, /**< the all-reduce over replicas, but for the embedding */
    FR_OFF_EMBEDDING = 32,
    FR_OFF_COMMUNICATION = 60
};

/** Time of an iteration of @p plan by the event engine without the work of @p off [s].
 *  The embedding's share of a stage's all-reduce over replicas is its share of the bytes.
 *  @return NaN where the plan cannot be, and where its messages hold up one another, as asynchronous ones may */
double fr_optimus_without_s(const struct fr_job *job, const struct fr_plan *plan, int off);

/** The parts that @p word names: "nothing", "forward_passes", "backward_passes", "forward", "backward", "messages",
 *  "gradients", "embedding" or "communication". */
int fr_optimus_off(const char *word);

#endif
