#include "studies/presets/runs.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/data.h"
#include "trust/interval.h"
#include "trust/together.h"

static void keep(struct fr_table_set *set, bool (*says)(const struct fr_run *run)) {
    int kept = 0;
    for (int i = 0; i < set->n; i++)
        if (says(set->use[i])) set->use[kept++] = set->use[i];
    set->n = kept;
}

fr_status fr_presets_from_runs(struct fr_reproduction *r, const char *preset,
                               const struct fr_presets_runs *from, struct fr_error *err) {
    struct fr_table_set set = {0};
    struct fr_cluster cluster = {0};
    char path[512];
    if (!fr_data_find(from->file, path, sizeof path)) return FR_OK;
    fr_status status = fr_table_cluster(preset, &cluster, err);
    if (status == FR_OK) status = fr_table_read(from->file, &set, err);
    if (status == FR_OK && from->selection) fr_table_keep(&set, from->selection);
    if (status == FR_OK && from->says) keep(&set, from->says);
    if (status == FR_OK && set.n > 0) status = from->fit(r, preset, &set, &cluster, err);
    fr_table_free(&set);
    fr_cluster_free(&cluster);
    return status;
}

fr_status fr_presets_tune(const struct fr_cluster *cluster, const struct fr_table_set *runs,
                          const char *const *names, struct fr_device *device, double *sigma,
                          struct fr_together *together, struct fr_error *err) {
    double others[FR_COEFFICIENT_MAX] = {0};
    struct fr_tune_options options = {
        .rows_max = 100, .threads = 1, .held = UINT32_MAX, .sigmas = others};
    struct fr_tune_result *tuned = fr_calloc(1, sizeof *tuned);
    const fr_dtype dtype = runs->use[0]->workload.dtype;
    struct fr_cluster prior = *cluster; /* but for the widths that these very runs say */
    prior.widths.n_together = 0;
    if (!tuned) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int k = 0; names[k]; k++) {
        int j = fr_coefficient_find(names[k]);
        options.held &= ~((uint32_t)1 << j);
        prior.widths.sigma[fr_coefficients[j].place][dtype] = 0;
    }
    for (int j = 0; j < fr_coefficient_count(); j++)
        if (options.held >> j & 1) others[j] = fr_interval_width(&prior, j, dtype);
    fr_status status = fr_tune(&prior, runs->use, runs->n, &options, tuned, err);
    if (status == FR_OK) *device = tuned->cluster.device;
    for (int k = 0; sigma && names[k] && status == FR_OK; k++)
        sigma[k] = tuned->tuned[fr_coefficient_find(names[k])].sigma;
    if (status == FR_OK && together) status = fr_tune_together(tuned, names[0], together, err);
    free(tuned);
    return status;
}
