/** @file
 *  The law of a device's clock (models/device/clock.h) from measured work at some clocks.
 *
 *  Series of one device share its voltage; each has its own static and dynamic part, and its own
 *  time.  Weighted linear least squares (GSL, gsl_fit_wlinear) gives those parts for a given
 *  voltage.  So only knee and slope are searched, over a grid: the sum of squares has kinks where a
 *  point passes the knee, where methods by derivatives fail.  A device that reaches its power limit
 *  clocks down by itself: clocks above the one at which a series' highest measured power is reached
 *  are priced at that one. */
#ifndef FR_CALIBRATE_ENERGY_CLOCK_FIT_H
#define FR_CALIBRATE_ENERGY_CLOCK_FIT_H

#include "base/status.h"
#include "models/device/clock.h"

struct fr_clock_point {
    double clock_Hz, time_s, energy_J;
};

/** One piece of work at several clocks, ascending. */
struct fr_clock_series {
    const struct fr_clock_point *points;
    int n;
};

struct fr_clock_fitted {
    struct fr_clock_power power;
    struct fr_clock_time time;
    double limit_W; /**< the highest power that was seen */
    double full_Hz; /**< the highest clock that it reaches within that */
};

/** Errors of what a fit says of its own points between the ends when each is left out, root mean
 *  square, relative. */
struct fr_clock_scatter {
    double time, energy;
};

/** Fit @p n series of one device, each of at least 3 points.
 *  @param[out] fitted   [n]
 *  @param[out] scatter  over all points of all series; may be NULL
 *  @return FR_OK; FR_ERR_INPUT for a series that is too short or has a value that is not positive. */
fr_status fr_clock_fit(const struct fr_clock_series *series, int n,
                       struct fr_clock_fitted *fitted, struct fr_clock_scatter *scatter,
                       struct fr_error *err);

/** Time of a fitted piece of work at a clock, within the power limit. */
double fr_clock_fitted_time_s(const struct fr_clock_fitted *fitted, double clock_Hz);
double fr_clock_fitted_energy_J(const struct fr_clock_fitted *fitted, double clock_Hz);

#endif
