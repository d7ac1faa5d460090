/** @file
 *  A pipeline with its durations: an array of stages, and the order of their passes.
 *
 *  What each takes comes from models/price/; what comes of them when they wait for each other is the
 *  recurrence's (models/outcome/recurrence.h) and the event engine's (sim/). */
#ifndef FR_MODELS_PRICE_PIPELINE_H
#define FR_MODELS_PRICE_PIPELINE_H

#include "models/job/job.h"
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

/** Write down the order of @p pipeline's schedule into slots[P][fr_schedule_slots]. */
void fr_pipeline_order(struct fr_pipeline *pipeline, struct fr_slot *slots);
void fr_pipeline_free(struct fr_pipeline *pipeline);

#endif
