/** @file
 *  What a rank of a stage holds beside states and activations while it says nothing of its moments. */
#ifndef FR_TESTS_MEMORY_BESIDE_H
#define FR_TESTS_MEMORY_BESIDE_H

#include "models/outcome/iteration.h"

/** Messages, codecs, and what a pass works with [B]. */
static inline double fr_memory_beside_B(const struct fr_pipeline *pipeline, int32_t i) {
    return fr_pipeline_messages_B(pipeline, i) + fr_pipeline_codecs_B(pipeline, i) +
           pipeline->stage[i].working_B;
}

#endif
