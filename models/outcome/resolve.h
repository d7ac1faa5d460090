/** @file
 *  A plan and its job as they are priced: what the plan leaves open is filled in, the machine is
 *  under typical load, and the ranks are placed.
 *
 *  A machine that is interrupted (models/device/interruptions.h) lets a plan's ranks wait for each
 *  other.  First the plan is priced without interruptions.  Its compute time t, divided by how often
 *  the p ranks of a layer meet, c times a step, is their chunk; the R replicas and stages meet once a
 *  step.  In a step a replica waits for n interruptions, and the step for those of the replica that
 *  has most,
 *
 *      n = c E[max_p Poisson(t / (c every))],      N = E[max_R Poisson(n)],
 *
 *  so that all computing is lengthened by the share N length / t (interruptions.h for E[max]).  Exact
 *  for one replica, and for replicas of one rank; for replicas of several where interruptions are
 *  rare, since then n is a Poisson number itself; where they are many in a chunk n varies less than
 *  that, and N is up to a tenth too large (tests/calibrate/test_disturbed.c draws them).  Ranks meet
 *  four times in a layer where tp divides it (twice each way), else once a micro-batch in a pipeline,
 *  else once a step.
 *
 *  A placement that searches ("optimised") prices the plan with every seating it tries; what it finds
 *  stands as a list in its place.  So do the clocks that "slack" asks for (clocks.h). */
#ifndef FR_MODELS_OUTCOME_RESOLVE_H
#define FR_MODELS_OUTCOME_RESOLVE_H

#include "models/job/job.h"

struct fr_resolved {
    const struct fr_job *job; /**< the given one, or `own` */
    struct fr_plan plan;
    struct fr_placement_choice placement; /**< as the plan was given it */
    struct fr_job own;   /**< of an interrupted machine; shares what it points to */
    int64_t *rank_map;   /**< rank of each slot, or NULL; owned */
    int64_t *clock_Hz;   /**< of each stage, chosen for "slack", or NULL; owned */
    int16_t *pass_clock; /**< of each pass, likewise */
};

/** @return FR_OK or FR_ERR_NOMEM.  Free with fr_resolved_free, also on error. */
fr_status fr_resolve(const struct fr_job *job, const struct fr_plan *plan,
                     struct fr_resolved *resolved, struct fr_error *err);
void fr_resolved_free(struct fr_resolved *resolved);

/** @p out's plan as it was given: a placement that searches, clocks that are chosen. */
void fr_resolved_restore(const struct fr_resolved *resolved, struct fr_plan *plan);

/** The placement alone: a placement of @p plan that searches becomes the list that it finds, in @p list,
 *  which is the caller's to free; else nothing changes.
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_resolve_rank_map(const struct fr_job *job, struct fr_plan *plan, int64_t **list,
                              struct fr_error *err);

#endif
