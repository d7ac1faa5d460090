/** @file
 *  The event graph of a pipeline's passes, each at a clock: who waits for whom, how long, and when each can
 *  start at the earliest and must be over at the latest.
 *
 *  Passes are numbered stage by stage, k = i n_slots + x for slot x of stage i.  A pass follows the one before
 *  it on its stage, and the message with what it reads.  Behind a stage's last pass stands its tail:
 *  gradients, the embedding's, the optimiser. */
#ifndef FR_MODELS_OUTCOME_PASS_GRAPH_H
#define FR_MODELS_OUTCOME_PASS_GRAPH_H

#include "models/job/job.h"
#include "models/price/pipeline.h"

struct fr_pass_graph {
    const struct fr_device *device;
    const struct fr_pipeline *p;
    int32_t n, n_clocks;
    int32_t *needs; /**< [n]: the pass whose result it reads, or -1 */
    int32_t *order; /**< [n]: each behind what it waits for */
    int16_t *clock; /**< [n]: from the lowest; at first the highest */
    bool *pinned;   /**< [n]: to the highest clock: sends gradients in buckets, or is none */
    double *full_s; /**< [n]: at the highest clock, with its codecs */
    double *lag_s;  /**< [n]: of the message it reads */
    double *tail_s; /**< [stages]: behind a stage's last pass */
    bool
        ordered; /**< false: some pass waits for ever, and order holds no more than those that do not */
};

/** Make the graph of @p pipeline, which must outlive it, for the clocks of @p device.  Free with
 *  fr_pass_graph_free, also on error.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_pass_graph_make(const struct fr_device *device, const struct fr_pipeline *pipeline,
                             struct fr_pass_graph *graph, struct fr_error *err);
void fr_pass_graph_free(struct fr_pass_graph *graph);

int32_t fr_pass_graph_stage(const struct fr_pass_graph *graph, int32_t k);
struct fr_clocked_pass fr_pass_graph_pass(const struct fr_pass_graph *graph, int32_t k);

/** Starts and ends, at_s[2 k] and at_s[2 k + 1], as early as may be.  @return when all is over, tails counted */
double fr_pass_graph_early(const struct fr_pass_graph *graph, double *at_s);

/** Ends late_s[k], as late as may be for all to be over at @p deadline_s, tails counted. */
void fr_pass_graph_late(const struct fr_pass_graph *graph, double deadline_s, double *late_s);

#endif
