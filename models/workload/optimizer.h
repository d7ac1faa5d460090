/** @file
 *  What an optimiser keeps of a parameter besides weight and gradient.
 *
 *  `optimizer_state` of a model file is a size, or a word:
 *
 *      8-bit   Adam's two moments at 8 bits, with a scale of 32 bits for each 256 of either (Dettmers et al., 8-bit
 *              Optimizers via Block-wise Quantization, ICLR 2022; bitsandbytes, torchao): 2 + 8/256 B, and 4 B of
 *              master weights beside weights of 16 bits (Megatron's --exp-avg-dtype fp8, whose scales are of tensors)
 *
 *  The step reads and writes what is kept (fr_workload_update_B). */
#ifndef FR_MODELS_WORKLOAD_OPTIMIZER_H
#define FR_MODELS_WORKLOAD_OPTIMIZER_H

#include "models/workload/workload.h"

#define FR_OPTIMIZER_8_BIT_B (2 + 8 / 256.0)

/** Read `optimizer_state` of a model's file, whose dtype is known; what it does not say stays as it is. */
fr_status fr_optimizer_read_state(const struct fr_json *root, struct fr_workload *workload,
                                  struct fr_error *err);

/** Are the moments at 8 bits? */
bool fr_optimizer_is_8_bit(const struct fr_workload *workload);

#endif
