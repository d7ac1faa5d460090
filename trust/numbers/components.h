/** @file
 *  How large are the effects that rows share (trust/numbers/effects.h), and what does not knowing it do to
 *  coefficients?
 *
 *  Of each the stated value is the root mean square before any row is seen.  The model error is larger or smaller
 *  than stated by one factor for models, plans and kinds alike, log-normal, times one of its own each, log-normal too;
 *  releases and rows have a log-normal factor each, which keeps rows that agree to the last digit from saying that rows
 *  do not vary; the widths of coefficients' priors, stated as what they may be, a half-normal one of device and of network
 *  (struct fr_sizes).
 *  So where few groups decide, what is stated does; where many do, they; and rows that agree with the preset
 *  make all of it smaller.
 *
 *  Kinds' own effects are Student's (effects.h), each as wide as is likeliest at the mode of all that.
 *
 *  The posterior of the factors' logarithms is integrated by FR_COMPONENTS_NODES points of a Sobol sequence,
 *  spread about its mode by its curvature along each axis, weighted by density over proposal (importance
 *  sampling; the same points each time).  At each node coefficients are normal; together they are a mixture
 *  of normals. */
#ifndef FR_TRUST_NUMBERS_COMPONENTS_H
#define FR_TRUST_NUMBERS_COMPONENTS_H

#include "trust/numbers/effects.h"

enum { FR_COMPONENTS_NODES = 96, FR_COMPONENTS_UNKNOWNS = 8, FR_COMPONENTS_WIDE = 16 };

/** Degrees of kinds' own effects, the least whole number that has a variance: kinds' errors of presets, less the means
 *  of their models and plans, are likelier so than normal by 36 in ln L over twelve tables (less the medians by 70),
 *  and by less at any greater number (docs/explanation/intervals.md). */
#define FR_COMPONENTS_DEGREES 3.0

/** How far the model error may be from what is stated: deviations of the factors' logarithms, of models', plans' and
 *  kinds' in common, of each one's own, and of releases' and rows'; and the root mean square of the factors of
 *  coefficients' widths. */
struct fr_sizes {
    double common, apart, alone, device, network;
};

/** As sources of runs say under the presets, each left out in turn (forerun reproduce effects). */
extern const struct fr_sizes fr_sizes_usual;

struct fr_components {
    double mode[FR_EFFECTS];
    double unknown[FR_COMPONENTS_NODES][FR_COMPONENTS_UNKNOWNS]; /**< the factors' logarithms */
    double weight[FR_COMPONENTS_NODES];                          /**< sum 1 */
    double sd[FR_COMPONENTS_NODES][FR_EFFECTS];                  /**< at each node */
    double evidence; /**< ln of the rows' density, whatever the effects' sizes may be */
};

/** @param scale  [FR_EFFECTS] as stated, > 0
 *  @param sizes  all > 0; NULL: as usual
 *  @return FR_OK; FR_ERR_NUMERIC where nothing can be inverted; FR_ERR_NOMEM. */
fr_status fr_components_make(struct fr_effects *effects, const double *scale,
                             const struct fr_sizes *sizes, struct fr_components *components,
                             struct fr_error *err);

/** Variances of a new kind's own effect, of sd 1, that stand for its distribution: equally likely each. */
void fr_components_wide(double variance[FR_COMPONENTS_WIDE]);

/** Half the interval that holds a share @p covered of a mixture of normals about 0 with @p weight and
 *  @p variance [n]. */
double fr_mixture_half(const double *weight, const double *variance, int n, double covered);

#endif
