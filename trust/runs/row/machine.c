#include "trust/runs/row/machine.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/describe/expression.h"
#include "base/file.h"
#include "models/job/preset.h"
#include "trust/runs/row/software.h"

static const char prefix[] = "cluster.";
enum { PREFIX = sizeof prefix - 1 };

/* ---- devices ------------------------------------------------------------------------------ */

/* The longer name of a device first: "GB200" holds "B200". */
static const struct {
    const char *device, *cluster;
} presets[] = {
    {"H100", "dgx-h100"},     {"GH200", "gh200"},           {"H200-NVL", "h200-nvl"},
    {"H200 NVL", "h200-nvl"}, {"H200", "dgx-h200"},         {"H20", "h20"},
    {"GB200", "gb200-nvl72"}, {"GB300", "gb300-nvl72"},     {"B200", "dgx-b200"},
    {"B300", "dgx-b300"},     {"MI355X", "mi355x"},         {"MI350X", "mi350x"},
    {"MI325X", "mi325x"},     {"MI300X", "mi300x"},         {"A100", "dgx-a100"},
    {"v5p", "tpu-v5p"},       {"Trillium", "tpu-trillium"}, {"Ironwood", "tpu-ironwood"},
    {"Gaudi 2", "gaudi2"},    {"Gaudi2", "gaudi2"},         {"Gaudi 3", "gaudi3"},
    {"Gaudi3", "gaudi3"}};

enum { PRESETS = sizeof presets / sizeof *presets };

const char *fr_machine_of_device(const char *device) {
    for (int i = 0; device && i < PRESETS; i++)
        if (fr_text_mentions(device, presets[i].device)) return presets[i].cluster;
    return NULL;
}

/* Is row @p i the first of its cluster?  A device has several spellings. */
static bool is_first(int i) {
    for (int k = 0; k < i; k++)
        if (strcmp(presets[k].cluster, presets[i].cluster) == 0) return false;
    return true;
}

const char *fr_machine_preset(int i) {
    for (int k = 0; k < PRESETS; k++)
        if (is_first(k) && i-- == 0) return presets[k].cluster;
    return NULL;
}

/* ---- documents ---------------------------------------------------------------------------- */

const char *fr_machine_path(const char *kind, const char *name, const char *folder, char *path,
                            size_t capacity) {
    if (!folder || !*folder || name[0] == '/' || name[0] == '{' || fr_preset_find(kind, name))
        return name;
    int length = snprintf(path, capacity, "%s/%s", folder, name);
    return length > 0 && (size_t)length < capacity && fr_file_exists(path) ? path : name;
}

fr_status fr_machine_document(const char *kind, const char *name, const char *folder,
                              struct fr_json_document **document, struct fr_error *err) {
    char path[1024];
    return fr_preset_or_file_read(kind, fr_machine_path(kind, name, folder, path, sizeof path),
                                  document, err);
}

/* ---- machines of rows ----------------------------------------------------------------------- */

static bool is_of_cluster(const char *key) {
    return strcmp(key, "cluster") == 0 || strncmp(key, prefix, PREFIX) == 0;
}

/* Copy what @p row states of its cluster and of its software; nothing where it is on none. */
static void copy_named(const struct fr_runs *runs, const struct fr_run_row *row,
                       struct fr_run_row *named) {
    const char *cluster = fr_run_row_get(row, "cluster"),
               *runtime = fr_run_row_get(row, "runtime");
    *named = (struct fr_run_row){0};
    if (!cluster || !*cluster) cluster = runs->ask.cluster;
    if (!cluster && !runs->ask.on) return;
    if (!runs->ask.on) fr_run_row_set(named, "cluster", "%s", cluster);
    if (runtime && *runtime) fr_run_row_set(named, "runtime", "%s", runtime);
    for (int i = 0; i < row->n; i++) {
        const char *key = row->item[i].key;
        bool wanted = fr_software_key(key) || (is_of_cluster(key) && !runs->ask.on);
        if (wanted && strchr(key, '.') && row->item[i].value[0])
            fr_run_row_set(named, key, "%s", row->item[i].value);
    }
}

static bool same(const struct fr_run_row *a, const struct fr_run_row *b) {
    if (a->n != b->n) return false;
    for (int i = 0; i < a->n; i++) {
        const char *value = fr_run_row_get(b, a->item[i].key);
        if (!value || strcmp(value, a->item[i].value) != 0) return false;
    }
    return true;
}

/* Is the row's name of @p kind the same everywhere (nothing, or a preset)? */
static bool everywhere(const char *kind, const struct fr_run_row *named) {
    const char *name = fr_run_row_get(named, kind);
    return !name || fr_preset_find(kind, name) != NULL;
}

