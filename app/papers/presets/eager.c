/* host_launch, as Megatron-Bridge's runs of Qwen3 30B on H100 have it: one sample a micro-batch and no graphs, so that
 * layers wait for the host, nearly forward and backward alike, and no exchange waits beside another micro-batch's passes,
 * whose schedule takes the host more (NVIDIA-NeMo/Megatron-Bridge, pull request 1760: "due to CPU overhead").
 *
 * What a framework's host takes for a kernel nobody publishes.  Three runs of three releases are one plan, and a fit would rather
 * leave a preset as it is; the value at which their mean error is none is looked for, all else held.  It is a calibration on
 * those rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/papers/presets/runs.h"
#include "base/alloc.h"
#include "models/workload/hybrid.h"

static const double least_s = 5e-6, most_s = 500e-6;

static bool waits(const struct fr_run *run) {
    const struct fr_plan *plan = &run->plan;
    return plan->micro_batch == 1 && plan->pp == 1 && !plan->overlap_experts &&
           plan->graphs == FR_GRAPHS_NONE &&
           !fr_transformer_is_hybrid(&run->workload.transformer);
}

/* Mean of ln(predicted / measured). */
static double bias(struct fr_cluster *cluster, double host_launch_s,
                   const struct fr_table_set *set, double *alone_s) {
    double sum = 0;
    cluster->device.host_launch_s = host_launch_s;
    fr_table_alone(cluster, set->use, set->n, alone_s);
    for (int i = 0; i < set->n; i++) sum += log(alone_s[i] / set->use[i]->measured_s);
    return sum / set->n;
}

static fr_status look(struct fr_reproduction *r, const char *preset,
                      const struct fr_table_set *runs, struct fr_cluster *cluster,
                      struct fr_error *err) {
    double said = cluster->device.host_launch_s, low = log(least_s), high = log(most_s);
    double *alone_s = fr_calloc((size_t)runs->n, sizeof *alone_s);
    char note[80];
    if (!alone_s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(bias(cluster, exp(middle), runs, alone_s) < 0 ? &low : &high) = middle;
    }
    free(alone_s);
    snprintf(note, sizeof note, "%d runs of a plan: a calibration on them", runs->n);
    fr_presets_add(r, preset, "host_launch", exp(low), said, "s", true, note);
    return FR_OK;
}

fr_status fr_presets_eager(struct fr_reproduction *r, const char *preset,
                           struct fr_error *err) {
    static const struct fr_table_selection experts = {
        .dtype = "fp8", .experts = "yes", .device = "H100"};
    static const struct fr_presets_runs from = {.file = "training/megatron_bridge.csv",
                                                .selection = &experts,
                                                .says = waits,
                                                .fit = look};
    return fr_presets_from_runs(r, preset, &from, err);
}
