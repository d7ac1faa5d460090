/** @file
 *  How iterations to a loss change along what a table of them (models/plan/iterations.h) has no row for.
 *
 *  A law holds for the network that the table names, between the values it was fitted to, and nowhere
 *  else; it says its error.
 *
 *      along       law                                                                         hangs on
 *      batch       nu(B) = S (1 + B_c / B)                                                     critical_batch
 *                  S iterations of a batch without noise, B_c where a step's worth is half gone
 *                  (McCandlish, Kaplan, Amodei et al., An Empirical Model of Large-Batch Training,
 *                  arXiv:1812.06162: (S/S_min - 1)(E/E_min - 1) = 1 with E = B S samples)
 *      ghost       nu(k, p) = nu(1, 1) k^a p^b, of a method with k ghost neurons               iterations, powers
 *      backward    nu = nu_0 exp(slope s), s the share of backward messages that go compressed slope
 *      gradient    the same of gradients' bytes                                                slope
 *
 *  The last two are ours: a share s of the updates is worse, and where they do little harm each share does
 *  as much again.  They hold for one codec, rank and mesh, which "plan" names.
 */
#ifndef FR_MODELS_PLAN_ITERATIONS_LAW_H
#define FR_MODELS_PLAN_ITERATIONS_LAW_H

#include "models/plan/plan.h"

/** Spellings of what a law runs along (models/workload/workload.h), then NULL. */
extern const char *const fr_law_names[];

/** Read all but "plan" from @p node.  FR_OK or FR_ERR_INPUT. */
fr_status fr_iterations_law_read(const struct fr_json *node, struct fr_iterations_law *law,
                                 struct fr_error *err);
/** The members of its object but "plan". */
void fr_iterations_law_write(struct fr_json_writer *w, const struct fr_iterations_law *law);

/** Iterations at batch @p to over those at batch @p from; NaN where the law holds for neither or one. */
double fr_law_batch(const struct fr_iterations_law *law, double from, double to);
/** Iterations of @p plan's k and p by a law of ghost neurons; NaN where it does not hold. */
double fr_law_ghost(const struct fr_iterations_law *law, const struct fr_plan *plan);
/** Iterations over those without compression at share @p s > 0; NaN where it does not hold. */
double fr_law_share(const struct fr_iterations_law *law, double s);

#endif
