/** @file
 *  Which clock each stage of a pipeline should run at: least energy within a time.
 *
 *      min over c_1 .. c_P of E(c)   with   T(c) <= deadline,   c_i of the device's clocks
 *
 *  E adds up over stages, except for the energy of waiting, which depends on T; T is the recurrence's.  With
 *  continuous clocks and energy convex in a pass's time this is a convex program on the event graph.  Cuts along its
 *  critical path solve it (Perseus: Chung et al., SOSP 2024, section 4, for a clock of every pass).  With one
 *  discrete clock a stage it is a knapsack, and hard in general.
 *
 *  A few settings (4 stages of 6 clocks) are all tried.  Otherwise the search is greedy: from the highest clocks it
 *  lowers one clock at a time, where most energy is saved for the time that it costs.  A second start raises clocks
 *  likewise from those of least energy.  Then single clocks and pairs of clocks are moved as long as that helps, and
 *  the better result is taken.
 *
 *  While a pipeline fills and drains, as in 1F1B, every stage is on the critical path.  No stage can then be slowed
 *  as a whole without any loss of time.  Energy is saved by a percent more time (search --max-slowdown), or by clocks
 *  of single passes ("slack", models/outcome/pipeline_ops.h).  tests/sim/test_clocks.c compares the result with
 *  trying all. */
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

/** Clocks of @p plan's stages as it asks for them [Hz]; 0: the highest.  Under "slack" they are the chosen ones: each
 *  stage's mean over its passes while it computes (models/outcome/pipeline_ops.h).
 *  @return as fr_clocks_choose. */
fr_status fr_clocks_of(const struct fr_job *job, const struct fr_plan *plan, double *clock_Hz,
                       struct fr_error *err);

#endif
