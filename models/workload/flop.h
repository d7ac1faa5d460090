/** @file
 *  How many floating-point operations does a sample take, forward and backward, without recomputation?
 *
 *  Three products (forward, input gradient, weight gradient) of 2 m n k each.  For a transformer of L layers, s
 *  tokens, vocabulary V, a heads and k key-value heads of d values:
 *
 *      6 s (L (h (a + 2k) d + a d h + w h f) + h V) + 12 L s^2 a d c
 *
 *  w f is the MLP's two or three widths.  In a mixture it is those of the experts that a token goes through, of the
 *  shared ones, and of the router.  Latent attention's products count as in models/workload/attention.h.  Prediction
 *  of a further token adds a layer, the logits and 2 h h.  A layer with cross-attention has its attention twice.
 *  State-space blocks have their products and the scan's, as in models/workload/ssm.h.  Beside adapters
 *  (models/workload/adapters.h) the frozen products have no weight gradient, so they take two of the three; adapters
 *  take all three.
 *
 *  c is the share of the s^2 scores that a kernel makes.  There are two conventions:
 *
 *      causal   what the masks leave: half of a causal attention's, of windows and packed documents their pairs;
 *               so that no kernel can be busier than its peak
 *      palm     all of them, c = 1, as Chowdhery et al., PaLM, 2022 (appendix B: 6 N + 12 L a d s a token) and Narayanan
 *               et al., SC'21 (Eq. 3 without its recomputation) count them, and most papers since
 *
 *  Method phantom trains another network.  With k ghost neurons over p ranks a matrix of n inputs and m outputs has p
 *  blocks, compressors and decompressors (Seal et al. 2025, section IV) in place of m n:
 *
 *      m n / p + k n + (p - 1) k m
 *
 *  In a transformer these are the MLP's matrices, those of the attention, or both.  Queries, keys and values are one
 *  matrix; a cross-attention compresses two streams, k n more.                                          */
#ifndef FR_MODELS_WORKLOAD_FLOP_H
#define FR_MODELS_WORKLOAD_FLOP_H

#include "models/workload/workload.h"

/** A network as a plan makes it, and how it is counted. */
struct fr_counted {
    const struct fr_workload *workload;
    double ghost_neurons, ranks; /**< k and p of method phantom; 0 of others */
    bool phantom_attention,
        dense_mlp; /**< which matrices of a transformer are; else the MLP's */
    bool palm;     /**< scores are counted whole */
};

/** Operations of one sample, a sequence of a transformer [FLOP]; NaN for a model of measured stages. */
double fr_counted_flop(const struct fr_counted *network);
/** Its forward pass alone [FLOP]. */
double fr_counted_forward_flop(const struct fr_counted *network);

/** The model's own network, by convention causal. */
static inline double fr_workload_flop(const struct fr_workload *workload) {
    return fr_counted_flop(&(struct fr_counted){.workload = workload});
}
static inline double fr_workload_forward_flop(const struct fr_workload *workload) {
    return fr_counted_forward_flop(&(struct fr_counted){.workload = workload});
}

/** One forward pass of a transformer's layers, without the logits, in parts [FLOP].  The parts are: queries, keys and
 *  values; the attention core (scores and weighted values); its second product.  Then the MLP without its last
 *  product (with the router of experts), its last product, and state-space blocks whole.  Recomputation repeats some
 *  of these; 0 for other models. */
struct fr_layers_flop {
    double qkv, core, out, mlp_first, mlp_last, ssm;
    double up;                      /**< of qkv, latent attention's wide products */
    double dense_first, dense_last; /**< of the MLP's, without experts */
    double shared;                  /**< of both, what experts share */
};
struct fr_layers_flop fr_counted_layers_flop(const struct fr_counted *network);

/** Share of the pairs of a token and an earlier one that attentions see, in the mean over the layers.  f is the share
 *  of layers with a window of w of s tokens.  Such a window sees w s - w^2/2 of s^2/2 pairs, so the share is 1 - f (1
 *  - w/s)^2; the w tokens that an indexer chooses count the same.  Pieces of w tokens each see s/w times w^2/2, so 1
 *  - f (1 - w/s).  A window to both sides, w/2 each, sees w s - w^2/4 of s^2, so 1 - f (1 - w/(2 s))^2. */
double fr_transformer_seen(const struct fr_transformer *t);

/** Share of all s^2 pairs of tokens that fused kernels compute, in the mean over the attentions.  Under a causal mask
 *  it is half; for attention both ways, an encoder's and cross-attention it is all. */
double fr_transformer_made(const struct fr_transformer *t);

#endif
