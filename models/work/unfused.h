/** @file
 *  What does a block do besides, where each of its element-wise operations is a kernel of its own?
 *
 *  Software that fuses, or compiles (torch.compile), moves what models/work/transformer_stage.c counts: norms, residual
 *  additions, an activation.  PyTorch's eager mode runs a kernel for each operation that is written.  Counted from a
 *  block as users write it (tests/device/transformer.py), values a token, forward and backward:
 *
 *      rotary positions of X queries and keys       10 X    10 X   two products, a change of sign, a join, a sum
 *      norms of queries and keys                     2 X     5 X
 *      activation and gating over a width of f         f       f   beyond what a fused one moves (4 f and 8 f)
 *      norms of the stream h                                 2 h   gradients of weights read both again
 *      sums of gradients: queries, keys and values           6 h
 *      ... of gate and up                                    3 h
 *      ... of two residual additions                       - 6 h   of 12 h counted there for both additions
 *      gradients of keys and values, of each query     2 q + k + v made by FlashAttention-2 for groups of queries, summed
 *
 *  Methods phantom and subgraph divide these values as they divide the products around them (our reading: nobody has measured
 *  them in eager mode).
 *
 *  framework.unfused says that a runtime's software is so (models/device/framework.h). */
#ifndef FR_MODELS_WORK_UNFUSED_H
#define FR_MODELS_WORK_UNFUSED_H

#include <stdbool.h>

struct fr_plan;
struct fr_transformer;

/** All layers of a stage, beside what fused ones do. */
struct fr_unfused {
    double forward_B, backward_B;
    double forward_kernels, backward_kernels;
};

/** Values of a micro-batch on one rank, of one layer. */
struct fr_unfused_sizes {
    const struct fr_transformer *t;
    const struct fr_plan *plan;
    double attentions, dense, mixed; /**< of the stage, with an MLP and with experts */
    double queries, keys, values;
    double hidden, routed; /**< between the products of an MLP, and of experts */
    double attention_stream, mlp_stream;
    double value_B;
    bool joined; /**< queries, keys and values are one product */
};
struct fr_unfused fr_unfused_of(const struct fr_unfused_sizes *s);

struct fr_stage_view;
/** The same of methods tensor and grid. */
struct fr_unfused fr_unfused_of_view(const struct fr_stage_view *v);

/** Bytes that a layer with an MLP, or with experts (@p mixed), saves besides: the activation, which a fused gating makes
 *  again from its input.  Experts also save what they made (@p made), before and after it is put in order.  That is gone
 *  at the fullest moment of a layer's backward pass. */
double fr_unfused_saved_B(const struct fr_stage_view *v, bool mixed, bool made);

#endif
