/** @file
 *  How much memory a loss takes: how many copies of the logits it holds, and when.
 *
 *  Logits are the largest single tensor of many plans: a micro-batch's tokens times the vocabulary.  A loss holds them,
 *  or what it made of them, in copies of the width that values are kept at (16 bits of bf16) and in copies of 32 bits:
 *
 *      bytes a logit at 16 bits   forward   held between the passes   backward
 *      fused                            2                         2          2   its gradient in their place
 *      native                           4                         4          4
 *      unfused                          6                         4          6
 *      compiled                         2                         2          4
 *      eager-16                         4                         2          6
 *      eager                            8                         4         12
 *      parallel-compiled                8                         4         10   over tp, as DTensor
 *      parallel                        12                         4         16
 *      chunked                          1                         0          1   and two gradients of the head's weights
 *
 *  Its kernels read and write logits, in the order of PyTorch's (aten/src/ATen/native/cuda/SoftMax.cu, counted):
 *
 *      bytes a logit at 16 bits   forward   backward
 *      compiled                         2          4   its row once for maximum and sum; read, and the gradient written
 *      eager-16                         8         10   a log softmax reads a row three times and writes it; backward
 *                                                      zeros, their sum, then gradient and result read, gradient written
 *      eager, chunked                  22         26   the same of 32 bits, and the casts; chunked makes all of it again
 *      others                          22         44   as unfused, step by step, and twice as much backward
 *
 *  An H200 takes as long as 25 and 20 bytes of `eager` would (tests/device), both passes of a compiled loss as said.
 *
 *  With 32-bit values there are no copies from casts.  To add one: a row in loss.c and its code below. */
#ifndef FR_MODELS_PLAN_LOSS_H
#define FR_MODELS_PLAN_LOSS_H

typedef enum {
    FR_LOSS_FUSED,
    FR_LOSS_NATIVE,
    FR_LOSS_UNFUSED,
    FR_LOSS_COMPILED,
    FR_LOSS_EAGER_16,
    FR_LOSS_EAGER,
    FR_LOSS_PARALLEL_COMPILED,
    FR_LOSS_PARALLEL,
    FR_LOSS_CHUNKED,
    FR_LOSSES
} fr_loss;

/** Copies of the logits: at their own width, at 32 bits, and at their own width where that is not 32 bits. */
struct fr_loss_copies {
    double own, wide, cast;
};

struct fr_loss_row {
    const char *name;
    struct fr_loss_copies forward, in_flight, backward;
    double weights; /**< gradients of the head's weights that it holds besides */
    double parts;   /**< that it works in, each from its own product of logits */
    /** Copies of the logits that its kernels read and write, forward and backward; none: nobody counted. */
    struct fr_loss_copies moved, moved_back;
};

extern const struct fr_loss_row fr_losses[FR_LOSSES];
/** Spellings in order, then NULL. */
extern const char *const fr_loss_names[];

/** Bytes a logit that values of @p value_B come to. */
static inline double fr_loss_logit_B(const struct fr_loss_copies *copies, double value_B) {
    double wide_B = value_B > 4 ? value_B : 4;
    return copies->own * value_B + copies->wide * wide_B +
           (value_B < 4 ? copies->cast * value_B : 0);
}

#endif
