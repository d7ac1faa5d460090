/** @file
 *  How many iterations a training needs to a loss (nu of Seal et al. 2025), found by training: FFNs of one
 *  width, dense and phantom, over several (p, k), repeated over seeds, each in one process of
 *  forerun-mpi, so that p is not bounded by the machine.
 *
 *  The learning problem is the paper's, y = relu(W relu(x)) with a fixed Gaussian W and mean
 *  squared error.  A network that only knew the mean of y would have a loss of 0.17.  The
 *  paper does not say how many samples it had.  Here every iteration sees new ones, so that
 *  the loss is that of the problem and not of memorised samples.  If asked, every iteration
 *  sees the same batch.
 *
 *  Which k is best?  A larger k needs fewer iterations, each of which costs more, so that
 *      E(k) = nu(k) e(k)        e  energy of an iteration from a cluster file [J]; without one the
 *                                  parameters of the network, Figure 7a of Seal et al. 2025
 *  has a minimum.  Where no k are given they are searched for: three in the middle of 1, 2, 4, ...
 *  up to the largest that Eq. 8 allows, then neighbours until the best has both of its own.
 *
 *  cells.c  the table of trainings (real/cells.h)  rows.c    what they say, over seeds
 *  ladder.c which k to train next                 model.c   the table that search reads
 */
#ifndef FR_REAL_ITERATIONS_ITERATIONS_H
#define FR_REAL_ITERATIONS_ITERATIONS_H

#include "calibrate/measure/launch.h"
#include "models/outcome/cost.h"
#include "real/iterations/growth_points.h"

struct fr_training_options {
    struct fr_launch_options launch; /**< n_ranks processes share the trainings */
    const char *samples;             /**< file of cases and results */
    int64_t width, layers, batch, seeds, most;
    double loss, rate;         /**< rate 0: 1 / width */
    double optimizer_state_B;  /**< as a model file has it */
    bool same_batch;           /**< every iteration on the same samples */
    const int64_t *tp, *ghost; /**< every pair that Eq. 8 allows; n_ghost 0: find the best k */
    size_t n_tp, n_ghost;
    const struct fr_growth_points *with; /**< of earlier trainings; NULL: none */
    const struct fr_cluster *cluster;    /**< prices an iteration; NULL: its parameters do */
    bool resume;                         /**< keep what the file holds */
    bool force;                          /**< or replace it (base/journal/keep.h) */
    bool progress;
};

/** Defaults but for launch, samples, tp and ghost: 1024 wide, 2 layers, batch 128, 3 seeds, loss
 *  0.12, Adam at a rate of 1 / width, at most 4000 iterations. */
struct fr_training_options fr_training_defaults(void);
double fr_training_rate(const struct fr_training_options *options);

/** One (method, p, k), over seeds. */
struct fr_trained {
    int64_t tp, ghost;            /**< tp 1: tensor parallelism, whatever its p */
    int n_seeds, n_reached;       /**< trainings, and those that reached the loss */
    double iterations, low, high; /**< median and range over those that did; NaN: none */
    double loss, gave_up; /**< of those that did not: lowest loss, most iterations; NaN */
    double parameters;    /**< of the whole network */
    double train_s;       /**< what its trainings took together, on one core each */
};

/** The method that divides its layers: ghost neurons or, where dense, the default of a plan. */
static inline const struct fr_method *fr_trained_method(const struct fr_trained *row) {
    return row->tp > 1 ? FR_METHOD_WITH(uses_ghost) : fr_methods[0];
}

/** Train.  @param[out] rows  *n_rows of them, dense first, then by tp and ghost; freed by the
 *  caller.  @return FR_OK; FR_ERR_PARTIAL when the job ended early, with the rows that are
 *  known; FR_ERR_INPUT when no pair is allowed or the file cannot be resumed; FR_ERR_IO,
 *  FR_ERR_EXTERNAL, FR_ERR_NOMEM. */
fr_status fr_training_run(const struct fr_training_options *options, struct fr_trained **rows,
                          int *n_rows, struct fr_error *err);

/** Cost of an iteration of @p row on @p p ranks: joule, or parameters where options has no cluster.
 *  NaN where the cluster cannot run it or states no power. */
double fr_training_cost(const struct fr_training_options *options, const struct fr_trained *row,
                        int64_t p);

/** The k with the least iterations * cost at one p, among those that all seeds reached. */
struct fr_best_ghost {
    const struct fr_trained *row; /**< NULL: none */
    char unpriced[200];           /**< why, where some k reached the loss but none has a cost */
    double total;                 /**< its iterations * cost */
    bool below, above;            /**< a smaller and a larger k were tried too */
    bool smallest, largest;       /**< of all that Eq. 8 allows */
};
struct fr_best_ghost fr_training_best(const struct fr_training_options *options,
                                      const struct fr_trained *rows, int n_rows, int64_t p);

/** "between 8 and 32" or why there is no minimum between two that were tried.  @return @p out. */
const char *fr_best_ghost_text(const struct fr_best_ghost *best, char *out, size_t capacity);

/** Append a model file whose "iterations" are those rows, for search. */
void fr_training_write_model(const struct fr_training_options *options,
                             const struct fr_trained *rows, int n_rows, struct fr_text *text);

/** Phantom networks against the dense one, behind those of options->with: what a law of growth is fitted to. */
void fr_training_growth(const struct fr_training_options *options,
                        const struct fr_trained *rows, int n_rows,
                        struct fr_growth_points *points);

/** The network as prices read it.  Free with fr_workload_free. */
fr_status fr_training_workload(const struct fr_training_options *options,
                               struct fr_workload *workload, struct fr_error *err);

#endif