/* Do rows of a file in @p folder that say @p named mean this machine? */
static bool means(const struct fr_machine *m, const struct fr_run_row *named,
                  const char *folder) {
    return same(m->named, named) &&
           (strcmp(m->folder, folder ? folder : "") == 0 ||
            (everywhere("cluster", named) && everywhere("runtime", named)));
}

static fr_status set_all(const struct fr_runs *runs, struct fr_machine *m,
                         struct fr_error *err) {
    fr_status status = FR_OK;
    for (int i = 1; i < m->named->n && status == FR_OK; i++)
        if (strncmp(m->named->item[i].key, prefix, PREFIX) == 0)
            status = fr_cluster_set(m->document, m->named->item[i].key + PREFIX,
                                    m->named->item[i].value, m->named->item[i].key, err);
    for (int i = 0; i < runs->ask.n_sets && status == FR_OK; i++) {
        char key[160];
        const char *set = runs->ask.sets[i], *equals = strchr(set, '=');
        if (equals && fr_software_key(set)) continue;
        if (!equals || strncmp(set, prefix, PREFIX) != 0 || equals - set >= (int)sizeof key)
            return fr_fail(err, FR_ERR_USAGE, "--set",
                           "\"%.64s\" is not of the form cluster.KEY=VALUE or "
                           "runtime.KEY=VALUE",
                           set);
        snprintf(key, sizeof key, "%.*s", (int)(equals - set - PREFIX), set + PREFIX);
        status = fr_cluster_set(m->document, key, equals + 1, "--set", err);
    }
    return status;
}

/* The rates of its devices are known with its software alone. */
static fr_status read_machine(struct fr_runs *runs, const char *folder, struct fr_machine *m,
                              struct fr_error *err) {
    struct fr_runtime *runtime = NULL;
    if (m->lent) {
        m->document = (struct fr_json_document *)(uintptr_t)runs->ask.document;
    } else {
        FR_TRY(fr_machine_document("cluster", fr_run_row_get(m->named, "cluster"), folder,
                                   &m->document, err));
        FR_TRY(set_all(runs, m, err));
    }
    FR_TRY(fr_cluster_read_bare(m->document, &m->cluster, err));
    FR_TRY(fr_software_find(runs, m->named, folder, true, m->cluster.device.generation,
                            &runtime, err));
    return fr_runtime_equip(runtime, m->document, &m->cluster, err);
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
    m->lent = runs->ask.on != NULL;
    snprintf(m->folder, sizeof m->folder, "%s", folder ? folder : "");
    runs->machines[runs->n_machines++] = m;
    *machine = m;
    return read_machine(runs, folder, m, err);
}

static const struct fr_machine *machine_of(const struct fr_runs *runs,
                                           const struct fr_run *run) {
    for (int i = 0; i < runs->n_machines; i++)
        if (&runs->machines[i]->cluster == run->cluster) return runs->machines[i];
    return NULL;
}

/* The same but for their software? */
static bool same_cluster(const struct fr_machine *a, const struct fr_machine *b) {
    struct fr_run_row bare[2] = {{0}, {0}};
    const struct fr_machine *of[2] = {a, b};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < of[k]->named->n; i++)
            if (is_of_cluster(of[k]->named->item[i].key))
                fr_run_row_set(&bare[k], of[k]->named->item[i].key, "%s",
                               of[k]->named->item[i].value);
    return same(&bare[0], &bare[1]) &&
           (strcmp(a->folder, b->folder) == 0 || everywhere("cluster", &bare[0]));
}

const struct fr_machine *fr_machine_only(const struct fr_runs *runs) {
    const struct fr_machine *most = NULL;
    int most_runs = 0;
    for (int i = 0; i < runs->count; i++) {
        const struct fr_machine *m = machine_of(runs, &runs->items[i]);
        int n = 0;
        if (!m || (most && !same_cluster(most, m))) return NULL;
        for (int k = 0; k < runs->count; k++) n += runs->items[k].cluster == &m->cluster;
        if (n > most_runs) most = m, most_runs = n;
    }
    return most;
}

void fr_machines_free(struct fr_runs *runs) {
    for (int i = 0; i < runs->n_machines; i++) {
        fr_cluster_free(&runs->machines[i]->cluster);
        if (!runs->machines[i]->lent) fr_json_free(runs->machines[i]->document);
        free(runs->machines[i]->named);
        free(runs->machines[i]);
    }
    free(runs->machines);
    runs->machines = NULL;
    runs->n_machines = 0;
}
