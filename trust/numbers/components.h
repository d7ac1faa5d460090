/** @file
 *  How large are the effects that rows share (trust/numbers/effects.h), and how does that uncertainty change
 *  coefficients?
 *
 *  The stated value of each effect is its root mean square before any row is seen.  The model error differs from the
 *  stated one by a log-normal factor common to models, plans and kinds, times a log-normal factor of each.  Releases
 *  and rows have a log-normal factor each.  It keeps rows that agree to the last digit from implying that rows do not
 *  vary.  The widths of coefficients' priors are stated as upper values; they have a half-normal factor for the
 *  device and one for the network (struct fr_sizes).
 *
 *  So the stated values decide where there are few groups, and the groups decide where there are many.  Rows that
 *  agree with the preset make all effects smaller.
 *
 *  Kinds' own effects are Student's (effects.h), each with the likeliest width at the mode of all factors.
 *
 *  FR_COMPONENTS_NODES points of a Sobol sequence integrate the posterior of the factors' logarithms.  They are
 *  spread about its mode by its curvature along each axis, and weighted by density over proposal (importance
 *  sampling; the same points each time).  At each node coefficients are normal; together they are a mixture of
 *  normals. */
#ifndef FR_TRUST_NUMBERS_COMPONENTS_H
#define FR_TRUST_NUMBERS_COMPONENTS_H

#include "trust/numbers/effects.h"

enum { FR_COMPONENTS_NODES = 96, FR_COMPONENTS_UNKNOWNS = 8, FR_COMPONENTS_WIDE = 16 };

/** Degrees of freedom of kinds' own effects: the least whole number that has a variance.  The data are kinds' errors
 *  of presets, less the means of their models and plans, over twelve tables.  They are likelier so than normal by 36
 *  in ln L (by 70 less the medians), and by less at any greater number (docs/explanation/intervals.md). */
#define FR_COMPONENTS_DEGREES 3.0

/** How far the model error may be from the stated one.  These are deviations of the factors' logarithms: the factor
 *  common to models, plans and kinds, each one's own, and those of releases and rows.  The last is the root mean
 *  square of the factors of coefficients' widths. */
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
