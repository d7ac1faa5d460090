/** @file
 *  A pipeline with its durations: an array of stages, and the order of their passes.
 *
 *  Durations come from models/price/.  The recurrence (models/outcome/recurrence.h) and the event engine (sim/)
 *  compute what follows when passes wait for each other. */
#ifndef FR_MODELS_PRICE_PIPELINE_H
#define FR_MODELS_PRICE_PIPELINE_H

#include "models/job/job.h"
#include "models/plan/schedule.h"
#include "models/price/stage.h"

struct fr_pair_lines;

/** Micro-batches whose activations the order makes a stage hold, a pass of one of v chunks counted as 1/v; of them,
 *  those that wait for their weight gradients alone. */
struct fr_pipeline_in_flight {
    double all, waiting;
};

struct fr_pipeline {
    const struct fr_schedule *schedule;
    struct fr_schedule_args args; /**< P, m, v */
    struct fr_slot *slots;        /**< [P][n_slots]: each stage's order, by fr_pipeline_order */
    int64_t n_slots;
    bool splits_backward;
    bool duplex;
    bool forward; /**< passes alone */
    uint8_t *
        cool_down; /**< [P][v][m]: read after the last forward pass; NULL where v = 1, or nobody asks */
    const struct fr_pipeline_in_flight *in_flight; /**< [P], or NULL: by the slots */
    struct fr_stage *stage;                        /**< [P] */
    uint64_t *
        copied; /**< [P], or NULL: number of the priced stage that each was copied from last; 0: of none */
    double embedding_s; /**< all-reduce of a tied embedding between first and last stage */
    fr_scope scope;     /**< backward messages that go compressed */
    bool codes_forward; /**< do messages forward, across some boundary? */
    double message_B;   /**< the largest of the stages' */
    double gradient_B,
        lossy_B; /**< of all stages, uncompressed; and what of it is compressed */
    /** Passes at clocks of their own, of @ref device's from the lowest; NULL: each stage has one.  By slots,
     *  how much longer each takes for it; by stages, how much longer all keep a rank busy, and what they
     *  draw beyond the stage's own clock (below 0: less) [J]. */
    const int16_t *pass_clock;
    const struct fr_device *device;
    double *longer_s, *busy_longer_s, *more_J;
    const struct fr_price_memo *memo; /**< what is priced once for many plans, or NULL */
    const struct fr_pair_lines
        *lines; /**< on which messages go in order; NULL: each goes alone */
    struct fr_pair_lines *own_lines; /**< the same, where nobody else holds them */
    bool regular; /**< placed so that no more than two lines each way meet at an adapter */
};

/** Does the backward message of @p micro that chunk @p chunk of stage @p i reads go compressed?
 *
 *  The epilogue are the messages that a stage reads in its cool-down, when it has no forward pass left to do while
 *  they travel.  With one chunk they are the last P - 1 - i of the boundary above stage i (Song et al.).  1F1B runs
 *  as many forward passes before its first backward pass, hence as many backward passes after the last pair.  With v
 *  > 1 chunks (our derivation) they are the messages that backward passes after a stage's last forward pass read.
 *  The one directly after it is left out, since it pairs with that forward pass.  Interleaved, they are the last w =
 *  2 (P - 1 - i) + (v - 1) P of v m.  The stage's k-th backward pass is of micro-batch P floor(k / (v P)) + k mod P
 *  and of chunk v - 1 - floor(k / P) mod v: mostly lower chunks of the last P micro-batches. */
bool fr_pipeline_compressed(const struct fr_pipeline *pipeline, int32_t i, int32_t chunk,
                            int32_t micro);
/** How many messages cross the boundary above stage @p i each way in an iteration: above the last stage those to the
 *  next chunk, of which there is one less. */
