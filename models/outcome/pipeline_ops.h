/** @file
 *  Which clock each pass of a pipeline should run at: least energy within a time.
 *
 *      min  sum_k e_k(d_k)    over starts x_k and durations d_k of the passes k
 *      with x_j >= x_k + d_k + lag_kj   where pass j reads pass k's result, or follows it on its stage,
 *           x_k + d_k + tail <= deadline of each stage's last pass,   d_k of the device's clocks
 *
 *  e_k is what a busy rank draws in the pass beyond what it draws waiting, so that the rest of the energy
 *  hangs on the deadline alone.  Passes off the critical path are those that the constraints leave slack;
 *  which of them share that slack, and how, is the problem.  For durations that may be anything it is a
 *  convex program on the event graph: with discrete clocks hard, its relaxation (pieces between neighbouring
 *  clocks of e's lower hull) is the dual of a flow of convex cost, solved exactly by cuts: the sum, over
 *  differences of times on a grid, is L-natural-convex, and while some set of times can be moved by one step
 *  to lower it, the cheapest such set is a minimum cut (Murota, Discrete Convex Analysis, 2003, ch. 10;
 *  Kolmogorov and Shioura, Discrete Optimization 6, 2009); steps shrink to 2^-16 of the iteration.
 *  Perseus (Chung et al., SOSP 2024, sections 4.2 and 4.3) cuts the critical paths of the same graph step by
 *  step from the slowest passes up.  Each pass then takes the lowest clock that is done in its time, and what
 *  rounding leaves is spent clock by clock where it saves most: tests/sim/test_pass_clocks.c holds
 *  the result against trying all.
 *
 *  Passes that send gradients in buckets, what is not a pass, and gaps between kernels stay as they are. */
#ifndef FR_MODELS_OUTCOME_PIPELINE_OPS_H
#define FR_MODELS_OUTCOME_PIPELINE_OPS_H

#include "models/job/job.h"

/** Passes of an iteration of one replica up to which this is tried; above it a stage has one clock. */
enum { FR_PASSES_MAX = 4096 };

/** Choose the clocks of @p plan's passes.  Its own clocks and "slack" do not count.
 *  @param slowdown  how much longer than at the highest clocks an iteration may take, relative
 *  @param[out] clock  [pp][slots], of the device's from the lowest; the caller's to free
 *  @return FR_OK; FR_ERR_UNSUPPORTED where the device states no clock, the plan is no pipeline that the
 *          recurrence prices, has limits of its power or more passes than FR_PASSES_MAX, or where what
 *          was found would take longer after all; FR_ERR_NOMEM. */
fr_status fr_pipeline_ops_choose(const struct fr_job *job, const struct fr_plan *plan,
                                 double slowdown, int16_t **clock, struct fr_error *err);

#endif
