/* Rates of devices with a runtime: put its facts into a cluster, and name the two in answers. */
#include "models/job/release.h"
#include "models/job/runtime.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How closely a fact is of @p device: 0 not at all, 1 of every device, 2 of its generation, 3 of itself. */
static int closeness(const struct fr_fact *fact, const struct fr_device *device) {
    if (!*fact->of) return 1;
    if (strcmp(fact->of, device->name) == 0) return 3;
    return *device->generation && strcmp(fact->of, device->generation) == 0 ? 2 : 0;
}

/* The fact of @p row for @p device in the nearest file that has any, of the facts from @p first on. */
static const struct fr_fact *find(const struct fr_runtime *runtime, int first, int row,
                                  const struct fr_device *device) {
    const struct fr_fact *best = NULL;
    for (int i = first; i < runtime->n_facts; i++) {
        const struct fr_fact *fact = &runtime->fact[i];
        bool lent = fact->file >= 0 && runtime->costs_only[fact->file] && fr_facts[row].own;
        int close = fact->row == row && !lent ? closeness(fact, device) : 0;
        if (best && best->file != fact->file) break;
        if (close > (best ? closeness(best, device) : 0)) best = fact;
    }
    return best && !best->none ? best : NULL;
}

const struct fr_fact *fr_runtime_of_device(const struct fr_runtime *runtime, int row,
                                           const struct fr_device *device) {
    return find(runtime, 0, row, device);
}

/* Does the file say @p key, a path below "device"? */
static bool says(const struct fr_json *device, const char *key) {
    char part[32];
    const char *dot = strchr(key, '.');
    snprintf(part, sizeof part, "%.*s", (int)(dot ? dot - key : (long)strlen(key)), key);
    struct fr_json member = fr_json_member(device, part);
    if (!fr_json_present(&member)) return false;
    return !dot || says(&member, dot + 1);
}

/* The width that a file states of the value, whatever --set makes of it. */
static double width_of(const struct fr_runtime *runtime, int row,
                       const struct fr_device *device) {
    int sets = 0;
    while (sets < runtime->n_facts && runtime->fact[sets].file < 0) sets++;
    const struct fr_fact *fact = find(runtime, sets, row, device);
    return fact ? fact->width : 0;
}

static void take_width(struct fr_uncertainty *uncertainty, const struct fr_fact_row *row,
                       double width) {
    double *sigma = row->value == FR_VALUE_COUNT ? NULL : uncertainty->sigma[row->value];
    if (!uncertainty->present || !sigma || !(width > 0)) return;
    for (int d = 0; d < FR_DTYPE_COUNT; d++)
        if ((row->dtype == FR_DTYPE_COUNT || d == (int)row->dtype) && !(sigma[d] > 0))
            sigma[d] = width;
}

/* A product that the file describes by tiles: others have measured rates. */
static bool describes(const struct fr_device *device, const struct fr_fact_row *row) {
    return row->dtype == FR_DTYPE_COUNT || device->gemm[row->dtype].form == &fr_gemm_tiled;
}

/* Does it say anything of this generation of devices or of this device, if only that nothing is known? */
static bool knows(const struct fr_runtime *runtime, const struct fr_device *device) {
    for (int i = 0; i < runtime->n_facts; i++)
        if (closeness(&runtime->fact[i], device) > 1) return true;
    return false;
}

/* A runtime that never ran on a device has the costs of the newest runtime that suits the device. */
static fr_status take_costs(struct fr_runtime *runtime, struct fr_cluster *cluster,
                            struct fr_error *err) {
    const struct fr_device *device = &cluster->device;
    char name[FR_RUNTIME_NAME];
    *cluster->costs = '\0';
    if (!*device->generation || knows(runtime, device)) return FR_OK;
    fr_release_newest(true, device->generation, NULL, name);
    if (strcmp(name, runtime->name) == 0) return FR_OK;
    FR_TRY(fr_runtime_join(runtime, name, err));
    if (knows(runtime, device)) snprintf(cluster->costs, sizeof cluster->costs, "%s", name);
    return FR_OK;
}

