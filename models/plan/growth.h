/** @file
 *  How many more iterations than an exact plan does a lossy one need, in a network that nobody trained?
 *
 *  Small trainings say how the ratio of iterations grows.  A power law carries that over:
 *
 *      ln (nu / nu_0) = a + sum over j of b_j (ln x_j - m_j)
 *      deviation^2    = s^2 + z' C z,        z = (1, ln x_1 - m_1, ...)
 *
 *  Symbols:  nu    iterations of the lossy plan [1]     nu_0  of an exact one [1]
 *            x_j   ghost neurons k, ranks p, rank of the codec, share that goes compressed, width, depth
 *            m_j   mean of ln x_j over the trainings    s     deviation of one training about the law
 *            C     covariance of (a, b)
 *
 *  C is that of the fit (real/iterations/growth.h), so the deviation grows with the distance from the trainings, most
 *  along what they did not vary.  `quantile` is Student's of 95 % at the fit's degrees of freedom.  Deviations are scaled
 *  by its ratio to the normal's, as intervals elsewhere are (trust/tune.h).  Harms of messages and of gradients multiply,
 *  and their variances add: an assumption of ours.  So is that compression alone never has a ratio below 1.  Song et al.
 *  (2023) and Seal et al. (2025) state no such law. */
#ifndef FR_MODELS_PLAN_GROWTH_H
#define FR_MODELS_PLAN_GROWTH_H

#include "base/json.h"
#include "models/plan/iterations_law.h"

/** Spellings of the quantities, then NULL. */
extern const char *const fr_growth_terms[];

/** Read one law.  FR_OK or FR_ERR_INPUT. */
fr_status fr_growth_read(const struct fr_json *node, struct fr_growth *law,
                         struct fr_error *err);
/** The members of its object but "points". */
void fr_growth_write(struct fr_json_writer *w, const struct fr_growth *law);

/** Factor from a number to either end of its 90 % interval, whose logarithm has @p deviation as a normal's. */
double fr_growth_half(double deviation);

/** ln of the ratio, and its deviation, at x[FR_GROWTH_TERMS] > 0. */
double fr_growth_ratio(const struct fr_growth *law, const double *x, double *deviation);

/** The ratio of @p plan by the laws of its model: of ghost neurons, of messages, of gradients, multiplied.
 *  @param backward, gradient  shares that go compressed
 *  @param[out] deviation      of its logarithm, as a normal's
 *  @return 1 for an exact plan; NaN where a law is missing */
double fr_growth_of(const struct fr_workload *workload, const struct fr_plan *plan,
                    double backward, double gradient, double *deviation);

#endif
