/** @file
 *  A state-space block (Mamba-2): its sizes, parameters and what a token asks of it.
 *
 *  Dao and Gu, Transformers are SSMs: Generalized Models and Efficient Algorithms Through Structured State Space
 *  Duality, 2024, sections 6 (the chunked algorithm) and 7 (the block, Figure 6).  H heads of P values, d = H P in
 *  all; a state of N values for each; G groups of heads that share B and C (as key-value heads are shared); chunks of
 *  Q tokens; c = d + 2 G N channels of a convolution over K tokens, each with its own filter and a bias.
 *
 *      x, z, B, C, dt   one product from h values to d + d + G N + G N + H
 *      x, B, C          convolution, SiLU
 *      y                the scan below; gated by SiLU(z), a norm over each group, a product from d to h
 *
 *      parameters       h (2 d + 2 G N + H) + c (K + 1) + 3 H + d + d h       (A, D and dt's bias a head; norm's d)
 *
 *  The scan by chunks (section 6), multiplications a token forward, and what they come to backward:
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
 *  Megatron-LM's count of model flop has 7 d N for all of it, and says that it should be updated. */
#ifndef FR_MODELS_WORKLOAD_SSM_H
#define FR_MODELS_WORKLOAD_SSM_H

#include "models/workload/workload.h"

struct fr_ssm_sizes {
    double inner;      /**< d */
    double convolved;  /**< c */
    double in;         /**< d + d + 2 G N + H */
    double shared;     /**< G N */
    double states;     /**< d N / Q: of a chunk's states, values a token */
    double squares;    /**< G Q */
    double parameters; /**< without the norm before the block */
    double forward;    /**< multiplications of the scan a token */
    double backward;   /**< likewise, what is made again among them */
};

/** Of a transformer with state-space blocks; all 0 of others. */
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
