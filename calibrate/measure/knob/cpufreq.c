/* The highest clock of every processor, through Linux's cpufreq
 * (Documentation/admin-guide/pm/cpufreq.rst): scaling_max_freq of each, in kHz.  The processor
 * stays free below it; work that keeps it busy runs at it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "calibrate/measure/knob.h"
#include "calibrate/measure/power.h"
#include "trust/numbers/statistics.h"

enum { PROCESSORS_MAX = 4096, PATH_B = 320, LIST_B = 4096 };
static const double STEP_KHZ = 100e3;

struct processor {
    char path[PATH_B]; /* of scaling_max_freq */
    double before_kHz;
};

struct cpufreq {
    struct processor *all;
    int n;
    double least_kHz, most_kHz; /* that every processor may be set to */
    char list[LIST_B];          /* of the first one's clocks; "": any */
};

static fr_status number(const char *root, int i, const char *name, double *kHz,
                        struct fr_error *err) {
    char path[PATH_B];
    snprintf(path, sizeof path, "%.200s/cpu%d/cpufreq/%s", root, i, name);
    return fr_power_read_number(path, kHz, err);
}

static fr_status add(struct cpufreq *c, const char *root, int i, struct fr_error *err) {
    struct processor *p = &c->all[c->n];
    double least_kHz = 0, floor_kHz = 0;
    snprintf(p->path, sizeof p->path, "%.200s/cpu%d/cpufreq/scaling_max_freq", root, i);
    if (access(p->path, F_OK) != 0) return FR_OK;
    if (access(p->path, W_OK) != 0)
        return fr_fail(err, FR_ERR_UNSUPPORTED, p->path, "cannot be written: %s",
                       strerror(errno));
    FR_TRY(number(root, i, "scaling_max_freq", &p->before_kHz, err));
    FR_TRY(number(root, i, "cpuinfo_min_freq", &least_kHz, err));
    FR_TRY(number(root, i, "scaling_min_freq", &floor_kHz, err));
    c->least_kHz = fmax(c->least_kHz, fmax(least_kHz, floor_kHz));
    c->most_kHz = c->n ? fmin(c->most_kHz, p->before_kHz) : p->before_kHz;
    c->n++;
    return FR_OK;
}

static void read_list(struct cpufreq *c, const char *root) {
    char path[PATH_B];
    snprintf(path, sizeof path, "%.200s/cpu0/cpufreq/scaling_available_frequencies", root);
    FILE *file = fopen(path, "r");
    if (!file) return;
    c->list[fread(c->list, 1, sizeof c->list - 1, file)] = '\0';
    fclose(file);
}

static void close_cpufreq(void *state) {
    struct cpufreq *c = state;
    free(c->all);
    free(c);
}

static fr_status open_cpufreq(const char *argument, void **state, struct fr_error *err) {
    const char *root = argument && *argument ? argument : "/sys/devices/system/cpu";
    struct cpufreq *c = fr_calloc(1, sizeof *c);
    if (c) c->all = fr_calloc(PROCESSORS_MAX, sizeof *c->all);
    if (!c || !c->all) {
        free(c);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    fr_status status = FR_OK;
    for (int i = 0; i < PROCESSORS_MAX && status == FR_OK; i++) status = add(c, root, i, err);
    if (status == FR_OK && c->n == 0)
        status = fr_fail(err, FR_ERR_UNSUPPORTED, root,
                         "no processor there has cpufreq/scaling_max_freq");
    if (status == FR_OK && !(c->least_kHz < c->most_kHz))
        status = fr_fail(err, FR_ERR_UNSUPPORTED, root,
                         "its lowest clock, %.0f kHz, is its highest", c->least_kHz);
    if (status != FR_OK) {
        close_cpufreq(c);
        return status == FR_ERR_IO ? FR_ERR_UNSUPPORTED : status;
    }
    read_list(c, root);
    *state = c;
    return FR_OK;
}

static bool inside(const struct cpufreq *c, double kHz) {
    return kHz >= c->least_kHz && kHz <= c->most_kHz;
}

/* Where no list says which there are, in steps down from the highest. */
static int clocks_of(const void *state, double *clock_Hz) {
    const struct cpufreq *c = state;
    int n = 0;
    char *end = NULL;
    for (const char *at = c->list; n < FR_KNOB_CLOCKS_MAX; at = end) {
        double kHz = strtod(at, &end);
        if (end == at) break;
        if (inside(c, kHz)) clock_Hz[n++] = 1e3 * kHz;
    }
    for (double kHz = c->most_kHz; !*c->list && n < FR_KNOB_CLOCKS_MAX && kHz >= c->least_kHz;
         kHz -= STEP_KHZ)
        clock_Hz[n++] = 1e3 * kHz;
    fr_sort(clock_Hz, (size_t)n);
    return n;
}

static bool write_kHz(const char *path, double kHz) {
    FILE *file = fopen(path, "w");
    if (!file) return false;
    bool written = fprintf(file, "%.0f\n", kHz) > 0;
    return fclose(file) == 0 && written;
}

static fr_status set(void *state, double clock_Hz, struct fr_error *err) {
    struct cpufreq *c = state;
    for (int i = 0; i < c->n; i++) {
        double now_kHz = 0, kHz = clock_Hz / 1e3;
        if (!write_kHz(c->all[i].path, kHz))
            return fr_fail(err, FR_ERR_EXTERNAL, c->all[i].path, "did not take %.0f kHz", kHz);
        FR_TRY(fr_power_read_number(c->all[i].path, &now_kHz, err));
        if (fabs(now_kHz / kHz - 1) > 0.01)
            return fr_fail(err, FR_ERR_EXTERNAL, c->all[i].path, "made %.0f kHz of %.0f kHz",
                           now_kHz, kHz);
    }
    return FR_OK;
}

static bool restore(void *state) {
    struct cpufreq *c = state;
    bool all = true;
    for (int i = 0; i < c->n; i++) all &= write_kHz(c->all[i].path, c->all[i].before_kHz);
    return all;
}

const struct fr_knob fr_knob_cpufreq = {
    .name = "cpufreq",
    .summary = "the highest clock of every processor of the node, through Linux's cpufreq",
    .argument = "FOLDER, in place of /sys/devices/system/cpu",
    .open = open_cpufreq,
    .clocks = clocks_of,
    .set = set,
    .restore = restore,
    .close = close_cpufreq,
};
