#include "calibrate/runs/row/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "models/job/preset.h"

static const char prefix[] = "cluster.";
enum { PREFIX = sizeof prefix - 1 };

/* ---- devices ------------------------------------------------------------------------------ */

/* The longer name of a device first: "GB200" holds "B200". */
static const struct {
    const char *device, *cluster;
} presets[] = {{"H100", "dgx-h100"},        {"GH200", "gh200"},       {"H200", "dgx-h200"},
               {"GB200", "gb200-nvl72"},    {"GB300", "gb300-nvl72"}, {"B200", "dgx-b200"},
               {"B300", "dgx-b300"},        {"MI355X", "mi355x"},     {"MI325X", "mi325x"},
               {"MI300X", "mi300x"},        {"A100", "dgx-a100"},     {"v5p", "tpu-v5p"},
               {"Trillium", "tpu-trillium"}};

enum { PRESETS = sizeof presets / sizeof *presets };

const char *fr_machine_of_device(const char *device) {
    for (int i = 0; device && i < PRESETS; i++)
        if (fr_run_mentions(device, presets[i].device)) return presets[i].cluster;
    return NULL;
}

const char *fr_machine_preset(int i) { return i < PRESETS ? presets[i].cluster : NULL; }

void fr_run_set_cluster(struct fr_run_row *row, const char *device) {
    const char *cluster = fr_machine_of_device(device);
    if (cluster) fr_run_row_set(row, "cluster", "%s", cluster);
}

/* ---- documents ---------------------------------------------------------------------------- */

fr_status fr_machine_document(const char *kind, const char *name, const char *folder,
                              struct fr_json_document **document, struct fr_error *err) {
    char beside[1024];
    if (folder && *folder && name[0] != '/' && name[0] != '{' && !fr_preset_find(kind, name)) {
        int length = snprintf(beside, sizeof beside, "%s/%s", folder, name);
        if (length > 0 && (size_t)length < sizeof beside && fr_file_exists(beside))
            return fr_json_read(beside, document, err);
    }
    return fr_preset_or_file_read(kind, name, document, err);
}

/* ---- machines of rows ----------------------------------------------------------------------- */

static bool is_of_cluster(const char *key) {
    return strcmp(key, "cluster") == 0 || strncmp(key, prefix, PREFIX) == 0;
}

/* What @p row says of its cluster. */
static void copy_named(const struct fr_runs *runs, const struct fr_run_row *row,
                       struct fr_run_row *named) {
    const char *cluster = fr_run_row_get(row, "cluster");
    *named = (struct fr_run_row){0};
    if (!cluster || !*cluster) cluster = runs->ask.cluster;
    if (!cluster) return;
    fr_run_row_set(named, "cluster", "%s", cluster);
    for (int i = 0; i < row->n; i++)
        if (is_of_cluster(row->item[i].key) && strcmp(row->item[i].key, "cluster") != 0 &&
            row->item[i].value[0])
            fr_run_row_set(named, row->item[i].key, "%s", row->item[i].value);
}

static bool same(const struct fr_run_row *a, const struct fr_run_row *b) {
    if (a->n != b->n) return false;
    for (int i = 0; i < a->n; i++) {
        const char *value = fr_run_row_get(b, a->item[i].key);
        if (!value || strcmp(value, a->item[i].value) != 0) return false;
    }
    return true;
}

/* Do rows of a file in @p folder that say @p named mean this machine?  A preset is the same everywhere. */
static bool means(const struct fr_machine *m, const struct fr_run_row *named,
                  const char *folder) {
    return same(m->named, named) &&
           (strcmp(m->folder, folder ? folder : "") == 0 ||
            fr_preset_find("cluster", fr_run_row_get(named, "cluster")) != NULL);
}

static fr_status read_machine(const struct fr_runs *runs, const char *folder,
                              struct fr_machine *m, struct fr_error *err) {
    fr_status status = fr_machine_document("cluster", fr_run_row_get(m->named, "cluster"),
                                           folder, &m->document, err);
    for (int i = 1; i < m->named->n && status == FR_OK; i++)
        status = fr_cluster_set(m->document, m->named->item[i].key + PREFIX,
                                m->named->item[i].value, m->named->item[i].key, err);
    for (int i = 0; i < runs->ask.n_sets && status == FR_OK; i++) {
        char key[160];
        const char *set = runs->ask.sets[i], *equals = strchr(set, '=');
        if (!equals || strncmp(set, prefix, PREFIX) != 0 || equals - set >= (int)sizeof key) {
            status = fr_fail(err, FR_ERR_USAGE, "--set",
                             "\"%.64s\" is not of the form cluster.KEY=VALUE", set);
            break;
        }
        snprintf(key, sizeof key, "%.*s", (int)(equals - set - PREFIX), set + PREFIX);
        status = fr_cluster_set(m->document, key, equals + 1, "--set", err);
    }
    if (status == FR_OK) status = fr_cluster_read(m->document, &m->cluster, err);
    return status;
}

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "the clusters of the runs do not fit in memory");
}

fr_status fr_machine_find(struct fr_runs *runs, const struct fr_run_row *row,
                          const char *folder, const struct fr_machine **machine,
                          struct fr_error *err) {
    struct fr_run_row *named = fr_malloc(1, sizeof *named);
    *machine = NULL;
    if (!named) return no_memory(err);
    copy_named(runs, row, named);
    int i = 0;
    while (i < runs->n_machines && !means(runs->machines[i], named, folder)) i++;
    if (named->n == 0 || i < runs->n_machines) {
        *machine = named->n ? runs->machines[i] : NULL;
        free(named);
        return FR_OK;
    }
    struct fr_machine **grown =
        fr_realloc(runs->machines, (size_t)runs->n_machines + 1, sizeof *grown);
    if (grown) runs->machines = grown;
    struct fr_machine *m = grown ? fr_calloc(1, sizeof *m) : NULL;
    if (!m) {
        free(named);
        return no_memory(err);
    }
    m->named = named;
    snprintf(m->folder, sizeof m->folder, "%s", folder ? folder : "");
    runs->machines[runs->n_machines++] = m;
    *machine = m;
    return read_machine(runs, folder, m, err);
}

const struct fr_machine *fr_machine_only(const struct fr_runs *runs) {
    const struct fr_machine *only = NULL;
    for (int i = 0; i < runs->n_machines && runs->count > 0; i++) {
        if (&runs->machines[i]->cluster != runs->items[0].cluster) continue;
        only = runs->machines[i];
    }
    for (int i = 0; i < runs->count && only; i++)
        if (runs->items[i].cluster != &only->cluster) only = NULL;
    return only;
}

void fr_machines_free(struct fr_runs *runs) {
    for (int i = 0; i < runs->n_machines; i++) {
        fr_cluster_free(&runs->machines[i]->cluster);
        fr_json_free(runs->machines[i]->document);
        free(runs->machines[i]->named);
        free(runs->machines[i]);
    }
    free(runs->machines);
    runs->machines = NULL;
    runs->n_machines = 0;
}
