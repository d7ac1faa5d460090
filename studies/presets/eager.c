/* host_launch and host_overlap, as Megatron-Bridge's runs of Qwen3 on B200 have them, which wait for the host.
 *
 *      host_launch    Qwen3 30B, one sample a micro-batch, no graphs, no exchange beside another micro-batch's passes
 *      host_overlap   Qwen3 235B with such exchanges, whose schedule cuts layers up and takes the host more
 *                     (NVIDIA-NeMo/Megatron-Bridge, pull request 1760: 20.1 s, and 16.9 without, "due to CPU overhead")
 *
 * What a framework's host takes for a kernel nobody publishes.  Few runs are one plan, and a fit would rather leave a
 * preset as it is; the value at which their mean error is none is looked for, all else held.  It is a calibration on
 * those rows.  An H100's same runs say less of it: there the device waits longer for its own work. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/hybrid.h"
#include "studies/presets/runs.h"

static bool eager(const struct fr_run *run) {
    return run->plan.micro_batch == 1 && run->plan.graphs == FR_GRAPHS_NONE &&
           !fr_transformer_is_hybrid(&run->workload.transformer);
}

static bool waits(const struct fr_run *run) {
    return eager(run) && run->plan.pp == 1 && !run->plan.overlap_experts;
}

static bool is_cut(const struct fr_run *run) { return eager(run) && run->plan.overlap_experts; }

/* Mean of ln(predicted / measured). */
static double bias(const struct fr_cluster *cluster, const struct fr_table_set *set,
                   double *alone_s) {
    double sum = 0;
    fr_table_alone(cluster, set->use, set->n, alone_s);
    for (int i = 0; i < set->n; i++) sum += log(alone_s[i] / set->use[i]->measured_s);
    return sum / set->n;
}

/* Between @p least and @p most. */
static fr_status look(struct fr_reproduction *r, const char *preset, const char *what,
                      const char *unit, const struct fr_table_set *runs,
                      struct fr_cluster *cluster, double *value, double least, double most,
                      struct fr_error *err) {
    double said = *value, low = log(least), high = log(most);
    double *alone_s = fr_calloc((size_t)runs->n, sizeof *alone_s);
    char note[80];
    if (!alone_s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *value = exp(middle);
        *(bias(cluster, runs, alone_s) < 0 ? &low : &high) = middle;
    }
    free(alone_s);
    snprintf(note, sizeof note, "%d run%s of a plan: a calibration on %s", runs->n,
             runs->n > 1 ? "s" : "", runs->n > 1 ? "them" : "it");
    fr_presets_add(r, preset, what, exp(low), said, unit, true, note);
    *value = exp(low);
    return FR_OK;
}

static fr_status launches(struct fr_reproduction *r, const char *preset,
                          const struct fr_table_set *runs, struct fr_cluster *cluster,
                          struct fr_error *err) {
    static const char *const names[] = {"host_launch", NULL};
    struct fr_device device;
    double sigma;
    FR_TRY(look(r, preset, "host_launch", "s", runs, cluster, &cluster->device.host_launch_s,
                5e-6, 500e-6, err));
    FR_TRY(fr_presets_tune(cluster, runs, names, &device, &sigma, NULL, err));
    fr_presets_add_width(r, preset, "host_launch", sigma,
                         cluster->widths.sigma[FR_VALUE_HOST_LAUNCH][FR_FP8], FR_PRESETS_LEFT);
    return FR_OK;
}

static fr_status overlaps(struct fr_reproduction *r, const char *preset,
                          const struct fr_table_set *runs, struct fr_cluster *cluster,
                          struct fr_error *err) {
    return look(r, preset, "host_overlap", "1", runs, cluster, &cluster->device.host_overlap,
                0.01, 10, err);
}

fr_status fr_presets_eager(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_table_selection b200 = {.dtype = "fp8",
                                                   .experts = "yes",
                                                   .device = "DGX-B200"},
                                           h100 = {.dtype = "fp8",
                                                   .experts = "yes",
                                                   .device = "H100"};
    static const char file[] = "training/megatron_bridge.csv";
    FR_TRY(fr_presets_from_runs(r, "dgx-b200",
                                &(struct fr_presets_runs){file, &b200, waits, launches}, err));
    FR_TRY(fr_presets_from_runs(r, "dgx-b200",
                                &(struct fr_presets_runs){file, &b200, is_cut, overlaps}, err));
    return fr_presets_from_runs(r, "dgx-h100",
                                &(struct fr_presets_runs){file, &h100, is_cut, overlaps}, err);
}
