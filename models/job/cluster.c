#include "models/job/cluster.h"

static const char *const keys[] = {"name",        "source",      "device",   "levels",
                                   "collectives", "calibration", "topology", "tuning",
                                   "widths",      "pue",         NULL};

fr_status fr_cluster_read(const struct fr_json_document *document, struct fr_cluster *cluster,
                          struct fr_error *err) {
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
    cluster->pue = 1;
    FR_TRY(fr_json_get_number(&root, "pue", false, 1, 10, &cluster->pue, err));
    FR_TRY(fr_calibration_read(&calibration, &cluster->calibration, err));
    FR_TRY(fr_tuning_read(&tuning, &cluster->tuning, err));
    FR_TRY(fr_levels_read(&levels, &cluster->levels, err));
    FR_TRY(fr_widths_read(&widths, &cluster->levels, &cluster->widths, err));
    FR_TRY(fr_topology_read(&topology, &cluster->levels, err));
    /* Fitted to other people's collectives, a file may say nothing of the processor. */
    if (fr_json_present(&device)) FR_TRY(fr_device_read(&device, &cluster->device, err));
    return fr_comm_read(&collectives, &cluster->levels, cluster->price, err);
}

fr_interval_source fr_cluster_interval_source(const struct fr_cluster *cluster) {
    return cluster->tuning.present             ? FR_INTERVAL_TUNING
           : cluster->calibration.held_out > 0 ? FR_INTERVAL_CALIBRATION
           : cluster->widths.present           ? FR_INTERVAL_WIDTHS
                                               : FR_INTERVAL_PRIORS;
}

void fr_cluster_free(struct fr_cluster *cluster) {
    fr_device_free(&cluster->device);
    fr_comm_free(cluster->price);
}
