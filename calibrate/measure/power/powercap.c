/* Linux powercap (Intel and AMD RAPL): /sys/class/powercap/intel-rapl:0/energy_uj and others.
 *
 * Zones contain each other: a package holds its core and uncore, psys holds the packages.  So
 * packages are added, with the DRAM zones, which lie outside them; psys, core and uncore are
 * not.  The MMIO interface shows the same packages again and is used only where the other is
 * absent.  A counter wraps at max_energy_range_uj (262 kJ: minutes at full power); one wrap
 * between two readings is undone, more cannot be seen, so a gap that may have hidden one makes
 * the reading `estimated`.
 * Documentation/power/powercap/powercap.rst; energy_uj is root's since Linux 5.10. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/measure/power.h"

enum { ZONES_MAX = 64, PATH_B = 512 };
static const double MOST_W = 1000; /* of one zone: no wrap is overlooked below it */

struct zone {
    char path[PATH_B]; /* of energy_uj */
    double range_uJ, last_uJ, last_s;
};

struct powercap {
    struct zone zone[ZONES_MAX];
    int n_zones;
    double total_uJ;
    int doubtful; /* a wrap may have been overlooked */
};

static bool read_name(const char *folder, char *name, size_t capacity) {
    char path[PATH_B + 8];
    snprintf(path, sizeof path, "%s/name", folder);
    FILE *file = fopen(path, "r");
    bool found = file && fgets(name, (int)capacity, file);
    if (file) fclose(file);
    if (found) name[strcspn(name, "\n")] = '\0';
    return found;
}

static bool is_dram(const char *name) { return strcmp(name, "dram") == 0; }
static bool is_package(const char *name) { return strncmp(name, "package-", 8) == 0; }

/* One zone to add up; its counter must be readable now. */
static fr_status add(struct powercap *p, const char *folder, struct fr_error *err) {
    char path[PATH_B + 32];
    struct zone *zone = &p->zone[p->n_zones];
    if (p->n_zones == ZONES_MAX) return FR_OK;
    snprintf(zone->path, sizeof zone->path, "%.480s/energy_uj", folder);
    FR_TRY(fr_power_read_number(zone->path, &zone->last_uJ, err));
    snprintf(path, sizeof path, "%s/max_energy_range_uj", folder);
    FR_TRY(fr_power_read_number(path, &zone->range_uJ, err));
    zone->last_s = -1;
    p->n_zones++;
    return FR_OK;
}

static int alphabetically(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Zones of one interface ("intel-rapl:", "intel-rapl-mmio:").  @return how many it names. */
static fr_status scan(struct powercap *p, const char *base, const char *prefix, int *n_seen,
                      struct fr_error *err) {
    struct dirent **entries = NULL;
    int n = scandir(base, &entries, NULL, alphabetically);
    fr_status status = FR_OK;
    for (int i = 0; i < n; i++) {
        char folder[PATH_B], name[64] = "";
        snprintf(folder, sizeof folder, "%.200s/%.200s", base, entries[i]->d_name);
        bool ours = strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0;
        if (ours && status == FR_OK && read_name(folder, name, sizeof name) &&
            (is_package(name) || is_dram(name))) {
            ++*n_seen;
            status = add(p, folder, err);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static fr_status open_powercap(const char *root, void **state, struct fr_error *err) {
    static const char *const interfaces[] = {"intel-rapl:", "intel-rapl-mmio:"};
    char base[PATH_B];
    int n_seen = 0;
    fr_status status = FR_OK;
    struct powercap *p = fr_calloc(1, sizeof *p);
    if (!p) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(base, sizeof base, "%.200s/sys/class/powercap", root ? root : "");
    for (int i = 0; i < 2 && n_seen == 0 && status == FR_OK; i++)
        status = scan(p, base, interfaces[i], &n_seen, err);
    if (status == FR_OK && p->n_zones > 0) {
        *state = p;
        return FR_OK;
    }
    free(p);
    if (n_seen == 0) return fr_fail(err, FR_ERR_UNSUPPORTED, base, "has no package zone");
    /* A readable zone alone would count too little, so one that is not refuses all. */
    char why[256], where[256];
    snprintf(why, sizeof why, "%.200s", err ? err->detail : "");
    snprintf(where, sizeof where, "%.200s", err ? err->where : "");
    return fr_fail(err, FR_ERR_UNSUPPORTED, where, "%s", why);
}

/* Energy since the last reading, one wrap undone. */
static double advance_uJ(struct zone *zone, double now_uJ) {
    double delta_uJ = now_uJ - zone->last_uJ;
    if (delta_uJ < 0) delta_uJ += zone->range_uJ;
    return fmax(0, delta_uJ); /* a counter that was reset gives nothing rather than less */
}

static fr_status read_powercap(void *state, double now_s, double *value, int *quality,
                               struct fr_error *err) {
    struct powercap *p = state;
    double now_uJ[ZONES_MAX];
    for (int i = 0; i < p->n_zones; i++)
        FR_TRY(fr_power_read_number(p->zone[i].path, &now_uJ[i], err));
    for (int i = 0; i < p->n_zones; i++) {
        struct zone *zone = &p->zone[i];
        double wrap_s = zone->range_uJ * 1e-6 / MOST_W;
        if (now_uJ[i] < 0 || now_uJ[i] > zone->range_uJ)
            return fr_fail(err, FR_ERR_IO, zone->path, "is outside the counter's range");
        p->doubtful |= zone->last_s >= 0 && now_s - zone->last_s > wrap_s;
    }
    for (int i = 0; i < p->n_zones; i++) {
        p->total_uJ += advance_uJ(&p->zone[i], now_uJ[i]);
        p->zone[i].last_uJ = now_uJ[i];
        p->zone[i].last_s = now_s;
    }
    *value = p->total_uJ * 1e-6;
    if (p->doubtful) *quality = FR_QUALITY_ESTIMATED;
    return FR_OK;
}

const struct fr_meter fr_meter_powercap = {
    .name = "powercap",
    .summary = "the processors' energy counters, packages and DRAM (RAPL)",
    .argument = "ROOT, a prefix of /sys",
    .ask = "read access to /sys/class/powercap/*/energy_uj (root's since Linux 5.10), on a "
           "machine "
           "that is not virtual",
    .quality = FR_QUALITY_MEASURED,
    .counter = true,
    .period_s = 0.02,
    .open = open_powercap,
    .read = read_powercap,
    .close = free,
};
