/** @file
 *  The closed form: a plan's work priced with formulas.
 *
 *      iteration = compute + launch + fixed + communication      nothing overlaps
 *      compute   = sum of matrix products + (element-wise + optimiser bytes) / bandwidth
 *      launch    = kernels * launch_s
 *      energy    = ranks (A * alpha + B * beta)                  Seal et al. 2025, Eq. 1
 *                  A busy power, alpha time computing, launching and in the fixed part;
 *                  B power while communicating (idle, as the paper has it, unless stated)
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

/** Time of moving from the grid of one layer to that of the next, forward and backward [s].
 *  With d values a sample between them, of which a rank holds its data share, the direction
 *  from more data ranks to fewer gathers d * batch / min(P_c) values from P_c/P_c' neighbours;
 *  the other direction drops what it does not need.  Our derivation; the paper leaves it open. */
double fr_redistribution_s(const struct fr_job *job, int64_t ranks, int64_t tp_before,
                           int64_t tp_after, double values, double global_batch);

/** Time of one layer entry (all its repeats) in an iteration on a grid tp x dp, without fixed
 *  and redistribution [s]; INFINITY when it cannot be. For the choice of per-layer grids. */
double fr_layer_time_s(const struct fr_job *job, const struct fr_plan *plan, int layer);

#endif
