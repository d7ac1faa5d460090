/** @file
 *  Time and mean power of a training under limits of its device's power.
 *
 *  A training draws less than it could for a part of its time, so its mean power bends towards the
 *  limit rather than meeting it:
 *
 *      P(L) = (L^-n + D^-n)^(-1/n)          D drawn without a limit [W]; n: how sharp the bend [1]
 *      f(L) = the clock at which P(f) of models/device/clock.h is P(L)
 *      t(L) = fixed + cycles / f(L)
 *
 *  The bend is a form of ours; time follows from it by the law of the clock.  Clocks count in the
 *  device's knee here, since a limit tells no frequency.  A device's shape (what it draws whatever its
 *  clock, how its voltage rises, how far above the knee it goes) is shared by all its trainings. */
#ifndef FR_CALIBRATE_ENERGY_LIMIT_FIT_H
#define FR_CALIBRATE_ENERGY_LIMIT_FIT_H

#include "base/status.h"
#include "models/device/clock.h"

struct fr_limit_point {
    double limit_W, time_s, power_W;
};

struct fr_limit_series {
    const struct fr_limit_point *points;
    int n;
};

/** The shape of a device, clocks relative to its knee. */
struct fr_limit_shape {
    double static_W;
    double slope; /**< of the voltage above the knee */
    double top;   /**< the highest clock */
};

/** Shapes to choose among: static is a share of @p least_W, the least mean power seen of the device. */
enum { FR_LIMIT_SHAPES = 75 };
struct fr_limit_shape fr_limit_shape_at(int i, double least_W);

struct fr_limit_fitted {
    double drawn_W, sharpness;
    double top;
    struct fr_clock_power power;
    struct fr_clock_time time;
};

/** Fit one training, by all of its points but @p without (-1: all).
 *  @return FR_ERR_INPUT for fewer than two points left or a value that is not positive. */
fr_status fr_limit_fit(const struct fr_limit_series *series, int without,
                       const struct fr_limit_shape *shape, struct fr_limit_fitted *fitted,
                       struct fr_error *err);

double fr_limit_power_W(const struct fr_limit_fitted *fitted, double limit_W);
double fr_limit_time_s(const struct fr_limit_fitted *fitted, double limit_W);

#endif
