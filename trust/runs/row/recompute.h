/** @file
 *  Recomputation as configurations of trainers say it, into a row's plan.recompute and plan.recompute_layers.
 *
 *      recompute_granularity   full, selective, None        Megatron-LM's arguments, NeMo's and Megatron-Bridge's
 *      recompute_method        uniform, block               configurations (megatron/core/transformer/
 *      recompute_modules       ['core_attn', 'moe_act']     transformer_config.py), which print them in this order:
 *      recompute_num_layers    4                            that of the alphabet
 *
 *  uniform recomputes all layers, block the first N of each chunk; of granularity selective without modules
 *  the attention core alone. */
#ifndef FR_TRUST_RUNS_ROW_RECOMPUTE_H
#define FR_TRUST_RUNS_ROW_RECOMPUTE_H

#include "trust/runs/runs.h"

/** Take @p value of setting @p name into @p row.  @return whether it is a setting of these and says something. */
bool fr_run_take_recompute(const char *name, const char *value, struct fr_run_row *row);

#endif
