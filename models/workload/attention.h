/** @file
 *  How do an attention's products make queries, keys and values of a token?
 *
 *  Plain: a heads of d values, k key-value heads, from h values in one product.  Latent: DeepSeek-AI, DeepSeek-V2,
 *  2024, section 2.1.  Queries come from c' = `q_latent` values that a narrow product makes first (0: from h).  Keys
 *  and values come from c = `kv_latent`.  All heads share one key, made beside c, for r = `rope_dim` of a head's d
 *  values.  A head has v = `value_dim` values:
 *
 *               queries, keys, values    parameters over tp               on every rank
 *      plain    a d, k d, k d            h (a + 2 k) d + a d h            -
 *      latent   a d, a d, a v            (c' or h) a d + c a (d - r + v)  h (c' + c + r), two norms of c' and c
 *                                        + a v h
 *
 *  as trained: the products that a cache would spare in inference are made (keys and values are not absorbed).
 *
 *  A plain head's values may have a width of their own, v = `value_dim`; with `attention_gate` a product of h x a v
 *  gates the heads' outputs (Qiu et al., Gated Attention for Large Language Models, 2025).  Where `other_layers` of
 *  the layers have other heads (Gemma 4, MiMo-V2: windows of other widths), all sizes are the mean over the layers.
 *  Work and parameters are proportional to every size here, so sums over the model are exact and stages are equal.
 *
 *  Sparse attention with an indexer (DeepSeek-AI, DeepSeek-V3.2, 2025, section 2.1): I = `index_heads` heads of
 *  e = `index_dim` values score every pair of tokens, and a token attends to the best `index_tokens` alone:
 *
 *      parameters, on every rank   (c' or h) I e + h e + h I + 2 e     (queries, one key for all, weights, a norm)
 *      scores                      I e a pair of tokens
 *
 *  Left out: the loss by which the indexer learns the attention's own scores. */
#ifndef FR_MODELS_WORKLOAD_ATTENTION_H
#define FR_MODELS_WORKLOAD_ATTENTION_H

#include "models/workload/workload.h"

struct fr_attention_sizes {
    double queries, keys, values; /**< of all heads, a token */
    double made;                  /**< what the heads make of them */
    double q_latent, kv_latent;   /**< c', and c + r; 0: no such product */
    double from_q, from_kv;       /**< values that the products over tp read */
    double to_q, to_kv;           /**< rows of these: plain one product, to_kv 0 */
    double arrives;               /**< values a token that ranks of tp gather before these */
    double divided, whole;        /**< parameters without biases */
    double index_q,
        index_k; /**< rows of the indexer's products from q_latent (or h), and from h; 0: none */
};

struct fr_attention_sizes fr_attention_of(const struct fr_transformer *t);

static inline bool fr_attention_is_latent(const struct fr_transformer *t) {
    return t->kv_latent > 0;
}
/** Has it what methods but Megatron's do not divide: latents, gates, an indexer, heads of several sizes? */
static inline bool fr_attention_is_special(const struct fr_transformer *t) {
    return t->kv_latent > 0 || t->attention_gate || t->index_heads > 0 || t->other_layers > 0 ||
           t->value_dim > 0;
}
/** A head's values. */
static inline int64_t fr_attention_value_dim(const struct fr_transformer *t) {
    return t->value_dim ? t->value_dim : t->head_dim;
}

/** Read `q_latent`, `kv_latent`, `rope_dim` and `value_dim` of a transformer's file, whose heads are known. */
fr_status fr_attention_read(const struct fr_json *object, struct fr_transformer *t,
                            struct fr_error *err);

#endif
