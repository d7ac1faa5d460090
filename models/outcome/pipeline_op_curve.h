/** @file
 *  How much longer a pass takes at lower clocks, and what it draws: e(d), from the highest clock down to that
 *  of least energy, as pieces between the corners of its lower hull.  Between two corners a pass is part of
 *  its time at one clock, part at the other. */
#ifndef FR_MODELS_OUTCOME_PIPELINE_OP_CURVE_H
#define FR_MODELS_OUTCOME_PIPELINE_OP_CURVE_H

#include "models/price/clock.h"

struct fr_pass_curve {
    int n; /**< corners: >= 1; one alone where lower clocks save nothing */
    double *longer_s, *energy_J; /**< [n]: than at the highest clock, rising; falling */
};

/** Fill @p curve, whose arrays hold all clocks of @p device. */
void fr_pass_curve_make(const struct fr_device *device, const struct fr_clocked_pass *pass,
                        struct fr_pass_curve *curve);

/** Add a point behind those that are there: longer, of less energy.  Corners that then lie on or above a line of
 *  two others go. */
void fr_pass_curve_add(struct fr_pass_curve *curve, double longer_s, double energy_J);

/** Energy of a pass that may take so much longer; INFINITY where it may not even take as long, beyond
 *  @p exact_s, which is taken for 0. */
double fr_pass_curve_J(const struct fr_pass_curve *curve, double longer_s, double exact_s);

#endif
