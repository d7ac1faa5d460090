/** @file
 *  How far apart are the steps of one run?
 *
 *  A delay of one rank (its host, its clock, a message) delays all ranks that wait for it, so a step has the delays
 *  of all ranks.  Delays are rare beside the steps of one rank, independent and of one length.  With N ranks in a
 *  step of T their number is N T / every, a Poisson number.  The step's standard deviation is
 *
 *      sd = jitter sqrt(N T),     jitter = length / sqrt(every)
 *
 *  with T in seconds: jitter is the deviation of a step of one rank that takes a second.  Changes that affect all
 *  ranks at once (data, clocks that follow heat, a shared network) are a share of the step at any scale:
 *
 *      sd = hypot(jitter sqrt(N T), jitter_share T)
 *
 *  A device states both.  In place of the first it may state the interruptions that a calibration found
 *  (models/device/interruptions.h); the time that they take in the mean is in the step's time already.
 *
 *  MLPerf's logs of H100 follow the root of N T within one release.  One constant fits all releases within a factor
 *  of 1.5.  The logs of GB200 follow a share instead: 0.4 to 0.6 % of steps of 19 s, on 256 and on 512 ranks
 *  (studies/presets/jitter.c).  Read as a root, they would predict 16 % for steps of 50 ms on a thousand ranks.  Two
 *  assumptions are ours: delays have one length, and logarithms of steps are normal. */
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
