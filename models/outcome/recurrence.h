/** @file
 *  The exact recurrence over a pipeline's passes.
 *
 *  Pass (kind, stage, micro-batch) starts when the stage's previous slot is done and its input has arrived.  The
 *  forward pass needs the activation of the virtual stage before.  The backward pass needs the gradient of the
 *  virtual stage after; on the last one, its own forward pass.  Each input arrives message_s after it was made.
 *  Messages are asynchronous: they hold up nobody but their reader, and where the pipeline has lines
 *  (models/outcome/messages/message_lines.h) one another.  The gradient all-reduce of a stage follows its
 *  last backward pass; the iteration ends with the last of them.
 *
 *  Overlapped, the gradients of a chunk come out of the last pass that adds to them, in n equal buckets.  The j-th is
 *  ready when j/n of that pass is done.  Buckets go one after another over a collective stream of their own.  b is
 *  the time of one bucket, s the pass's start, d its duration, and e the end of the stream's earlier work.  The last
 *  bucket ends at (a maximum of lines in j, so at j = 1 or j = n; our derivation)
 *      max(e + n b, s + d/n + n b, s + d + b)
 *
 *  Exposed point-to-point time has no simple formula (not 2 (P-1) c): the recurrence is the
 *  closed form here.  The event engine (sim/) is written apart and must agree with it.
 */
#ifndef FR_MODELS_OUTCOME_RECURRENCE_H
#define FR_MODELS_OUTCOME_RECURRENCE_H

#include "models/outcome/recurrence_cache.h"
#include "models/price/pipeline.h"

struct fr_pipeline_times {
    double makespan_s;
    /** Earlier runs, to look for this one among and to keep it with; or NULL. */
    struct fr_recurrence_cache *cache;
    /** The same for runs whose messages share links, which take a dozen times longer; or NULL. */
    struct fr_recurrence_cache *shared;
    bool bound;    /**< set by the caller: will a lower bound do? */
    bool is_bound; /**< is the makespan one, since messages would share links? */
};

/** An iteration by the recurrence; asynchronous messages only.
 *  @param with  FR_WITH_... bits: what takes time
 *  @return FR_OK; FR_ERR_UNSUPPORTED for duplex; FR_ERR_INPUT when the order deadlocks;
 *          FR_ERR_NOMEM. */
fr_status fr_pipeline_run(const struct fr_pipeline *pipeline, int with,
                          struct fr_pipeline_times *times, struct fr_error *err);

/** Time to decompress what backward pass @p slot of stage @p i reads, or to compress what it sends; 0 of the
 *  first and the last virtual stage, and where neither goes compressed. */
double fr_pipeline_codec_s(const struct fr_pipeline *pipeline, int32_t i,
                           const struct fr_slot *slot, bool send);

/** Must @p pipeline have its slots to be run, or to be bounded? */
bool fr_pipeline_needs_order(const struct fr_pipeline *pipeline, bool bound);

/** Likewise of a run that is among the earlier ones: no order of passes is read.
 *  @return false: it is not */
bool fr_pipeline_ran(const struct fr_pipeline *pipeline, int with,
                     struct fr_pipeline_times *times);

#endif
