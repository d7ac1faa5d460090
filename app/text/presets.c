#include "app/text/presets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/job/cluster.h"
#include "models/job/preset.h"
#include "models/workload/workload.h"

enum { NAME = 14 };

static void complain(struct fr_text *text, const char *name, const struct fr_error *err) {
    struct fr_text words = {0};
    fr_text_addf(&words, "cannot be read: %s: %s", err->where, err->detail);
    fr_text_addf(text, "%-*s ", NAME - 1, name);
    fr_wrap_cell(text, NAME, fr_text_get(&words));
    fr_text_free(&words);
}

/* ---- clusters ---------------------------------------------------------------------------------- */

/* "989 TFLOP/s" of bf16; of a device without it of the widest that it has. */
static void add_peak(const struct fr_device *device, struct fr_text *text) {
    static const int dtypes[] = {FR_BF16, FR_FP16, FR_FP32};
    char peak[FR_READABLE], cell[FR_READABLE + 8] = "-";
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const double rate = fr_gemm_nominal_flop_per_s(&device->gemm[dtypes[i]]);
        if (!(rate > 0)) continue;
        snprintf(cell, sizeof cell, "%s%s%s", fr_readable(rate, FR_QUANTITY_WORK_RATE, peak),
                 i ? " " : "", i ? fr_dtype_names[dtypes[i]] : "");
        break;
    }
    fr_text_addf(text, " %-17s", cell);
}

/* A device's share of the outermost links. */
static void add_network(const struct fr_levels *levels, struct fr_text *text) {
    const struct fr_level *outer = &levels->level[levels->count - 1];
    char rate[FR_READABLE];
    fr_text_addf(
        text, " %s\n",
        fr_readable(outer->rate_B_per_s / (double)(outer->shared_by > 0 ? outer->shared_by : 1),
                    FR_QUANTITY_RATE, rate));
}

/* The day that its values are of: the file's own, or its calibration's. */
static const char *day_of(const struct fr_json *root, char day[16]) {
    struct fr_json calibration = fr_json_member(root, "calibration");
    const char *own = fr_json_text_at(root, "date"),
               *measured = fr_json_text_at(&calibration, "date");
    snprintf(day, 16, "%.*s", *own ? 15 : 10, *own ? own : measured);
    return day;
}

/* How its values were checked, how good its power figures are, and who measured it. */
static void add_checked(const struct fr_cluster *cluster, const struct fr_json *root,
                        struct fr_text *text) {
    const char *checked = fr_json_text_at(root, "checked"),
               *by = fr_json_text_at(root, "measured_by");
    struct fr_json device = fr_json_member(root, "device"),
                   power = fr_json_member(&device, "power");
    const char *quality = fr_json_text_at(&power, "quality");
    char day[16];
    struct fr_text words = {0};
    if (*day_of(root, day)) fr_text_addf(&words, "%s: ", day);
    if (cluster->tuning.present)
        fr_text_addf(&words, "tuned to measured runs");
    else if (*cluster->calibration.verdict)
        fr_text_addf(&words, "calibrated, verdict %s", cluster->calibration.verdict);
    else
        fr_text_addf(&words, "%s", *checked ? checked : "does not say how it was checked");
    if (*quality) fr_text_addf(&words, "; power %s", quality);
    if (*by) fr_text_addf(&words, "; by %s", by);
    fr_text_addf(text, "%*s", NAME, "");
    fr_wrap_cell(text, NAME, fr_text_get(&words));
    fr_text_free(&words);
}

static void one_cluster(struct fr_text *text, const char *name, const struct fr_json *root,
                        const struct fr_cluster *cluster) {
    const struct fr_level *node = &cluster->levels.level[fr_levels_node(&cluster->levels)];
    const bool nodes = strcmp(node->name, "system") != 0;
    char device[24], memory[FR_READABLE];
    snprintf(device, sizeof device, "%.*s", (int)strcspn(cluster->device.name, "("),
             cluster->device.name);
    fr_text_addf(text, "%-*s %-20.20s %6" PRId64 "  %8s ", NAME - 1, name,
                 *device ? device : "-", nodes ? node->ranks : 1,
                 cluster->device.memory_B > 0
                     ? fr_readable(cluster->device.memory_B, FR_QUANTITY_SIZE, memory)
                     : "-");
    add_peak(&cluster->device, text);
    add_network(&cluster->levels, text);
    add_checked(cluster, root, text);
}

void fr_list_clusters(struct fr_text *text, const char *const *names, int n) {
    struct fr_cluster *cluster = fr_calloc(1, sizeof *cluster);
    fr_text_addf(text, "%-*s %-20s %6s  %8s  %-17s %s\n", NAME - 1, "cluster", "device",
                 "a node", "memory", "bf16 peak", "network");
    text->failed = text->failed || !cluster;
    for (int i = 0; i < n && cluster; i++) {
        struct fr_json_document *document = NULL;
        struct fr_error err = {.status = FR_OK};
        fr_status status = fr_preset_or_file_read("cluster", names[i], &document, &err);
        if (status == FR_OK) status = fr_cluster_read_bare(document, cluster, &err);
        if (status == FR_OK) {
            struct fr_json root = fr_json_root(document);
            one_cluster(text, names[i], &root, cluster);
        } else
            complain(text, names[i], &err);
        if (document) fr_cluster_free(cluster);
        *cluster = (struct fr_cluster){0};
        fr_json_free(document);
    }
    free(cluster);
    fr_text_addf(text,
                 "\nnetwork: a device's share of links between nodes; all values: forerun "
                 "show NAME\n");
}

/* ---- models ------------------------------------------------------------------------------------ */

static const char *count_or_none(int64_t count, char out[FR_READABLE]) {
    if (count > 0) return fr_readable_count(count, out);
    snprintf(out, FR_READABLE, "-");
    return out;
}

static void one_model(struct fr_text *text, const char *name, const struct fr_workload *model) {
    const struct fr_transformer *t = &model->transformer;
    char layers[FR_READABLE], width[FR_READABLE], experts[FR_READABLE], sequence[FR_READABLE],
        batch[FR_READABLE];
    double n = 0;
    for (int i = 0; i < model->n_layers; i++) n += model->layers[i].repeat;
    fr_text_addf(text, "%-19.19s %-11s %7s %7s %7s %9s %7s  %s\n", name,
                 model->kind ? model->kind->name : "-",
                 count_or_none(t->layers ? t->layers : (int64_t)n, layers),
                 count_or_none(t->hidden, width), count_or_none(t->experts, experts),
                 count_or_none(t->sequence, sequence),
                 count_or_none(model->global_batch, batch), fr_dtype_names[model->dtype]);
}

void fr_list_models(struct fr_text *text, const char *const *names, int n) {
    fr_text_addf(text, "%-19s %-11s %7s %7s %7s %9s %7s  %s\n", "model", "kind", "layers",
                 "width", "experts", "sequence", "batch", "dtype");
    for (int i = 0; i < n; i++) {
        struct fr_json_document *document = NULL;
        struct fr_workload model = {.modern = true};
        struct fr_error err = {.status = FR_OK};
        fr_status status = fr_preset_or_file_read("model", names[i], &document, &err);
        if (status == FR_OK) status = fr_workload_read(document, &model, &err);
        if (status == FR_OK)
            one_model(text, names[i], &model);
        else
            complain(text, names[i], &err);
        fr_workload_free(&model);
        fr_json_free(document);
    }
    fr_text_addf(
        text, "\nall values: forerun show NAME; --model reads Hugging Face config.json, too\n");
}
