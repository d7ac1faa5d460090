/** @file
 *  Work of a transformer on the ranks of a plan, a pipeline stage at a time.
 *
 *  Megatron's division: heads and MLP columns over tp, layers over pp in order, the embedding on the first stage and
 *  the logits on the last.  Where the embedding is tied and pp > 1 the last stage holds a copy, which must be kept
 *  equal.  The vocabulary is padded to a multiple of 128 tp.
 *
 *  Symbols:  T tokens of a micro-batch = b s   h hidden   f MLP width   t = tp
 *            a heads, k key-value heads of d values each   V vocabulary, padded
 *
 *      parameters a layer   h a d + 2 h k d + a d h + (2 or 3) h f, biases, two norms (and those of q and k);
 *                           of latent attention models/workload/attention.h
 *      forward products     (a+2k)d/t x T x h; per head s x s x d and s x d x s; h x T x ad/t;
 *                           f/t x T x h (twice where gated); h x T x f/t
 *      backward             two products for each
 *      tp                   two all-reduces of T h values forward, two backward
 *      message              T h values, of which each of the t ranks sends 1/t (scatter-gather)
 *
 *  Left out: the loss's exchange over t ranks that divide a vocabulary, three values a token (the real program sends
 *  the largest logit, the sum of exponentials, and the target's logit).
 *
 *  Encoder and decoder (layers with cross-attention, the last ones) are stages in a row; left out: the
 *  decoder's own lookup of its words, where it begins.
 *
 *  Sequence parallel (Korthikanti et al., Reducing Activation Recomputation, 2022): between the products each rank
 *  holds T/t tokens.  An all-reduce becomes a reduce-scatter and an all-gather of the same bytes.  Norms, dropouts
 *  and residuals shrink by t in time and memory.  The backward pass gathers the inputs of the column-divided products
 *  a second time, beside the input-gradient product, which hides the gather as far as it lasts.  A message between
 *  stages needs no gathering.
 *
 *  Each rank makes norms and latent attention's narrow products of its own tokens.  Their latents are gathered in
 *  place of the h values that they are made from.  Left out: the all-reduce over tp of the gradients of these
 *  parameters, which every rank has.
 *
 *  Saved for each layer's backward pass, at v bytes a value, f the MLP's width and S = a T s scores (none with a
 *  fused attention):
 *      T h (4 v) + T (2 a + 2 k) d v / t + (2 or 3) T f v / t + S v / t
 *  These are inputs of both norms and of the products after them, queries, keys, values and the heads' outputs, the
 *  MLP's products, the softmax.  Dropout adds two masks of T h bytes, and for the scores its output and a mask, S (v
 *  + 1) / t.  GPT at 16 bits: 34 T h + 5 S (Korthikanti's Eq.  2, a d = h, f = 4 h, t = 1).  LLaMA, with a gated MLP
 *  and no dropout: 12 T h + 4 T k d + 6 T f.
 *
 *  Experts save the rows that they read, k h values a token, and k times (2 or 3) f of their width, on the fullest
 *  rank.  Routers save 9 bytes a token and expert: logits, probabilities, choices.  For moments of a pass:
 *  models/work/moment.h.
 */
#ifndef FR_MODELS_WORK_TRANSFORMER_H
#define FR_MODELS_WORK_TRANSFORMER_H

#include "base/text.h"
#include "models/plan/plan.h"
#include "models/work/method.h"
#include "models/work/unfused.h"
#include "models/workload/hybrid.h"

/** Vocabulary padded as Megatron does for @p tp. */
int64_t fr_transformer_padded_vocabulary(const struct fr_transformer *t, int64_t tp);

/** Parameters of one layer over all tp ranks; and of one rank (norms are on every rank). */
double fr_transformer_layer_parameters(const struct fr_transformer *t);
double fr_transformer_layer_parameters_rank(const struct fr_transformer *t, int64_t tp);

/** Parameters of a layer by how they are divided.  The attention's products come first, then the MLP (with experts:
 *  all of them, their router and the shared MLP; `dense`: that of a layer without).  Last come those that every rank
 *  holds, of a layer and of a cross-attention: norms, biases after row-divided products, latent attention's narrow
 *  products. */
struct fr_transformer_parts {
    double attention, mlp, dense, replicated, cross_replicated;
};
struct fr_transformer_parts fr_transformer_layer_parts(const struct fr_transformer *t);

/** Kernels launched forward by one rank of @p tp: a layer's, of them those inside the heads
 *  (scores, softmax and weighted sum), and a cross-attention's. */
double fr_transformer_layer_kernels(const struct fr_transformer *t, int64_t tp);
/** Those kernels of a layer that belong to an attention that is not plain: latents, an indexer, a gate. */
double fr_transformer_attention_kernels(const struct fr_transformer *t);
double fr_transformer_head_kernels(const struct fr_transformer *t, int64_t tp);
double fr_transformer_cross_kernels(const struct fr_transformer *t, int64_t tp);
/** Those kernels of a layer with experts that a layer without has not. */
double fr_transformer_mixture_kernels(const struct fr_transformer *t);

/** Layers of stage @p i with an MLP.  Without experts these are all; else those of the first `dense_layers` that lie
 *  in its chunks, each chunk having 1/v of the stage's layers. */
double fr_transformer_stage_dense(const struct fr_transformer *t, const struct fr_plan *plan,
                                  int64_t i);

/** Blocks of the layers of stage @p i, each of its chunks with 1/v of them. */
struct fr_block_counts fr_transformer_stage_blocks(const struct fr_transformer *t,
                                                   const struct fr_plan *plan, int64_t i);

/** Layers of stage @p i with cross-attention. */
int64_t fr_transformer_stage_cross(const struct fr_transformer *t, const struct fr_plan *plan,
                                   int64_t i);

