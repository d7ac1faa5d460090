/** @file
 *  Energy of a training on a pipeline, from what its devices do: they work, at the power that stages were
 *  measured at, or wait, for each other or for messages.
 *
 *      u = m / (m + P - 1) mean(F) / max(F)     of a pipeline that its heaviest stage binds
 *      u = m sum(F) / (R N T)                   of one that would have to work at less than half of R
 *      E0 = N T0 (u B + (1 - u) W)              at full clock
 *      E = N s T + D v(f)^2 / v(f0)^2 + V (N T - b) / (N T0 - b0) f v(f)^2 / (f1 v(f1)^2)
 *
 *  F work of the stages (stage_work.h), m micro-batches, P stages, N devices, T time.  R is the highest rate that
 *  another training reached on the device.  b is the time that all devices work, b0 = u N T0 at full clock.  B power
 *  at work, W power while waiting; s the static power of a device, D = (B - s) b0 its further energy for work, V that
 *  for waiting.  v is the voltage, f the mean clock of a plan, f1 the highest, f0 that at which a device settles
 *  while it works.  Work is so many cycles, whatever their time; waiting goes on turning at the clock that was set. */
#ifndef FR_STUDIES_ENERGY_PIPELINED_H
#define FR_STUDIES_ENERGY_PIPELINED_H

#include "studies/energy/parts.h"

enum { FR_PIPELINED_MAX = 64, FR_CLOCK_PLANS_MAX = 128 };

struct fr_clock_plan {
    char id[40];
    double mean_Hz, time_s, energy_J;
};

struct fr_pipelined {
    char device[24], model[32];
    double devices, stages, micro_batches;
    double balance, flop; /**< mean(F) / max(F); of all stages in an iteration */
    struct fr_clock_plan plans[FR_CLOCK_PLANS_MAX]; /**< ascending by clock */
    int n, clocked;                 /**< plans; of them, the first ones, with clocks */
    double full_Hz, full_s, full_J; /**< of its plans without clocks, in the mean */
};

struct fr_pipelined_all {
    struct fr_pipelined *items;
    int count;
};

/** Values of a device; static_W and free_share are fitted. */
struct fr_pipelined_device {
    struct fr_stage_device stage;
    double work_W;     /**< B */
    double static_W;   /**< s */
    double free_share; /**< f0 / f1 */
};

/** The share u of @p x as @p but sees it: R is of the device's trainings that are not @p but. */
double fr_pipelined_share(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                          const struct fr_pipelined *but);
/** Mean power at full clock were all of its devices to wait @p work_W apart: W. */
double fr_pipelined_waiting_W(const struct fr_pipelined *x, double share, double work_W);
/** E of plan @p p; @p share: u at full clock. */
double fr_pipelined_energy_J(const struct fr_pipelined *x, const struct fr_clock_plan *p,
                             const struct fr_pipelined_device *d, double share);

/** Read the trainings; items are the caller's to free, also on error. */
fr_status fr_pipelined_read(struct fr_pipelined_all *t, struct fr_error *err);
/** Mean power of a device at full clock from the device's other trainings: u B + (1 - u) W. */
fr_status fr_pipelined_full_W(const struct fr_pipelined_all *t, const struct fr_pipelined *x,
                              double *mean_W, struct fr_error *err);

/** On the same device, and another. */
bool fr_pipelined_is_other(const struct fr_pipelined *y, const struct fr_pipelined *x);

#endif
