/** @file
 *  A recurrent block, Mamba-2 or another: its sizes, its parameters and its work for a token.
 *
 *  Mamba-2: Dao and Gu, Transformers are SSMs: Generalized Models and Efficient Algorithms Through Structured State
 *  Space Duality, 2024, sections 6 (the chunked algorithm) and 7 (the block, Figure 6).  It has H heads of P values,
 *  d = H P in all, and a state of N values for each.  G groups of heads share B and C (as key-value heads are
 *  shared).  Chunks have Q tokens.  A convolution over K tokens has c = d + 2 G N channels, each with its own filter
 *  and a bias.
 *
 *      x, z, B, C, dt   one product from h values to d + d + G N + G N + H
 *      x, B, C          convolution, SiLU
 *      y                the scan below; gated by SiLU(z), a norm over each group, a product from d to h
 *
 *      parameters       h (2 d + 2 G N + H) + c (K + 1) + 3 H + d + d h       (A, D and dt's bias a head; norm's d)
 *
 *  The scan by chunks (section 6), in multiplications a token, forward and backward:
 *
 *                                             forward     backward
 *      C B^T, Q x Q of a group                G Q N       2 G Q N (to B, C), G Q N again
 *      with x, within the chunk               d Q         2 d Q   (to x, to C B^T), d Q again for A's gradient
 *      states of chunks, B^T x                d N         2 d N   (to x, to B), d N again
 *      states' way to the outputs, C S        d N         2 d N   (to C, to S)
 *
 *  Again: the backward pass keeps neither states nor C B^T and makes both once more, whatever the plan recomputes
 *  (mamba_ssm, ssd_combined.py, _mamba_chunk_scan_combined_bwd: seven kernels of products more than its five of the forward pass).
 *  Squares are counted whole: the tiles of 64 to 128 that kernels skip above the diagonal are few of a chunk's.
 *  Megatron-LM's count of model flop has 7 d N for all of it, and says that it should be updated.
 *
 *  The other blocks use the same sizes.  Each states its products with weights, its parameters, and the
 *  multiplications of its scan a token:
 *
 *  gated delta net (Yang, Kautz and Hatamizadeh, Gated Delta Networks, 2024; Qwen3-Next): H heads of P values, G heads of
 *  N keys and queries, chunks of Q = 64 (flash-linear-attention, chunk_gated_delta_rule).
 *      in          queries and keys G N each, values and their gate d each, two numbers a head
 *      parameters  h (2 G N + 2 d + 2 H) + K (2 G N + d) + 2 H + P + d h
 *      forward     H (Q (3 N + 2 P) + 3 N P + Q^2 / 6): K K^T, its triangle's inverse, W = T K, U = T V, W S, K^T U for the
 *                  state, Q S, Q K^T, that times U
 *      backward    two for each, and W, U and the states again: twice that, and H (Q (N + P) + 2 N P)
 *
 *  delta net with a gate a channel (Kimi Team, Kimi Linear, 2025): likewise, G = H; the gates of keys and of outputs go
 *  through r = `ssm_rank` values.
 *      in          G N twice, d once, r twice, one number a head
 *      parameters  h (2 G N + d + 2 r + H) + r (G N + d) + K (2 G N + d) + G N + H + P + d h
 *
 *  linear attention with decay (Qin et al., Lightning Attention-2, 2024; MiniMax-01): H heads of P = N values, chunks of
 *  Q = 256; in: queries, keys, values and a gate, d each.
 *      parameters  4 h d + d + d h;   forward   H (Q (N + P) + 2 N P);   backward twice that
 *
 *  Mamba (Gu and Dao, 2023): d channels with N states each, a step from r values.
 *      in          2 d;   narrow   d (r + 2 N) + r d
 *      parameters  2 h d + d (K + 1) + d (r + 2 N) + r d + d + d N + d + d h
 *      forward     4.5 d N (9 d N flop a token, as its authors count the scan); backward twice that, and forward again
 *
 *  short convolution (Liquid AI, LFM2, 2025): in 3 h, filters of K tokens over h channels, out h.
 *      parameters  3 h h + K h + h h;   forward   K h;   backward 2 K h
 *
 *  gated linear recurrence (De et al., Griffin, 2024; RecurrentGemma): d channels in H blocks of P; in 2 d with biases;
 *  two gates of P x P a block.
 *      parameters  h 2 d + 2 d + d (K + 1) + 2 (d P + d) + d + d h + h
 *      forward     2 d P + 2 d; backward twice that */
#ifndef FR_MODELS_WORKLOAD_SSM_H
#define FR_MODELS_WORKLOAD_SSM_H

#include "models/workload/workload.h"

/** Which recurrent block: an index of its name. */
enum {
    FR_SSM_MAMBA2,
    FR_SSM_DELTA,
    FR_SSM_CHANNEL_DELTA,
    FR_SSM_LINEAR,
    FR_SSM_MAMBA,
    FR_SSM_CONVOLUTION,
    FR_SSM_GATED,
    FR_SSM_KINDS
};

struct fr_ssm_sizes {
    double inner;      /**< d */
    double convolved;  /**< c */
    double in;         /**< rows of its first product */
    double shared;     /**< G N */
    double states;     /**< d N / Q: of a chunk's states, values a token */
    double squares;    /**< G Q */
    double narrow;     /**< multiplications a token of narrow products between */
    double parameters; /**< without the norm before the block */
    double forward;    /**< multiplications of the scan a token */
    double backward;   /**< likewise, what is made again among them */
};

/** Sizes of a transformer with state-space blocks; all 0 for others. */
struct fr_ssm_sizes fr_ssm_of(const struct fr_transformer *t);

/** Read `ssm_heads`, `ssm_head_dim`, `ssm_state`, `ssm_groups`, `ssm_chunk` and `ssm_conv` of a transformer's file. */
fr_status fr_ssm_read(const struct fr_json *object, struct fr_transformer *t,
                      struct fr_error *err);
/** Its groups divide its heads; else an error at @p node. */
fr_status fr_ssm_check(const struct fr_json *node, const struct fr_transformer *t,
                       struct fr_error *err);
/** A file without such blocks must not have their keys. */
fr_status fr_ssm_refuse(const struct fr_json *object, struct fr_error *err);

#endif