/** Does the boundary below stage @p i cut the decoder?  Then the encoder's output, to which every layer above
 *  attends, travels beside the decoder's activations, and its gradient beside theirs. */
bool fr_transformer_carries(const struct fr_transformer *t, const struct fr_plan *plan,
                            int64_t i);

/** Kept for the backward pass by dropout: bytes a value before each residual addition; and by a
 *  softmax and its dropout, bytes a score. */
static inline double fr_transformer_mask_B(const struct fr_transformer *t) {
    return t->dropout ? 1 : 0;
}
static inline double fr_transformer_score_B(const struct fr_transformer *t, double value_B) {
    return t->dropout ? 2 * value_B + 1 : value_B;
}

/** Bytes moved forward by the last norm and the loss over a rank's @p vocabulary [B]. */
double fr_transformer_loss_B(double tokens, double vocabulary, double hidden, double value_B);

/** Layers of stage @p i: the plan's, else as equal as can be, earlier stages taking one more.  An interleaved
 *  schedule may have one or two virtual stages more than layers.  Then the logits and the embedding count as a layer
 *  each, and the last and the first stage have a layer less (Llama 3's 126 layers over 16 x 8).  A pass of one chunk
 *  is taken as 1/v of its stage's, also there. */
int64_t fr_transformer_stage_layers(const struct fr_transformer *t, const struct fr_plan *plan,
                                    int64_t i);

/** Work of layers, or of the ends of a stage, besides products and attention, forward.  Backward is twice that: a
 *  gradient comes in beside the saved values, and each product becomes two. */
struct fr_stage_share {
    double forward_B, kernels;
    double norm_B, softmax_B;        /**< of forward_B */
    double common_B, common_kernels; /**< of them, common layers' (method subgraph) */
    double common_norm_B;            /**< of common_B */
    double once_B;                   /**< of forward_B, not recomputed */
    double more_B, common_more_B;    /**< backward, beyond twice forward_B; of them, common */
    double again_B,
        again_norm_B;        /**< that modules recompute, without a softmax; through norms */
    double again_kernels;    /**< recomputed */
    double blocks;           /**< of kernels, layers whose fused ones spare some forward */
    bool frozen;             /**< no kernels of weight gradients */
    struct fr_unfused apart; /**< besides, where each operation is a kernel of its own */
};
/** Add it to the list.  Between layers little but their activations is touched: a layer's traffic is
 *  its working set. @param layers  that it is of; 0: an embedding's and logits' */
void fr_transformer_add_share(struct fr_rank_work *work, const struct fr_stage_share *share,
                              double layers, fr_recompute recompute);
/** Add the core of @p heads heads of a rank, over all samples and attentions: two products with the scores between,
 *  or one fused kernel.  The fused kernel saves no scores, skips those that the causal mask hides (half), and makes
 *  them once more backward (2.5 times the flop).  There heads are padded to a multiple of 32 values.
 *  @param queries  of a head on the rank, which attend to the whole sequence */
void fr_transformer_add_core(struct fr_rank_work *work, const struct fr_transformer *t,
                             const struct fr_plan *plan, double queries, double batch,
                             double heads);

/** Exchange of a rank's attentions over the cp ranks of a sequence: q values a token of queries, kv of keys and
 *  values, and the heads' outputs.  It is over p ranks, each with T tokens of b samples. */
struct fr_context {
    double q, kv, made, p, tokens, batch, value_B, attentions;
};
void fr_transformer_add_context(struct fr_rank_work *work, const struct fr_transformer *t,
                                const struct fr_plan *plan, const struct fr_context *c);
/** Queries of a head on a rank of a sequence of @p s tokens, and by how much its heads are divided further. */
static inline double fr_context_queries(const struct fr_plan *plan, double s) {
    return plan->context_heads ? s : s / (double)plan->cp;
}
static inline double fr_context_heads(const struct fr_plan *plan) {
    return plan->context_heads ? (double)plan->cp : 1;
}

/** Embedding of the first stage and logits of the last, on a rank. */
struct fr_ends {
    double tokens, batch, words, value_B; /**< words: of the vocabulary, its own */
    double saved,
        logits_saved; /**< of h values a token, between layers and before the logits */
    double regathers; /**< of the logits' input, over ... */
    fr_axis axis;
    fr_loss loss;
    bool common;
    double predicted; /**< further tokens, with an embedding and logits each */
};
/** Add what they do; and, where @p ranks divide the vocabulary, their parameters. */
void fr_transformer_add_ends(struct fr_rank_work *work, const struct fr_transformer *t,
                             bool first, bool last, const struct fr_ends *ends);
void fr_transformer_add_vocabulary(struct fr_rank_work *work, const struct fr_transformer *t,
                                   const struct fr_plan *plan, int64_t ranks, bool first,
                                   bool last);

/** Work of stage @p i of the plan, for one micro-batch. */
void fr_transformer_stage(const struct fr_workload *workload, const struct fr_plan *plan,
                          int64_t i, struct fr_rank_work *work);

/** Parameters of the model itself, without the rows that pad its vocabulary; NaN of other kinds. */
double fr_transformer_parameters(const struct fr_workload *workload);

/** Reasons why the plan cannot divide this transformer so. */
fr_reasons fr_transformer_check(const struct fr_workload *workload, const struct fr_plan *plan);
/** Append the rules behind @p reason, of those above, with their numbers; nothing for others. */
void fr_transformer_say(const struct fr_workload *workload, const struct fr_plan *plan,
                        int reason, struct fr_text *text);
/** Do the layers make the plan's stages? */
bool fr_transformer_layers_fit(const struct fr_transformer *t, const struct fr_plan *plan);

#endif
