/** @file
 *  From what ranks do in an iteration to joules at the wall plug.
 *
 *      device    what ranks draw that compute, communicate or wait
 *      node      units of levels beside their devices (hosts), devices of a unit that no rank sits on,
 *                and what supplies lose of all that: x (1 / efficiency - 1)
 *      network   switches and links, of every unit of the level inside, where more than one is used: what the file
 *                states is of one tier, two tiers of switches with 64 ports (beyond 64 units) count three times,
 *                three tiers (beyond 2048) five times; `switches_idle` of it is that of whole switches
 *      facility  (pue - 1) x the rest
 *
 *  Each is counted as far as the cluster file states it; units are counted as if ranks filled them one
 *  after the other, a unit used in part as whole. */
#ifndef FR_MODELS_OUTCOME_ENERGY_H
#define FR_MODELS_OUTCOME_ENERGY_H

#include "models/job/cluster.h"
#include "models/outcome/outcome.h"

/** Energy of a rank over an iteration [J], busy at @p clock_Hz (0: the highest).  The rest of the time it
 *  communicates or waits, at the same power at any clock. */
static inline double fr_rank_energy_J(const struct fr_device *device, double clock_Hz,
                                      double busy_s, double rest_s) {
    return fr_device_busy_W(device, clock_Hz) * busy_s + device->power.communicating_W * rest_s;
}

/** Does the file state something of that? */
bool fr_energy_known(const struct fr_cluster *cluster, int part);

/** Power of the switches that join @p ranks on as few units as hold them [W]; 0 where the file states none. */
double fr_energy_switches_W(const struct fr_cluster *cluster, int64_t ranks);

/** Fill energy_part_J and energy_J from the time, ranks and placement of @p out (none: linear).
 *  @param device_J  of all ranks; NaN: the device states no power, then nothing is known
 *  @param busy_s    of all ranks together, computing */
void fr_outcome_add_energy(const struct fr_cluster *cluster, double device_J, double busy_s,
                           struct fr_outcome *out);

/** Its 90 % interval: that of the time, where one is stated, and that of the power, independent of each
 *  other.  @return false where neither is known */
bool fr_energy_interval(const struct fr_cluster *cluster, const struct fr_outcome *out,
                        double *low_J, double *high_J);

#endif
