/** @file
 *  Which clock each stage of a pipeline should run at: least energy within a time.
 *
 *      min over c_1 .. c_P of E(c)   with   T(c) <= deadline,   c_i of the device's clocks
 *
 *  E adds up over stages but for what waits through T, T is the recurrence's.  With continuous clocks and
 *  energy convex in a pass's time this is a convex program on the event graph, which cuts along its
 *  critical path solve (Perseus: Chung et al., SOSP 2024, section 4, for a clock of every pass); for a
 *  discrete clock a stage it is a knapsack, and hard in general.  Few settings are
 *  all tried (4 stages of 6 clocks); else clocks are lowered one step at a
 *  time, always where most energy is saved for the time that it costs, and from those of least energy raised
 *  likewise; then single clocks and pairs of them are moved as long as that helps, and the better is taken.
 *  Where every stage is on the critical path while a pipeline fills and drains, as in 1F1B, no stage can be
 *  slowed as a whole at no time at all: a percent more time (search --max-slowdown) is what saves energy,
 *  or clocks of passes ("slack", models/outcome/pipeline_ops.h).  Held against trying all: tests/sim/test_clocks.c. */
#ifndef FR_MODELS_OUTCOME_CLOCKS_H
#define FR_MODELS_OUTCOME_CLOCKS_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

/** Choose the clocks of @p plan's stages.  Its own clocks, limits and "slack" do not count.
 *  @param slowdown  how much longer than at the highest clocks an iteration may take, relative
 *  @param[out] clock_Hz  [pp]
 *  @return FR_OK; FR_ERR_UNSUPPORTED where the device states no clock or the plan is no pipeline that the
 *          recurrence prices; FR_ERR_NOMEM. */
fr_status fr_clocks_choose(const struct fr_job *job, const struct fr_plan *plan,
                           double slowdown, int64_t *clock_Hz, struct fr_error *err);

/** Clocks of @p plan's stages as it asks for them [Hz]; 0: the highest.  Of "slack" those chosen, each
 *  stage's the mean over its passes (models/outcome/pipeline_ops.h) while it computes.
 *  @return as fr_clocks_choose. */
fr_status fr_clocks_of(const struct fr_job *job, const struct fr_plan *plan, double *clock_Hz,
                       struct fr_error *err);

#endif
