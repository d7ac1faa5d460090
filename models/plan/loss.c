#include "models/plan/loss.h"

#include <stddef.h>

/* "measured": one GPU, PyTorch 2.8, bytes a logit at the peak beside the head's gradient, an H200, November 2026. */
const struct fr_loss_row fr_losses[FR_LOSSES] = {
    /* Transformer Engine's cross_entropy, whose gradient takes the logits' place: SimuMax's B200 runs of it. */
    [FR_LOSS_FUSED] = {"fused", {.own = 1}, {.own = 1}, {.own = 1}, 0, 1, {0}, {0}},
    /* Megatron-Core's fused_vocab_parallel_cross_entropy: a buffer of 32 bits (Megatron-Bridge, issue 5508: 3.79 GiB
     * for 4096 x 248,320). */
    [FR_LOSS_NATIVE] = {"native", {.wide = 1}, {.wide = 1}, {.wide = 1}, 0, 1, {0}, {0}},
    /* Megatron-Core's vocab_parallel_cross_entropy: measured 6, 4, 6. */
    [FR_LOSS_UNFUSED] = {"unfused",
                         {.wide = 1, .cast = 1},
                         {.wide = 1},
                         {.wide = 1, .cast = 1},
                         0,
                         1,
                         {0},
                         {0}},
    /* cross_entropy of logits.float() by torch.compile: measured 2, 2, 4.  Likewise FlashAttention's loss, and XLA's. */
    [FR_LOSS_COMPILED] =
        {"compiled", {.own = 1}, {.own = 1}, {.own = 2}, 0, 1, {.own = 1}, {.own = 2}},
    /* cross_entropy of 16 bits: measured 4, 2, 6. */
    [FR_LOSS_EAGER_16] =
        {"eager-16", {.own = 2}, {.own = 1}, {.own = 3}, 0, 1, {.own = 4}, {.own = 5}},
    /* cross_entropy of logits.float() (torchtitan, Hugging Face): measured 8, 4, 12. */
    [FR_LOSS_EAGER] = {"eager",
                       {.wide = 2},
                       {.wide = 1},
                       {.wide = 3},
                       0,
                       1,
                       {.wide = 5, .cast = 1},
                       {.wide = 6, .cast = 1}},
    /* torchtitan's loss_parallel, compiled: measured 10 at the peak; the forward pass's is our reading. */
    [FR_LOSS_PARALLEL_COMPILED] =
        {"parallel-compiled", {.wide = 2}, {.wide = 1}, {.wide = 2, .cast = 1}, 0, 1, {0}, {0}},
    /* The same, not compiled: measured 16 at the peak; likewise. */
    [FR_LOSS_PARALLEL] = {"parallel", {.wide = 3}, {.wide = 1}, {.wide = 4}, 0, 1, {0}, {0}},
    /* Head and loss in eight checkpointed parts: measured 1, 0, 1 and two gradients of the head's weights. */
    [FR_LOSS_CHUNKED] = {"chunked",
                         {.own = 0.5},
                         {0},
                         {.own = 0.5},
                         2,
                         8,
                         {.wide = 5, .cast = 1},
                         {.wide = 6, .cast = 1}},
};

const char *const fr_loss_names[] = {"fused",    "native", "unfused",           "compiled",
                                     "eager-16", "eager",  "parallel-compiled", "parallel",
                                     "chunked",  NULL};
