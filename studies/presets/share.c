/* Efficiency of an H100's products at 16 bits: the share of the peak that all dense models of NVIDIA's recipes say
 * together, all else held.  It is a calibration on those rows, since no one publishes its products; MLPerf's runs of
 * the same device are what it is tried on. */
#include <stdio.h>

#include "studies/presets/runs.h"

/* Where presets without rows start. */
static const double start = 0.65;

static fr_status fit(struct fr_reproduction *r, const char *preset,
                     const struct fr_table_set *runs, struct fr_cluster *cluster,
                     struct fr_error *err) {
    static const char *const names[] = {"efficiency", NULL};
    double *share = &cluster->device.gemm[FR_BF16].tiles.efficiency, said = *share;
    const struct fr_cluster as_it_is = *cluster;
    struct fr_device device;
    struct fr_together together;
    char note[80];
    *share = start;
    cluster->widths.n_together = 0; /* which these runs say */
    FR_TRY(fr_presets_tune(cluster, runs, names, &device, NULL, &together, err));
    snprintf(note, sizeof note, "%d runs: a calibration on them", runs->n);
    fr_presets_add(r, preset, "gemm.bf16.efficiency", device.gemm[FR_BF16].tiles.efficiency,
                   said, "1", true, note);
    fr_presets_add_together(r, preset, &together, &as_it_is, FR_BF16,
                            "left of their sum by the runs");
    return FR_OK;
}

fr_status fr_presets_share(struct fr_reproduction *r, const char *preset,
                           struct fr_error *err) {
    static const struct fr_table_selection dense = {
        .dtype = "bf16", .sharded = "no", .experts = "no", .device = "H100"};
    static const struct fr_presets_runs from = {
        .file = "training/dgxc_benchmarking.csv", .selection = &dense, .fit = fit};
    return fr_presets_from_runs(r, preset, &from, err);
}
