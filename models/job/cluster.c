#include "models/job/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/release.h"
#include "models/job/runtime.h"

static const char *const keys[] = {
    "name",   "source", "device", "levels",  "collectives", "calibration", "topology", "tuning",
    "widths", "pue",    "date",   "checked", "measured_by", "schema",      "$schema",  NULL};

fr_status fr_cluster_read_bare(const struct fr_json_document *document,
                               struct fr_cluster *cluster, struct fr_error *err) {
    struct fr_json root = fr_json_root(document);
    struct fr_json device = fr_json_member(&root, "device");
    struct fr_json levels = fr_json_member(&root, "levels");
    struct fr_json collectives = fr_json_member(&root, "collectives");
    struct fr_json calibration = fr_json_member(&root, "calibration");
    struct fr_json topology = fr_json_member(&root, "topology");
    struct fr_json tuning = fr_json_member(&root, "tuning");
    struct fr_json widths = fr_json_member(&root, "widths");
    *cluster = (struct fr_cluster){0};
    FR_TRY(fr_json_object(&root, keys, err));
    FR_TRY(fr_json_get_string(&root, "name", false, cluster->name, sizeof cluster->name, err));
    FR_TRY(fr_json_get_string(&root, "source", false, cluster->source, sizeof cluster->source,
                              err));
    char date[16], checked[160], by[160]; /* for people: forerun list clusters */
    FR_TRY(fr_json_get_string(&root, "date", false, date, sizeof date, err));
    FR_TRY(fr_json_get_string(&root, "checked", false, checked, sizeof checked, err));
    FR_TRY(fr_json_get_string(&root, "measured_by", false, by, sizeof by, err));
    cluster->pue = 1;
    FR_TRY(fr_json_get_number(&root, "pue", false, 1, 10, &cluster->pue, err));
    FR_TRY(fr_calibration_read(&calibration, &cluster->calibration, err));
    FR_TRY(fr_tuning_read(&tuning, &cluster->tuning, err));
    FR_TRY(fr_levels_read(&levels, &cluster->levels, err));
    FR_TRY(fr_uncertainty_read(&widths, &cluster->levels, &cluster->uncertainty, err));
    FR_TRY(fr_topology_read(&topology, &cluster->levels, err));
    /* Fitted to other people's collectives, a file may say nothing of the processor. */
    if (fr_json_present(&device)) FR_TRY(fr_device_read(&device, &cluster->device, err));
    return fr_comm_read(&collectives, &cluster->levels, cluster->price, err);
}

fr_status fr_cluster_read_of(const struct fr_json_document *document, const char *software,
                             struct fr_cluster *cluster, struct fr_error *err) {
    char name[FR_RUNTIME_NAME];
    struct fr_runtime *runtime = fr_calloc(1, sizeof *runtime);
    fr_status status = fr_cluster_read_bare(document, cluster, err);
    if (status == FR_OK && !runtime) status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (!software) fr_release_newest(true, cluster->device.generation, NULL, name);
    if (status == FR_OK) status = fr_runtime_read(software ? software : name, runtime, err);
    if (status == FR_OK) status = fr_runtime_equip(runtime, document, cluster, err);
    if (runtime) fr_runtime_free(runtime);
    free(runtime);
    return status;
}

fr_status fr_cluster_read(const struct fr_json_document *document, struct fr_cluster *cluster,
                          struct fr_error *err) {
    return fr_cluster_read_of(document, NULL, cluster, err);
}

/* Is some collective priced by numbers of its own, or of a class of links, which a change of a level cannot know? */
static bool holds_forms(const struct fr_json *root) {
    struct fr_json levels = fr_json_member(root, "levels");
    for (int64_t l = 0; l < fr_json_array_length(&levels); l++) {
        struct fr_json level = fr_json_element(&levels, l),
                       link = fr_json_member(&level, "link");
        if (fr_json_present(&link)) return true;
    }
    struct fr_json collectives = fr_json_member(root, "collectives");
    for (int op = 0; op < FR_OP_COUNT; op++) {
        struct fr_json one = fr_json_member(&collectives, fr_op_names[op]),
                       form = fr_json_member(&one, "form"),
                       latency = fr_json_member(&one, "latency");
        const char *name = "";
        if (!fr_json_present(&one) || fr_json_text(&form, &name, NULL) != FR_OK) continue;
        if (strcmp(name, fr_form_algorithm.name) != 0 || fr_json_present(&latency)) return true;
    }
    return false;
}

/* Number @p key of level @p l, as the file has it, into "measured"; what is no number fails later. */
static fr_status keep_measured(struct fr_json_document *document, int64_t l, const char *key,
                               const char *origin, struct fr_error *err) {
    struct fr_json root = fr_json_root(document), levels = fr_json_member(&root, "levels"),
                   level = fr_json_element(&levels, l),
                   measured = fr_json_member(&level, "measured"),
                   before = fr_json_member(&measured, key), now = fr_json_member(&level, key);
    char path[64], number[32];
    const char *text = number;
    int64_t shared_by = 1;
    if (fr_json_present(&before) || !holds_forms(&root)) return FR_OK;
    if (strcmp(key, "shared_by") == 0) {
        if (fr_json_get_integer(&level, key, false, 1, FR_RANKS_MAX, &shared_by, NULL) != FR_OK)
            return FR_OK;
        snprintf(number, sizeof number, "%" PRId64, shared_by);
    } else if (fr_json_text(&now, &text, NULL) != FR_OK)
        return FR_OK;
    snprintf(path, sizeof path, "levels.%" PRId64 ".measured.%s", l, key);
    return fr_json_set(document, path, text, origin, err);
}

fr_status fr_cluster_set(struct fr_json_document *document, const char *path, const char *text,
                         const char *origin, struct fr_error *err) {
    static const char *const numbers[] = {"latency", "bandwidth", "shared_by", NULL};
    static const char levels[] = "levels.";
    char *rest = NULL;
    if (strncmp(path, levels, sizeof levels - 1) == 0) {
        int64_t l = strtol(path + sizeof levels - 1, &rest, 10);
        for (int k = 0; numbers[k]; k++)
            if (*rest == '.' && strcmp(rest + 1, numbers[k]) == 0)
                FR_TRY(keep_measured(document, l, numbers[k], origin, err));
    }
    return fr_json_set(document, path, text, origin, err);
}

fr_interval_source fr_cluster_interval_source(const struct fr_cluster *cluster) {
    return cluster->tuning.present             ? FR_INTERVAL_TUNING
           : cluster->calibration.held_out > 0 ? FR_INTERVAL_CALIBRATION
           : cluster->uncertainty.present      ? FR_INTERVAL_UNCERTAINTY
                                               : FR_INTERVAL_PRIORS;
}

void fr_cluster_free(struct fr_cluster *cluster) {
    fr_device_free(&cluster->device);
    fr_comm_free(cluster->price);
}
