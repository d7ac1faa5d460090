/** @file
 *  The recurrence of a schedule of simple form, in a tenth of the time that following its slots
 *  takes.
 *
 *  1F1B and its doubled warm-up run d (P - 1 - i) forward passes on stage i, then one forward and one backward pass
 *  in turn.  Put forward pass k of stage i at tick 2 k + d i and backward pass j at tick 2 j + 2 d (P - 1) + 1 - d i.
 *  Then ticks of a stage come in the order of its slots.  Every input comes from d ticks before, and is the last of
 *  its kind that its stage made.  So the passes of one tick do not wait for one another, and one number a stage and
 *  kind is remembered: P numbers instead of P m (our derivation).  GPipe likewise, with ticks k + i and j + m + 2 (P
 *  - 1) - i.  Compressed messages change nothing of that: their times depend on stage and micro-batch alone. */
#ifndef FR_MODELS_OUTCOME_PERIODIC_H
#define FR_MODELS_OUTCOME_PERIODIC_H

#include "models/price/pipeline.h"

struct fr_unshared;
struct fr_message_parts;

/** Is this a pipeline that fr_pipeline_periodic runs?  A schedule (of one chunk) that says so by warm_up or phases. */
bool fr_pipeline_is_periodic(const struct fr_pipeline *pipeline);

/** Do messages take time beside passes, and codecs? */
struct fr_periodic_with {
    bool messages, codecs;
    /** Messages, none compressed, go in order over these lines; or NULL. */
    struct fr_unshared *unshared;
    const struct fr_message_parts *parts; /**< [P][FR_MESSAGE_KINDS] */
};

/** End of each stage's last backward pass [s].
 *  @param pass_s  pass_s[P][3], by slot kind
 *  @param[out] end_s  end_s[P]
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_pipeline_periodic(const struct fr_pipeline *pipeline, const double *pass_s,
                               struct fr_periodic_with with, double *end_s,
                               struct fr_error *err);

#endif
