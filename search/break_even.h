/** @file
 *  How many more iterations may a plan need that loses information, before an exact plan is better?
 *
 *  An exact plan reaches the target loss after nu iterations.  A lossy plan breaks even at x, where x nu iterations of
 *  it cost as much as nu of the exact plan: it wins if it needs less.
 *
 *      x = V / v                                   of one iteration each: time, energy, or the root of their product
 *      x = (w + (V nu - w v_plain) / v) / nu       where nu is known and w iterations of warm-up go uncompressed
 *
 *  Symbols:  nu  iterations of the exact plan [1]   w  iterations of the warm-up [1]
 *            V, v  time [s] or energy [J] of an iteration of the exact, of the lossy plan
 *
 *  Plans of different global batches are compared by samples: x is then the ratio of samples to the loss.  The formula
 *  is ours: Song et al. (2023) compare at equal iterations, Seal et al. (2025) at measured ones. */
#ifndef FR_SEARCH_BREAK_EVEN_H
#define FR_SEARCH_BREAK_EVEN_H

#include "models/job/job.h"
#include "search/search.h"

/** Does the plan compute what one processor would: an exact method, and nothing goes compressed? */
bool fr_outcome_is_exact(const struct fr_outcome *out);

/** Ratio of iterations at which @p lossy is as good as @p exact; NaN where one has no price.
 *  @param by  FR_RANK_TOTAL counts the warm-up against the exact plan's iterations, where these are known */
double fr_break_even(const struct fr_job *job, fr_objective objective, fr_ranking by,
                     const struct fr_outcome *exact, const struct fr_outcome *lossy);

/** The same plan without what it loses: nothing compressed, method tensor in place of one that is not exact.
 *  @return false where @p plan loses nothing */
bool fr_exact_plan(const struct fr_outcome *out, struct fr_plan *exact);

/** State the break-even of @p out against its own plan without loss, where that can run.  An exact plan has none. */
void fr_break_even_state(const struct fr_job *job, struct fr_outcome *out);

#endif
