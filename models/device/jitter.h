/** @file
 *  How far apart are the steps of one run?
 *
 *  What holds a rank up for a moment (its host, its clock, a message) holds up all that wait for it, so that a step has
 *  the hold-ups of all ranks.  They are rare beside the steps of one rank, independent and alike: of N ranks in a step of T
 *  as many as N T / every, a Poisson number, each of one length, and the step's standard deviation is
 *
 *      sd = jitter sqrt(N T),     jitter = length / sqrt(every)
 *
 *  with T in seconds: the deviation of a step of one rank that takes a second.  What goes up and down for all ranks at
 *  once (data, clocks that follow heat, a network that others use) is a share of the step at any scale:
 *
 *      sd = hypot(jitter sqrt(N T), jitter_share T)
 *
 *  A device states both, or of the first the interruptions that a calibration found (models/device/interruptions.h); what
 *  they take in the mean is in the step's time already.
 *  MLPerf's logs of H100 follow the root of N T within one release, and a constant for all of them within a factor of 1.5;
 *  those of GB200 are a share, 0.4 to 0.6 % of steps of 19 s on 256 and on 512 ranks (studies/presets/jitter.c):
 *  read as a root, they would tell 16 % for steps of 50 ms on a thousand.  That hold-ups are alike is our assumption, as that
 *  logarithms of steps are normal. */
#ifndef FR_MODELS_DEVICE_JITTER_H
#define FR_MODELS_DEVICE_JITTER_H

#include "models/device/device.h"

/** Standard deviation of steps of @p time_s on @p ranks that wait for each other [s]; 0: nothing is known of it. */
double fr_jitter_s(const struct fr_device *device, double ranks, double time_s);

/** Between which nine in ten of such steps lie, half of the others on each side [s].  @return false where nothing is
 *  known, or @p time_s is no time. */
bool fr_jitter_steps(const struct fr_device *device, double ranks, double time_s, double *p05_s,
                     double *p95_s);

#endif