static inline double fr_pipeline_n_messages(const struct fr_pipeline *pipeline, int32_t i) {
    bool last = i == pipeline->args.stages - 1;
    if (last && pipeline->schedule && pipeline->schedule->folds) return 0; /* stay on it */
    return (double)pipeline->args.micro_batches * (pipeline->args.chunks - (last ? 1 : 0));
}
/** How many of the backward ones go compressed where the order of passes says which. */
double fr_pipeline_n_marked(const struct fr_pipeline *pipeline, int32_t i);
/** How many of the backward ones go compressed. */
static inline double fr_pipeline_n_compressed(const struct fr_pipeline *pipeline, int32_t i) {
    const struct fr_pipeline *p = pipeline;
    if (p->scope == FR_SCOPE_NONE || p->args.stages == 1 || p->stage[i].sends_whole) return 0;
    const double all = fr_pipeline_n_messages(p, i), above = p->args.stages - 1 - i;
    if (p->scope == FR_SCOPE_ALL || all <= 0) return all;
    if ((p->schedule && p->schedule->folds) || p->cool_down) return fr_pipeline_n_marked(p, i);
    return all < above ? all : above;
}
/** How many of those that chunk @p chunk of stage @p i reads do so. */
double fr_pipeline_n_read(const struct fr_pipeline *pipeline, int32_t i, int32_t chunk);

/** The boundary, by its lower stage, that separates virtual stage @p at from the next, above the last stage
 *  P - 1; -1 where one stage has both. */
static inline int32_t fr_pipeline_boundary(const struct fr_pipeline *p, int64_t at) {
    int32_t from = fr_schedule_stage(p->schedule, p->args.stages, at),
            to = fr_schedule_stage(p->schedule, p->args.stages, at + 1);
    if (from == to) return -1;
    return p->schedule->folds && to < from ? to : from;
}

/** Does the gradient of @p micro that virtual stage @p at reads from the next travel, and compressed? */
static inline bool fr_pipeline_small(const struct fr_pipeline *p, int64_t at, int32_t micro) {
    return fr_pipeline_boundary(p, at) >= 0 &&
           fr_pipeline_compressed(p, fr_schedule_stage(p->schedule, p->args.stages, at),
                                  (int32_t)(at / p->args.stages), micro);
}

/** Do any messages go compressed? */
static inline bool fr_pipeline_codes(const struct fr_pipeline *p) {
    return p->scope != FR_SCOPE_NONE || p->codes_forward;
}

/** Does the message that slot @p x of stage @p i reads, or sends, travel and go compressed? */
bool fr_pipeline_reads_small(const struct fr_pipeline *pipeline, int32_t i,
                             const struct fr_slot *x);
bool fr_pipeline_sends_small(const struct fr_pipeline *pipeline, int32_t i,
                             const struct fr_slot *x);
/** How many messages forward across the boundary above stage @p i go compressed, in an iteration. */
double fr_pipeline_n_forward_compressed(const struct fr_pipeline *pipeline, int32_t i);

/** Time of a pass of one chunk with only what @p with has [s]. */
double fr_pipeline_pass_s(const struct fr_pipeline *pipeline, int32_t i, uint8_t slot_kind,
                          int with);

/** Micro-batches of one data-parallel replica in an iteration. */
static inline int64_t fr_pipeline_micro_batches(const struct fr_job *job,
                                                const struct fr_plan *plan) {
    return fr_job_batch(job, plan) / plan->dp / fr_job_pipeline_micro_batch(job, plan);
}

/** Can messages hold up one another so much that it shows: does one take more than a share of its sender's shortest
 *  pass? */
bool fr_pipeline_queues(const struct fr_pipeline *pipeline);
/** Find the lines of a priced pipeline that was priced with a memo.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_pipeline_find_lines(const struct fr_job *job, const struct fr_plan *plan,
                                 struct fr_pipeline *pipeline, struct fr_error *err);

/** Reasons why @p plan is no pipeline of @p job's stages; 0 when it is. */
fr_reasons fr_pipeline_check(const struct fr_job *job, const struct fr_plan *plan);

/** Price the stages of a plan that was checked into p->stage[pp], which are 0 before; without a memo, find the lines
 *  of one that queues.
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

/** Fill cool_down from the order, where the epilogue's messages of several chunks go compressed.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_pipeline_find_epilogue(struct fr_pipeline *pipeline, fr_scope scope,
                                    struct fr_error *err);

/** Write down the order of @p pipeline's schedule into slots[P][fr_schedule_slots]. */
void fr_pipeline_order(struct fr_pipeline *pipeline, struct fr_slot *slots);
void fr_pipeline_free(struct fr_pipeline *pipeline);

#endif
