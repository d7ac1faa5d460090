#include "models/outcome/energy.h"

#include <math.h>

const char *const fr_energy_names[] = {
#define FR_ENERGY_NAME(code, name) #name,
    FR_ENERGY_LIST(FR_ENERGY_NAME)
#undef FR_ENERGY_NAME
        NULL};

static double units(const struct fr_level *level, int64_t ranks) {
    return (double)((ranks + level->ranks - 1) / level->ranks);
}

bool fr_energy_known(const struct fr_cluster *cluster, int part) {
    bool node = false, network = false;
    for (int l = 0; l < cluster->levels.count; l++) {
        const struct fr_level_power *p = &cluster->levels.level[l].power;
        node |= p->known && (p->busy_W > 0 || p->efficiency < 1);
        network |= p->switches_W > 0;
    }
    if (!cluster->device.power.known) return false;
    return part == FR_ENERGY_DEVICE    ? true
           : part == FR_ENERGY_NODE    ? node
           : part == FR_ENERGY_NETWORK ? network
                                       : cluster->pue > 1;
}

/* Power around the devices, level by level outwards: hosts, then the losses of the supplies on all inside.  Units
 * count whole for a job, with the devices that it leaves idle. */
static double node_W(const struct fr_cluster *cluster, const struct fr_levels *taken,
                     int64_t ranks, double device_W, double busy_share) {
    double around_W = 0;
    for (int l = 0; l < cluster->levels.count; l++) {
        const struct fr_level *level = &cluster->levels.level[l];
        const struct fr_level_power *p = &level->power;
        double n = units(&taken->level[l], ranks),
               empty = n * (double)level->ranks - (double)ranks;
        if (!p->known) continue;
        if (l == fr_levels_node(&cluster->levels))
            around_W += empty * cluster->device.power.idle_W;
        around_W += n * (p->idle_W + busy_share * (p->busy_W - p->idle_W));
        around_W += (device_W + around_W) * (1 / p->efficiency - 1);
    }
    return around_W;
}

/* Switches of P = 64 ports in a fat tree of t tiers, for n units.  Two tiers join P x P / 2 units, three P x P / 2 x
 * P / 2.
 *
 *      used = (2 t - 1) n          ports that units and links between switches take
 *      all  = P                    t = 1
 *             P ((t - 1) L + ceil(L / 2)),  L = ceil(n / (P / 2)) switches that units end in
 *
 * A switch draws the share i of its power whatever its ports carry: (1 - i) used + i all.  A full tree has used = all. */
static double ports(double units, double idle) {
    const double radix = 64, half = radix / 2;
    double most = radix, leaves = ceil(units / half);
    int tiers = 1;
    for (; units > most && tiers < 4; tiers++) most *= half;
    double used = (2 * tiers - 1) * units,
           all = tiers == 1 ? radix : radix * ((tiers - 1) * leaves + ceil(leaves / 2));
    return (1 - idle) * used + idle * fmax(used, all);
}

static double network_W(const struct fr_cluster *cluster, const struct fr_levels *taken,
                        int64_t ranks) {
    double sum_W = 0;
    for (int l = 1; l < cluster->levels.count; l++) {
        double inside = units(&taken->level[l - 1], ranks);
        const struct fr_level_power *p = &cluster->levels.level[l].power;
        if (inside > 1) sum_W += ports(inside, p->switches_idle) * p->switches_W;
    }
    return sum_W;
}

double fr_energy_switches_W(const struct fr_cluster *cluster, int64_t ranks) {
    const struct fr_levels taken = fr_levels_take(&cluster->levels, ranks, FR_UNITS_SEGMENTS);
    return network_W(cluster, &taken, ranks);
}

void fr_outcome_add_energy(const struct fr_cluster *cluster, double device_J, double busy_s,
                           struct fr_outcome *out) {
    double all_s = (double)out->ranks * out->time_s, share = all_s > 0 ? busy_s / all_s : 0;
    double *part_J = out->energy_part_J, sum_J;
    const struct fr_placement *row = out->plan.placement.row;
    const struct fr_levels taken =
        fr_levels_take(&cluster->levels, out->ranks, row ? row->units : FR_UNITS_SEGMENTS);
    part_J[FR_ENERGY_DEVICE] = device_J;
    part_J[FR_ENERGY_NODE] = out->time_s * node_W(cluster, &taken, out->ranks,
                                                  device_J / out->time_s, fmin(1, share));
    part_J[FR_ENERGY_NETWORK] = out->time_s * network_W(cluster, &taken, out->ranks);
    sum_J = device_J + part_J[FR_ENERGY_NODE] + part_J[FR_ENERGY_NETWORK];
    part_J[FR_ENERGY_FACILITY] = (cluster->pue - 1) * sum_J;
    out->energy_J = sum_J + part_J[FR_ENERGY_FACILITY];
}

bool fr_energy_interval(const struct fr_cluster *cluster, const struct fr_outcome *out,
                        double *low_J, double *high_J) {
    double power = cluster->device.power.uncertainty, below = 0, above = 0;
    if (!isfinite(out->energy_J)) return false;
    if (out->high_s > 0) {
        below = 1 - out->low_s / fr_outcome_expected_s(out);
        above = out->high_s / fr_outcome_expected_s(out) - 1;
    }
    *low_J = out->energy_J * fmax(0, 1 - hypot(below, power));
    *high_J = out->energy_J * (1 + hypot(above, power));
    return true;
}
