/** @file
 *  The closed form: a plan's work priced with formulas.
 *
 *      iteration = compute + launch + fixed + communication      one stage: nothing overlaps
 *      compute   = sum of matrix products + (element-wise + optimiser bytes) / bandwidth
 *      launch    = kernels * launch_s
 *      more stages, transformers: models/outcome/recurrence.h
 *      energy    = ranks (A * alpha + B * beta)                  Seal et al. 2025, Eq. 1
 *                  A busy power, alpha time computing, launching and in the fixed part;
 *                  B power while communicating or waiting for others (FR_POWER_WAITING unless
 *                  stated; the paper takes idle); nodes and networks: models/outcome/energy.h
 *      total     = iterations * iteration                        Seal et al. 2025, Eq. 2
 */
#ifndef FR_MODELS_OUTCOME_COST_H
#define FR_MODELS_OUTCOME_COST_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

/** Price @p plan of @p job.  Total: what cannot be has reasons in the outcome.
 *  A plan that is only too large for memory is priced all the same. */
void fr_cost(const struct fr_job *job, const struct fr_plan *plan, struct fr_outcome *out);

/** Fill the iterations to the loss and what follows from them: the plan's number, else the
 *  model's table.  @p out has its plan, time and energy of one iteration. */
void fr_outcome_add_totals(const struct fr_job *job, struct fr_outcome *out);

/** Does @p plan run some iterations without compression first? @param[out] plain  one of those */
bool fr_plan_warms_up(const struct fr_plan *plan, struct fr_plan *plain);
/** With what such an iteration took:
 *      total = W plain + (N - W) compressed, W at most N            Song et al. 2023, section 9.1 */
void fr_outcome_add_warm_up(const struct fr_job *job, const struct fr_outcome *plain,
                            struct fr_outcome *out);

#endif
