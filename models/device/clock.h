/** @file
 *  What the clock of a device does to the time and the power of its work.
 *
 *  A switching transistor takes C V^2, so power that follows the work goes with f V^2; what leaks and
 *  what memory and board draw goes on whatever the clock.  Below a knee the voltage stays at the
 *  least one that the chip works at, above it rises with the clock:
 *
 *      v(f) = 1 + slope max(0, f - knee)           relative to the least voltage
 *      P(f) = static + dynamic f v(f)^2            Mudge, Power, IEEE Computer 34(4), 2001: C V^2 f
 *      t(f) = fixed + cycles / f                   what memory and links take does not scale
 *
 *  A power limit is the clock that the device settles at: the highest at which P(f) is within it.
 *  Range: GPUs at 0.5 to 1 of their highest clock; below, static is extrapolated.
 *
 *  Symbols:  f  clock [Hz]   P  power while it works [W]   t  time of a piece of work [s] */
#ifndef FR_MODELS_DEVICE_CLOCK_H
#define FR_MODELS_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

/** The least voltage ends at knee_Hz; slope_per_Hz: how it rises from there, relative. */
struct fr_clock_voltage {
    double knee_Hz, slope_per_Hz;
};

/** Power of one kind of work; all >= 0. */
struct fr_clock_power {
    struct fr_clock_voltage voltage;
    double static_W;
    double dynamic_J; /**< of a cycle at the least voltage */
};

/** Time of one piece of work. */
struct fr_clock_time {
    double fixed_s, cycles;
};

/** v(f)^2 */
double fr_clock_voltage_squared(const struct fr_clock_voltage *voltage, double clock_Hz);
/** P(f) */
double fr_clock_power_W(const struct fr_clock_power *power, double clock_Hz);
/** Highest clock up to @p clock_Hz at which P is within @p limit_W; where no clock is, the lowest
 *  that is asked for at all, a tenth of @p clock_Hz. */
double fr_clock_steady_Hz(const struct fr_clock_power *power, double clock_Hz, double limit_W);
/** t(f) */
static inline double fr_clock_time_s(const struct fr_clock_time *time, double clock_Hz) {
    return time->fixed_s + time->cycles / clock_Hz;
}

/** The clocks of a device as a cluster file states them; a range with steps. */
struct fr_device_clock {
    bool known;
    double min_Hz, max_Hz, step_Hz;
    struct fr_clock_voltage voltage;
    double static_share; /**< of the busy power at the highest clock */
    double fixed_share;  /**< of the time of computing there, that does not scale */
};

/** Read "clock" of a device.  `rise` is how much higher the voltage is at the highest clock than below
 *  the knee, relative. */
fr_status fr_device_clock_read(const struct fr_json *object, struct fr_device_clock *clock,
                               struct fr_error *err);

/** Time of computing at @p clock_Hz over that at the highest clock; 1 for 0 Hz. */
double fr_device_clock_slower(const struct fr_device_clock *clock, double clock_Hz);
/** Power of a busy device likewise. */
double fr_device_clock_power(const struct fr_device_clock *clock, double clock_Hz);
/** How many clocks there are, and the @p i-th from the lowest. */
int fr_device_clocks(const struct fr_device_clock *clock);
double fr_device_clock_at(const struct fr_device_clock *clock, int i);
/** The highest of them at which a device that draws @p busy_W at the highest stays within @p limit_W; the
 *  lowest where none does. */
double fr_device_clock_within(const struct fr_device_clock *clock, double busy_W,
                              double limit_W);

#endif
