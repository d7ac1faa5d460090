/** @file
 *  How many iterations a training needs to a loss (seed 000's nu), found by training: FFNs of one
 *  width, dense and phantom, over several (p, k), repeated over seeds, each in one process of
 *  forerun-mpi, so that p is not bounded by the machine.
 *
 *  The learning problem is the paper's, y = relu(W relu(x)) with a fixed Gaussian W, mean squared
 *  error, every iteration on new samples, so that the loss is that of the problem and not of
 *  what was memorised.  A network that only knew the mean of y would have a loss of 0.17.
 */
#ifndef FR_CALIBRATE_ITERATIONS_H
#define FR_CALIBRATE_ITERATIONS_H

#include "calibrate/launch.h"
#include "models/workload.h"

struct fr_training_options {
    struct fr_launch_options launch; /**< n_ranks processes share the trainings */
    const char *samples;             /**< file of cases and results */
    int64_t width, layers, batch, seeds, most;
    double loss, rate;
    const int64_t *tp, *ghost; /**< phantom: every pair that Eq. 8 allows */
    size_t n_tp, n_ghost;
    bool progress;
};

/** Defaults but for launch, samples, tp and ghost: 1024 wide, 2 layers, batch 128, 3 seeds, loss
 *  0.13, Adam at a rate of 0.5 / width, at most 4000 iterations. */
struct fr_training_options fr_training_defaults(void);

/** One (method, p, k), over seeds. */
struct fr_trained {
    int64_t tp, ghost;            /**< tp 1: tensor parallelism, whatever its p */
    int n_seeds, n_reached;       /**< trainings, and those that reached the loss */
    double iterations, low, high; /**< median and range over those that did; NaN: none */
    double parameters;
};

/** Train.  @param[out] rows  *n_rows of them, dense first, then by tp and ghost; freed by the
 *  caller.  @return FR_OK; FR_ERR_PARTIAL when the job ended early, with the rows that are
 *  known; FR_ERR_INPUT when no pair is allowed; FR_ERR_IO, FR_ERR_EXTERNAL, FR_ERR_NOMEM. */
fr_status fr_training_run(const struct fr_training_options *options, struct fr_trained **rows,
                          int *n_rows, struct fr_error *err);

/** Append a model file whose "iterations" are those rows, for search. */
void fr_training_write_model(const struct fr_training_options *options,
                             const struct fr_trained *rows, int n_rows, struct fr_text *text);

#endif
