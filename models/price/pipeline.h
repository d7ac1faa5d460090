/** @file
 *  A pipeline with its durations, and the exact recurrence over its passes.
 *
 *  Pass (kind, stage, micro-batch) starts when the stage's previous slot is done and its input
 *  has arrived: the forward pass needs the activation of the virtual stage before, the backward
 *  pass the gradient of the virtual stage after (the last one its own forward pass), each
 *  message_s later.  Messages are asynchronous: they hold up nobody but their reader.  The
 *  gradient all-reduce of a stage follows its last backward pass; the iteration ends with the
 *  last of them.
 *
 *  Overlapped, the gradients of a chunk come out of the last pass that adds to them in n equal
 *  buckets, the j-th when j/n of that pass is done, and go one after another over a collective
 *  stream of their own.  With b the time of one, s the pass's start and d its duration, e the
 *  end of what the stream did before, the last one ends at (a maximum of lines in j, so at j = 1
 *  or j = n; our derivation)
 *      max(e + n b, s + d/n + n b, s + d + b)
 *
 *  Exposed point-to-point time has no simple formula (not 2 (P-1) c): the recurrence is the
 *  closed form here.  The event engine (sim/) is written apart and must agree with it.
 */
#ifndef FR_MODELS_PRICE_PIPELINE_H
#define FR_MODELS_PRICE_PIPELINE_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"
#include "models/plan/schedule.h"
#include "models/price/stage.h"

struct fr_pipeline {
    const struct fr_schedule *schedule;
    struct fr_schedule_args args; /**< P, m, v */
    struct fr_slot *slots;        /**< [P][n_slots]: each stage's order, by fr_pipeline_order */
    int64_t n_slots;
    bool splits_backward;
    bool duplex;
    struct fr_stage *stage; /**< [P] */
    double embedding_s;     /**< all-reduce of a tied embedding between first and last stage */
    fr_scope scope;         /**< backward messages that go compressed */
    double encode_s, decode_s; /**< of one such message */
    double message_B;          /**< the largest of the stages' */
    double small_message_B;    /**< the same, compressed */
    double codec_B;            /**< memory that compressing messages keeps */
    double gradient_B,
        lossy_B;    /**< of all stages, uncompressed; and what of it is compressed */
    double saved_B; /**< that a rank of each stage sends less for it, in all */
};

/** Does the backward message of @p micro across the boundary above stage @p i go compressed? */
static inline bool fr_pipeline_compressed(const struct fr_pipeline *pipeline, int32_t i,
                                          int32_t micro) {
    if (pipeline->scope != FR_SCOPE_EPILOGUE) return pipeline->scope == FR_SCOPE_ALL;
    return micro >= pipeline->args.micro_batches - (pipeline->args.stages - 1 - i);
}

/** Share of the backward messages that go compressed. */
double fr_pipeline_lossy_backward(const struct fr_pipeline *pipeline);

/** Time of a pass of one chunk with only what @p with has [s]. */
double fr_pipeline_pass_s(const struct fr_pipeline *pipeline, int32_t i, uint8_t slot_kind,
                          int with);

/** Micro-batches of one data-parallel replica in an iteration. */
static inline int64_t fr_pipeline_micro_batches(const struct fr_job *job,
                                                const struct fr_plan *plan) {
    return fr_job_batch(job, plan) / plan->dp / fr_job_pipeline_micro_batch(job, plan);
}

/** Reasons why @p plan is no pipeline of @p job's stages; 0 when it is. */
fr_reasons fr_pipeline_check(const struct fr_job *job, const struct fr_plan *plan);

/** Price the stages of a plan that was checked into p->stage[pp], which are 0 before.
 *  @param extrapolated  bits as in fr_outcome; set, never cleared
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_pipeline_price(const struct fr_job *job, const struct fr_plan *plan,
                            struct fr_pipeline *pipeline, uint32_t *extrapolated,
                            struct fr_error *err);

/** The same with its order, in memory of its own.  Free with fr_pipeline_free, also on error.
 *  @param extrapolated  bits as in fr_outcome; set, never cleared
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_pipeline_make(const struct fr_job *job, const struct fr_plan *plan,
                           struct fr_pipeline *pipeline, uint32_t *extrapolated,
                           struct fr_error *err);
/** Fill again_s of every stage: what recomputing activations takes, for pictures.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_pipeline_price_again(const struct fr_job *job, const struct fr_plan *plan,
                                  struct fr_pipeline *pipeline, struct fr_error *err);

/** Parameters, gradients and optimiser state of a rank of @p stage, as far as its plan's zero
 *  leaves them there: into those three of @p part_B [B]. */
void fr_pipeline_state_B(const struct fr_workload *workload, const struct fr_plan *plan,
                         const struct fr_stage *stage, double part_B[FR_MEMORY_COUNT]);

/** Memory of a rank of stage @p i that is neither state nor activations: messages, codecs, what a
 *  pass works with [B]. */
double fr_pipeline_buffers_B(const struct fr_pipeline *pipeline, int32_t i);

/** Write down the order of @p pipeline's schedule into slots[P][fr_schedule_slots]. */
void fr_pipeline_order(struct fr_pipeline *pipeline, struct fr_slot *slots);
void fr_pipeline_free(struct fr_pipeline *pipeline);

struct fr_pipeline_times {
    double makespan_s;
    /** [P], the caller's, or NULL: how long a stage's gradients are under way while it computes
     *  nothing. */
    double *gradient_exposed_s;
};

/** An iteration by the recurrence; asynchronous messages only.
 *  @param with  FR_WITH_... bits: what takes time
 *  @return FR_OK; FR_ERR_UNSUPPORTED for duplex; FR_ERR_INPUT when the order deadlocks;
 *          FR_ERR_NOMEM. */
fr_status fr_pipeline_run(const struct fr_pipeline *pipeline, int with,
                          struct fr_pipeline_times *times, struct fr_error *err);

/** An iteration with some things switched off: the recurrence, or an event engine. */
typedef fr_status fr_pipeline_timer(const void *context, int with,
                                    struct fr_pipeline_times *times, struct fr_error *err);

/** Fill @p out: times and parts by switching off in turn (embedding, gradients, messages, tp,
 *  launch), energy, memory, bytes, parameters.
 *  @return what @p timer returned when it failed, else FR_OK. */
fr_status fr_pipeline_outcome(const struct fr_job *job, const struct fr_pipeline *pipeline,
                              fr_pipeline_timer *timer, const void *context,
                              struct fr_outcome *out, struct fr_error *err);

/** The closed form of a plan over stages or a transformer, as fr_cost for layers.  A plan it cannot
 *  price (duplex) has its reason in the outcome. */
void fr_pipeline_cost(const struct fr_job *job, const struct fr_plan *plan,
                      struct fr_outcome *out);

#endif
