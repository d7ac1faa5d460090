/** @file
 *  What adapters beside frozen weights (models/workload/adapters.h) ask of a rank.
 *
 *  Divided over p = tp ranks as NeMo's and Megatron-Bridge's parallel adapters are, of T tokens:
 *
 *                 A                  then                  B                     backward, besides
 *      first      r/p x T x in       all-gather of T r     out/p x T x r         all-reduce of T in
 *      second     r x T x in/p       all-reduce of T r     out/p x T x r,        all-reduce of T r
 *                                                          all-gather of T out
 *
 *  so that p divides r, and each rank trains 1/p of every adapter.  With sequence parallel
 *
 *      first      reads what was gathered for W and keeps it whole; its gradient is added to W's before that is
 *                 scattered: no exchange of T in.  Where W gathers in pieces (overlap_tp) nobody has the whole: it
 *                 gathers its own, and scatters the gradient
 *      second     what is gathered is scattered without sending, and its gradient gathered: an all-gather of T out more
 *                 backward; or, `lora_exchange` all_to_all, an all-to-all of T out/p in place of either gather
 *
 *  The result of B is added to that of W: three values an output.
 *
 *  Frozen: no products for weight gradients, no gradients and no optimiser state; the input of a product is kept for
 *  its adapter alone.  Left out: dropout before A, and that the first layer's input needs no gradient.  Pruned from
 *  memory: A x is kept, r values a token and adapter.  Source: NeMo, parallel_adapters.py (ParallelLinearAdapter,
 *  a2a_experimental; return_layernorm_output_gathered of its LoRA). */
#ifndef FR_MODELS_WORK_ADAPTERS_H
#define FR_MODELS_WORK_ADAPTERS_H

#include "models/work/transformer_view.h"

/** Add products, kernels and exchanges of the layers' adapters, and what of it moves beside products. */
void fr_adapters_add(const struct fr_stage_view *v, struct fr_rank_work *work);

/** Values that the adapters of a layer's attention, or of its MLP, keep on a rank. */
double fr_adapters_saved(const struct fr_stage_view *v, bool mlp);

/** Parameters of the stage's adapters, over all tp ranks. */
double fr_adapters_parameters(const struct fr_stage_view *v);

#endif
