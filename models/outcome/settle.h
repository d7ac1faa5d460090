/** @file
 *  A plan and its job as they are priced: what the plan leaves open is filled in, the machine is
 *  as it usually is, and the ranks have their seats.
 *
 *  A machine that is interrupted (models/device/interruptions.h) lets a plan's ranks wait for each
 *  other.  First the plan is priced without interruptions.  Its compute time, divided by how often
 *  the ranks of a layer meet, is their chunk; replicas and stages meet once a step.  The share by
 *  which all computing is lengthened is
 *
 *      share = s(tp, chunk) + s(ranks / tp, step) - s(1, step)
 *
 *  with s of interruptions.h: what those of a layer cost each other, and what of that replicas add by
 *  waiting for the slowest.  Ranks meet four times in a layer where tp divides it (twice each way),
 *  else once a micro-batch in a pipeline, else once a step.
 *
 *  A placement that searches ("optimised") prices the plan with every seating it tries; what it finds
 *  stands as a list in its place. */
#ifndef FR_MODELS_OUTCOME_SETTLE_H
#define FR_MODELS_OUTCOME_SETTLE_H

#include "models/job/job.h"

struct fr_settled {
    const struct fr_job *job; /**< the given one, or `own` */
    struct fr_plan plan;
    struct fr_placement_choice placement; /**< as the plan was given it */
    struct fr_job own; /**< of an interrupted machine; shares what it points to */
    int64_t *seats;    /**< rank of each slot, or NULL; owned */
};

/** @return FR_OK or FR_ERR_NOMEM.  Free with fr_settled_free, also on error. */
fr_status fr_settle(const struct fr_job *job, const struct fr_plan *plan,
                    struct fr_settled *settled, struct fr_error *err);
void fr_settled_free(struct fr_settled *settled);

/** The seats alone: a placement of @p plan that searches becomes the list that it finds, in @p list,
 *  which is the caller's to free; else nothing changes.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_settle_seats(const struct fr_job *job, struct fr_plan *plan, int64_t **list,
                          struct fr_error *err);

#endif
