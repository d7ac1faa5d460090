/** @file
 *  What a network asks of its machines: the floating-point operations that a sample takes forward and
 *  backward, without recomputation.
 *
 *  Three products (forward, input gradient, weight gradient) of 2 m n k each.  Of a transformer of L
 *  layers, s tokens, vocabulary V, a heads and k key-value heads of d values:
 *
 *      6 s (L (h (a + 2k) d + a d h + w h f) + h V) + 12 L s^2 a d c
 *
 *  w f the MLP's two or three widths, of a mixture those of the experts that a token goes through, of what all
 *  share, and the router's; latent attention's products as models/workload/attention.h counts them; what predicts a further token
 *  adds a layer, the logits and 2 h h; a layer with cross-attention has its attention twice; state-space blocks have their
 *  products and the scan's, as models/workload/ssm.h counts them.  Beside adapters
 *  (models/workload/adapters.h) the frozen products have no weight gradient: two of the three; adapters all.
 *
 *  c is the share of the s^2 scores that a kernel makes.  There are two conventions:
 *
 *      causal   what the masks leave: half of a causal attention's, of windows and packed documents their pairs;
 *               so that no kernel can be busier than its peak
 *      palm     all of them, c = 1, as Chowdhery et al., PaLM, 2022 (appendix B: 6 N + 12 L a d s a token) and Narayanan
 *               et al., SC'21 (Eq. 3 without its recomputation) count them, and most papers since
 *
 *  Of method phantom the network is another one: with k ghost neurons over p ranks a matrix of n inputs and m
 *  outputs has p blocks, compressors and decompressors (Seal et al. 2025, section IV) in place of m n:
 *
 *      m n / p + k n + (p - 1) k m                                                                      */
#ifndef FR_MODELS_WORKLOAD_FLOP_H
#define FR_MODELS_WORKLOAD_FLOP_H

#include "models/workload/workload.h"

/** A network as a plan makes it, and how it is counted. */
struct fr_counted {
    const struct fr_workload *workload;
    double ghost_neurons, ranks; /**< k and p of method phantom; 0 of others */
    bool palm;                   /**< scores are counted whole */
};

/** Of one sample, a sequence of a transformer [FLOP]; NaN of a model of measured stages. */
double fr_counted_flop(const struct fr_counted *network);
/** Of it the forward pass. */
double fr_counted_forward_flop(const struct fr_counted *network);

/** The model's own network, by convention causal. */
static inline double fr_workload_flop(const struct fr_workload *workload) {
    return fr_counted_flop(&(struct fr_counted){.workload = workload});
}
static inline double fr_workload_forward_flop(const struct fr_workload *workload) {
    return fr_counted_forward_flop(&(struct fr_counted){.workload = workload});
}

/** Of it one forward pass of a transformer's layers, without the logits: queries, keys and values; the attention
 *  core (scores and weighted values); its second product; the MLP but for its last product (with the router of
 *  experts), and that one; state-space blocks whole [FLOP].  What recomputation does again is of these; 0 of other models. */
struct fr_layers_flop {
    double qkv, core, out, mlp_first, mlp_last, ssm;
    double up;                      /**< of qkv, latent attention's wide products */
    double dense_first, dense_last; /**< of the MLP's, without experts */
    double shared;                  /**< of both, what experts share */
};
struct fr_layers_flop fr_counted_layers_flop(const struct fr_counted *network);

/** Share of the pairs of a token and one before it at which attentions look, in the mean over the layers:
 *  where f of them have a window of w of s tokens, w s - w^2/2 of s^2/2 pairs, so 1 - f (1 - w/s)^2 (as of the w tokens
 *  that an indexer chooses); of pieces of w tokens each, s/w times w^2/2, so 1 - f (1 - w/s); of a window to both sides,
 *  w/2 each, w s - w^2/4 of s^2, so 1 - f (1 - w/(2 s))^2. */
double fr_transformer_seen(const struct fr_transformer *t);

/** Share of all s^2 pairs of tokens that fused kernels make, in the mean over the attentions: half of what a causal
 *  mask covers; all of those that look both ways, of an encoder's and of cross-attention. */
double fr_transformer_made(const struct fr_transformer *t);

#endif