fr_status fr_runtime_equip(struct fr_runtime *runtime, const struct fr_json_document *document,
                           struct fr_cluster *cluster, struct fr_error *err) {
    struct fr_json root = fr_json_root(document), object = fr_json_member(&root, "device");
    struct fr_device *device = &cluster->device;
    size_t used = 0;
    snprintf(cluster->runtime, sizeof cluster->runtime, "%s", runtime->name);
    snprintf(cluster->runtime_date, sizeof cluster->runtime_date, "%s", runtime->date);
    fr_runtime_drift(runtime, &cluster->drift);
    if (!fr_json_present(&object)) return FR_OK;
    FR_TRY(take_costs(runtime, cluster, err));
    for (int i = 0; i < fr_fact_count; i++) {
        const struct fr_fact_row *row = &fr_facts[i];
        if (row->kind != FR_FACT_DEVICE || !describes(device, row)) continue;
        const struct fr_fact *fact = fr_runtime_of_device(runtime, i, device);
        bool set = fact && fact->file < 0, own = says(&object, row->key) && !set;
        if (own)
            fr_line_addf(cluster->software, sizeof cluster->software, &used, "%s%s",
                         used ? ", " : "", row->key);
        cluster->of_runtime[i] = own ? NAN : fact ? fact->number : 0;
        if (!fact) continue;
        take_width(&cluster->uncertainty, row, width_of(runtime, i, device));
        if (!own) memcpy((char *)device + row->offset, &fact->number, sizeof fact->number);
    }
    return FR_OK;
}

/* Is the fact memory that software takes?  Measured times say nothing of it. */
static bool of_memory(const struct fr_fact_row *row) {
    const size_t shown = offsetof(struct fr_device, shown),
                 framework = offsetof(struct fr_device, framework);
    return (row->offset >= shown && row->offset < shown + sizeof(struct fr_shown)) ||
           (row->offset >= framework && row->offset < framework + sizeof(struct fr_framework));
}

void fr_runtime_carry(const struct fr_cluster *own, struct fr_cluster *to) {
    if (memcmp(own->of_runtime, to->of_runtime, sizeof own->of_runtime) == 0) return;
    for (int i = 0; i < fr_fact_count; i++) {
        const struct fr_fact_row *row = &fr_facts[i];
        double now = to->of_runtime[i], then = own->of_runtime[i];
        if (row->kind != FR_FACT_DEVICE || of_memory(row)) continue;
        if (now == then || isnan(now) || isnan(then)) continue;
        const char *stated = (const char *)&own->device + row->offset;
        double *value = (double *)(void *)((char *)&to->device + row->offset);
        if (now > 0 && then > 0)
            *value = fmin(row->most, *value * then / now);
        else
            memcpy(value, stated, sizeof *value);
    }
}

/* ---- in answers ----------------------------------------------------------------------------------- */

const char *fr_runtime_line(const struct fr_cluster *cluster, char *out, size_t capacity) {
    size_t used = 0;
    *out = '\0';
    fr_line_addf(out, capacity, &used, "%s", *cluster->runtime ? cluster->runtime : "unnamed");
    if (*cluster->runtime_date)
        fr_line_addf(out, capacity, &used, " (%s)", cluster->runtime_date);
    if (*cluster->costs)
        fr_line_addf(out, capacity, &used, ", costs of devices by %s", cluster->costs);
    if (*cluster->software)
        fr_line_addf(out, capacity, &used, "; the cluster's own: %s", cluster->software);
    return out;
}

static void put_drift(const struct fr_drift *drift, struct fr_json_writer *w) {
    if (!(drift->years > 0)) return;
    fr_json_add_object(w, "runtime_beyond");
    fr_json_add_string(w, "since", drift->since);
    fr_json_add_number(w, "years", drift->older ? -drift->years : drift->years);
    fr_json_add_number(w, "moved", fr_drift_moved(drift));
    fr_json_add_number(w, "deviation", fr_drift_deviation(drift));
    fr_json_end_object(w);
}

void fr_runtime_put(const struct fr_cluster *cluster, struct fr_json_writer *w) {
    fr_json_add_string(w, "runtime", cluster->runtime);
    if (*cluster->runtime_date) fr_json_add_string(w, "runtime_date", cluster->runtime_date);
    if (*cluster->costs) fr_json_add_string(w, "costs_of", cluster->costs);
    if (*cluster->software) fr_json_add_string(w, "software_of_cluster", cluster->software);
    put_drift(&cluster->drift, w);
}
