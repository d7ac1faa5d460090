/* host_launch and launch of an A100's host and kernels: what vTrain's layers of one node without tensor parallelism
 * say together, all else held.  It is a calibration on those rows, since no one publishes what a framework's host
 * takes; tables of the other rows of that file say so. */
#include <stdio.h>

#include "studies/presets/runs.h"

/* Where presets of A100 without rows start [s]. */
static const double host_launch_s = 40e-6, launch_s = 8e-6;

static bool undivided(const struct fr_run *run) { return run->plan.tp == 1; }

static fr_status fit(struct fr_reproduction *r, const char *preset,
                     const struct fr_table_set *runs, struct fr_cluster *cluster,
                     struct fr_error *err) {
    static const char *const names[] = {"host_launch", "launch", NULL};
    double host_s = cluster->device.host_launch_s, gap_s = cluster->device.launch_s;
    struct fr_device device;
    char note[80];
    double sigma[2];
    cluster->device.host_launch_s = host_launch_s;
    cluster->device.launch_s = launch_s;
    FR_TRY(fr_presets_tune(cluster, runs, names, &device, sigma, NULL, err));
    snprintf(note, sizeof note, "%d runs of one node at tp 1: a calibration", runs->n);
    fr_presets_add(r, preset, "host_launch", device.host_launch_s, host_s, "s", true, note);
    fr_presets_add(r, preset, "launch", device.launch_s, gap_s, "s", true, NULL);
    fr_presets_add_width(r, preset, "host_launch", sigma[0],
                         cluster->widths.sigma[FR_VALUE_HOST_LAUNCH][FR_BF16], FR_PRESETS_LEFT);
    fr_presets_add_width(r, preset, "launch", sigma[1],
                         cluster->widths.sigma[FR_VALUE_LAUNCH][FR_BF16], NULL);
    return FR_OK;
}

fr_status fr_presets_host(struct fr_reproduction *r, const char *preset, struct fr_error *err) {
    static const struct fr_presets_runs from = {
        .file = "training/vtrain_single_node.csv", .says = undivided, .fit = fit};
    return fr_presets_from_runs(r, preset, &from, err);
}
