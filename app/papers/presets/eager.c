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

#include "app/papers/presets/rows.h"
#include "app/papers/training/table.h"
#include "base/alloc.h"
#include "base/data.h"
#include "models/workload/hybrid.h"

static const char file[] = "training/megatron_bridge.csv";
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

static void look(struct fr_reproduction *r, const char *preset, struct fr_cluster *cluster,
                 const struct fr_table_set *set, double *alone_s) {
    double said = cluster->device.host_launch_s, low = log(least_s), high = log(most_s);
    char note[80];
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(bias(cluster, exp(middle), set, alone_s) < 0 ? &low : &high) = middle;
    }
    snprintf(note, sizeof note, "%d runs of a plan: a calibration on them", set->n);
    fr_presets_add(r, preset, "host_launch", exp(low), said, "s", true, note);
}

fr_status fr_presets_eager(struct fr_reproduction *r, const char *preset,
                           struct fr_error *err) {
    const struct fr_table_selection want = {.dtype = "fp8", .experts = "yes", .device = "H100"};
    struct fr_table_set set = {0};
    struct fr_cluster cluster = {0};
    char path[512];
    int kept = 0;
    if (!fr_data_find(file, path, sizeof path)) return FR_OK;
    fr_status status = fr_table_cluster(preset, &cluster, err);
    if (status == FR_OK) status = fr_table_read(file, &set, err);
    if (status == FR_OK) fr_table_keep(&set, &want);
    for (int i = 0; i < set.n; i++)
        if (waits(set.use[i])) set.use[kept++] = set.use[i];
    set.n = kept;
    double *alone_s =
        status == FR_OK && kept > 0 ? fr_calloc((size_t)kept, sizeof *alone_s) : NULL;
    if (alone_s) look(r, preset, &cluster, &set, alone_s);
    free(alone_s);
    fr_table_free(&set);
    fr_cluster_free(&cluster);
    return status;
}
