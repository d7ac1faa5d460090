/** @file
 *  How large are the effects that rows share (calibrate/numbers/effects.h), and what does not knowing it do to
 *  coefficients?
 *
 *  Of each the stated value is the root mean square before any row is seen.  What is missed is larger or smaller
 *  than stated by one factor for models, plans and kinds alike, half-t of four degrees (Gelman, Bayesian
 *  Analysis 1, 2006), times one of its own each, log-normal of width ln 2; releases and rows have a half-t factor
 *  each; the widths of coefficients' priors, stated as what they may be, a half-normal one of device and of network.
 *  So where few groups decide, what is stated does; where many do, they; and rows that agree with the preset
 *  make all of it smaller.
 *
 *  The posterior of the factors' logarithms is integrated by FR_COMPONENTS_NODES points of a Sobol sequence,
 *  spread about its mode by its curvature along each axis, weighted by density over proposal (importance
 *  sampling; the same points each time).  At each node coefficients are normal; together they are a mixture
 *  of normals. */
#ifndef FR_CALIBRATE_NUMBERS_COMPONENTS_H
#define FR_CALIBRATE_NUMBERS_COMPONENTS_H

#include "calibrate/numbers/effects.h"

enum { FR_COMPONENTS_NODES = 96 };

struct fr_components {
    double mode[FR_EFFECTS];
    double weight[FR_COMPONENTS_NODES];         /**< sum 1 */
    double sd[FR_COMPONENTS_NODES][FR_EFFECTS]; /**< at each node */
};

/** @param scale  [FR_EFFECTS] as stated, > 0
 *  @return FR_OK; FR_ERR_NUMERIC where nothing can be inverted; FR_ERR_NOMEM. */
fr_status fr_components_make(struct fr_effects *effects, const double *scale,
                             struct fr_components *components, struct fr_error *err);

/** Half the interval that holds a share @p covered of a mixture of normals about 0 with @p weight and
 *  @p variance [n]. */
double fr_mixture_half(const double *weight, const double *variance, int n, double covered);

#endif
