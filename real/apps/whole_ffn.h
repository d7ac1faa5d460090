/** @file
 *  An FFN of p ranks trained in one process, for questions that time has no part in: how many
 *  iterations to a loss (nu of Seal et al. 2025).
 *
 *  The same numbers as the programs tensor (p = 1 here: it computes what one processor would,
 *  whatever its p) and phantom (p ranks, k ghost neurons): data, initial weights and optimiser.
 *  All ranks' decompressors of a layer stand in one matrix D (n x p k), whose own blocks are
 *  held at zero, so that
 *      z = diag(L_1, ..., L_p) y + D g,   g = diag(C_1, ..., C_p) y
 *  is p local products and two large ones.
 */
#ifndef FR_REAL_APPS_WHOLE_FFN_H
#define FR_REAL_APPS_WHOLE_FFN_H

#include "real/apps/app.h"

struct fr_whole_ffn_options {
    int width, layers, batch;
    int p, ghost; /* p = 1: no ghost neurons, the dense network */
    fr_dtype dtype;
    double optimizer_state_B; /* as a model file has it: 8 Adam, 4 momentum, 0 SGD */
    double rate;
    uint64_t seed;
    bool fresh; /* every step on samples never seen: its loss is that of the problem, not of
                   what was memorised; false: the programs' one batch */
};

struct fr_whole_ffn {
    struct fr_whole_ffn_options o;
    struct fr_real real; /* blocks, optimiser; no communicators */
    void **y, *target, *ghost_neurons, **g, *dy, *dx, *dg;
    void *wide; /* fresh data: W, n x n */
    int64_t steps;
    int64_t layer_size, n_counted; /* n_counted: parameters without D's own blocks */
};

/** @return FR_OK, FR_ERR_INPUT, FR_ERR_NOMEM.  Free with fr_whole_ffn_close, also on error. */
fr_status fr_whole_ffn_open(const struct fr_whole_ffn_options *options,
                            struct fr_whole_ffn *network, struct fr_error *err);
void fr_whole_ffn_close(struct fr_whole_ffn *network);

/** One training step.  @return the mean squared error before it. */
double fr_whole_ffn_step(struct fr_whole_ffn *network);

#endif
