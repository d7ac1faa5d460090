/** @file
 *  Trading time for memory: activations that are not saved, or not on the device.
 *
 *  `recompute` repeats nothing, all of a layer, all except the tensors that a policy saves, or any set of modules,
 *  "moe_act+layernorm".  Modules are Megatron-Core's (transformer_config.py, `recompute_modules` of granularity
 *  "selective"), with its rules.  models/work/recompute.h states what each repeats and no longer saves.
 *
 *  The policies `save_qkv` and `save_qkv_out` are JAX's (jax.checkpoint_policies.save_only_these_names).  They save
 *  queries, keys and values; the second also saves the result of the attention's second product.  A framework that
 *  traces (JAX) does not repeat work that no gradient needs: with a policy, the MLP's last product and the addition
 *  after it.  `selective_op` is torchtitan's (activation_checkpoint.py, selective_ac_option "op").  It saves the
 *  results of the fused attention, of every second matrix product, and of reduce-scatters.
 *
 *  `recompute_layers` n: the first n layers of each chunk of a stage do so, the others keep all (Megatron's
 *  recompute_method "block", recompute_num_layers); 0: all.  torchtitan's every N-th layer is 1/N of them. */
#ifndef FR_MODELS_PLAN_RECOMPUTE_H
#define FR_MODELS_PLAN_RECOMPUTE_H

#include <stdbool.h>
#include <stddef.h>

/** A bit for each module, which may stand together; then what stands alone, in this order. */
typedef enum {
    FR_RECOMPUTE_NONE = 0,
    FR_RECOMPUTE_CORE_ATTN = 1,
    FR_RECOMPUTE_SELECTIVE = FR_RECOMPUTE_CORE_ATTN, /**< its usual name */
    FR_RECOMPUTE_MOE_ACT = 2,
    FR_RECOMPUTE_LAYERNORM = 4,
    FR_RECOMPUTE_MLA_UP_PROJ = 8,
    FR_RECOMPUTE_MLP = 16,
    FR_RECOMPUTE_MOE = 32,
    FR_RECOMPUTE_SHARED_EXPERTS = 64,
    FR_RECOMPUTE_FULL = 128,
    FR_RECOMPUTE_SAVE_QKV = 256,
    FR_RECOMPUTE_SAVE_QKV_OUT = 512,
    FR_RECOMPUTE_SELECTIVE_OP = 1024
} fr_recompute;

/** All of a layer, but for what a policy keeps? */
static inline bool fr_recomputes_layer(fr_recompute recompute) {
    return recompute >= FR_RECOMPUTE_FULL;
}

/** Does it keep what a policy names? */
static inline bool fr_recompute_saves(fr_recompute recompute) {
    return recompute > FR_RECOMPUTE_FULL;
}

/** The scores and what they weigh? */
static inline bool fr_recomputes_core(fr_recompute recompute) {
    return recompute & FR_RECOMPUTE_CORE_ATTN ||
           (fr_recomputes_layer(recompute) && recompute != FR_RECOMPUTE_SELECTIVE_OP);
}

/** The way of tokens to their experts? */
static inline bool fr_recomputes_experts(fr_recompute recompute) {
    return recompute & FR_RECOMPUTE_MOE || fr_recomputes_layer(recompute);
}

/** Modules beyond the attention core? */
static inline bool fr_recomputes_modules(fr_recompute recompute) {
    return !fr_recomputes_layer(recompute) && recompute > FR_RECOMPUTE_CORE_ATTN;
}

/** As a plan says it, "none" or "core_attn+moe_act". @return @p out. */
const char *fr_recompute_text(fr_recompute recompute, char *out, size_t capacity);
/** Capacity for any. */
enum { FR_RECOMPUTE_TEXT = 96 };
/** Modules alone, as Megatron's options list them, with @p between. @return @p out. */
const char *fr_recompute_modules(fr_recompute recompute, const char *between, char *out,
                                 size_t capacity);

/** Data in the host's memory in place of the device's: models/price/offload.h. */
typedef enum {
    FR_OFFLOAD_NONE = 0,
    FR_OFFLOAD_ACTIVATIONS = 1,
    FR_OFFLOAD_OPTIMIZER = 2,
    FR_OFFLOAD_ALL = 3 /**< both: bits */
} fr_offload;

/** Words of either in order, then NULL. */
extern const char *const fr_recompute_names[];
extern const char *const fr_offload_names[];

#endif
