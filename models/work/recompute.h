/** @file
 *  What of a transformer's layer is done again in the backward pass, and what is no longer kept for it.
 *
 *  A module of Megatron-Core's (models/plan/recompute.h) is a row of the table in recompute.c:
 *
 *      module          made again                                  no longer kept, a layer
 *      core_attn       scores, softmax, weighted values            softmax and its mask (nothing of a fused kernel)
 *      layernorm       norms that stand alone                      their output, T h each
 *      mla_up_proj     wide products, norms of latents, rotation   queries, keys, values, normed latents
 *      moe_act         the experts' activation                     its output, rows x f
 *      shared_experts  the shared MLP, both products               all between its input and its output
 *      moe             router, both ways of tokens, experts        all between the norm's output and the sum
 *      mlp             norm and MLP, both products                 all but the norm's input
 *
 *  as its classes do it (transformer_layer.py, moe/moe_layer.py, moe/experts.py, multi_latent_attention.py): moe_act,
 *  layernorm and mla_up_proj drop their output alone ("output-discarding checkpointing"), the others run under a
 *  checkpoint, exchanges over tp and to experts included.  In Transformer Engine's layers a norm before a product is
 *  one kernel with it, so that layernorm finds norms before experts and before latent attention alone, and mlp has
 *  its norm inside.  Modules inside moe (moe_act, shared_experts) are repeated once with it.  A module that the model
 *  does not have is nothing, as there; but moe_act without experts and mla_up_proj without latent attention are
 *  refused, as there.
 *
 *  While a layer's backward pass runs it holds what was made again: the largest module's.
 *
 *  With `recompute_layers` all of it is that share of the layers' (fr_plan_recomputed): what is kept, what is done
 *  again, and what is held meanwhile. */
#ifndef FR_MODELS_WORK_RECOMPUTE_H
#define FR_MODELS_WORK_RECOMPUTE_H

#include "models/plan/recompute.h"

struct fr_plan;
struct fr_rank_work;
struct fr_stage_view;
struct fr_transformer;
struct fr_workload;

/** Share of a layer's products that is repeated.  Attention: latent attention's narrow products, those of queries,
 *  keys and values, the second product.  MLPs, experts and shared MLPs: their first products and their last. */
struct fr_again {
    double down, qkv, out;
    double dense_first, dense_last, routed_first, routed_last, shared_first, shared_last;
};
struct fr_again fr_again_of(const struct fr_transformer *t, fr_recompute recompute);

/** Besides products and the attention core, over the layers of a stage: values moved, of them through norms; kernels. */
struct fr_again_moved {
    double values, norms, kernels;
};
struct fr_again_moved fr_recompute_moved(const struct fr_stage_view *v);

/** Bytes of a micro-batch that modules no longer keep, of all of a stage's layers were all to recompute.
 *  @param mlp_B, experts_B  what a layer's MLP, or its experts and what they share, keep: from the norm's input on
 *  @param largest_B  the most that one module makes again of one layer */
double fr_recompute_saved_B(const struct fr_stage_view *v, double mlp_B, double experts_B,
                            double *largest_B);

/** Values that `selective_op` keeps beside the inputs of a stage's layers. */
double fr_recompute_op_values(const struct fr_stage_view *v);

/** Add the collectives of what modules, and `selective_op`, do again. @param mlps  layers whose MLP ranks of tp share */
void fr_recompute_add_exchanges(const struct fr_stage_view *v, double mlps,
                                struct fr_rank_work *work);

/** Leave of what is done again the share of the layers that do so. */
void fr_recompute_take_share(double share, struct fr_rank_work *work);

/** Why module or policy of @p plan is not modelled of this model and method, as a sentence's end; NULL: it is. */
const char *fr_recompute_refused(const struct fr_workload *workload,
                                 const struct fr_plan *plan);

#endif
