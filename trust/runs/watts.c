#include "trust/runs/watts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const double MOST_W = 1e9; /* beyond it is none */

#define FR_WATTS(name) extern const struct fr_watts_format fr_watts_##name;
#include "trust/runs/watts_list.h"
#undef FR_WATTS

#define FR_WATTS(name) &fr_watts_##name,
const struct fr_watts_format *const fr_watts_formats[] = {
#include "trust/runs/watts_list.h"
    NULL};
#undef FR_WATTS

/* ---- for formats ----------------------------------------------------------------------------- */

static struct fr_watts_device *device_of(struct fr_watts_log *log, const char *name) {
    for (int i = 0; i < log->n_devices; i++)
        if (strcmp(log->device[i].name, name) == 0) return &log->device[i];
    if (log->n_devices == FR_WATTS_DEVICES) return NULL;
    struct fr_watts_device *d = &log->device[log->n_devices++];
    snprintf(d->name, sizeof d->name, "%s", name);
    return d;
}

/* The array doubles at powers of two. */
void fr_watts_add(struct fr_watts_log *log, const char *device, double power_W) {
    char name[FR_WATTS_NAME_B];
    snprintf(name, sizeof name, "%.*s", FR_WATTS_NAME_B - 1, device);
    struct fr_watts_device *d = power_W >= 0 && power_W <= MOST_W ? device_of(log, name) : NULL;
    if (!d) return;
    if ((d->n & (d->n - 1)) == 0) {
        double *more = fr_realloc(d->power_W, d->n ? 2 * (size_t)d->n : 1, sizeof *more);
        log->memory_full |= !more;
        if (!more) return;
        d->power_W = more;
    }
    d->power_W[d->n++] = power_W;
}

bool fr_watts_field(const char *line, int i, char *out, size_t room) {
    for (; i > 0 && line; i--) {
        line = strchr(line, ',');
        if (line) line++;
    }
    if (!line) return false;
    while (isspace((unsigned char)*line)) line++;
    size_t n = strcspn(line, ",");
    while (n > 0 && isspace((unsigned char)line[n - 1])) n--;
    snprintf(out, room, "%.*s", (int)(n < room ? n : room - 1), line);
    return true;
}

/* ---- a log ----------------------------------------------------------------------------------- */

static void free_log(struct fr_watts_log *log) {
    for (int i = 0; i < log->n_devices; i++) free(log->device[i].power_W);
    *log = (struct fr_watts_log){.power_column = -1, .device_column = -1};
}

static int read_as(const struct fr_watts_format *format, const char *text, size_t length,
                   char *line, struct fr_watts_log *log) {
    int readings = 0;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end ? (size_t)(end - (text + at)) : length - at;
        memcpy(line, text + at, n);
        line[n] = '\0';
        format->line(log, line);
        at += n + 1;
    }
    for (int i = 0; i < log->n_devices; i++) readings += log->device[i].n;
    return readings;
}

/* Mean from the first to the last reading above the middle. */
static double mean_W(const struct fr_watts_device *d, int *used) {
    double least_W = INFINITY, most_W = 0, sum_W = 0;
    int first = 0, last = d->n - 1;
    for (int i = 0; i < d->n; i++) {
        least_W = fmin(least_W, d->power_W[i]);
        most_W = fmax(most_W, d->power_W[i]);
    }
    double middle_W = 0.5 * (least_W + most_W);
    while (first < last && d->power_W[first] < middle_W) first++;
    while (last > first && d->power_W[last] < middle_W) last--;
    for (int i = first; i <= last; i++) sum_W += d->power_W[i];
    *used += last - first + 1;
    return sum_W / (last - first + 1);
}

static void sum_up(const struct fr_watts_log *log, struct fr_watts *watts) {
    watts->devices = log->n_devices;
    for (int i = 0; i < log->n_devices; i++) {
        watts->power_W += mean_W(&log->device[i], &watts->used);
        watts->readings += log->device[i].n;
    }
}

fr_status fr_watts_read(const char *text, size_t length, const char *name,
                        struct fr_watts *watts, struct fr_error *err) {
    struct fr_watts_log *log = fr_calloc(1, sizeof *log);
    char *line = fr_malloc(length + 1, 1);
    bool full = !log || !line;
    *watts = (struct fr_watts){.format = NULL};
    for (int i = 0; fr_watts_formats[i] && !full && !watts->format; i++) {
        free_log(log);
        if (read_as(fr_watts_formats[i], text, length, line, log) > 0) {
            watts->format = fr_watts_formats[i];
            sum_up(log, watts);
        }
        full = log->memory_full;
    }
    if (log) free_log(log);
    free(log);
    free(line);
    if (full) return fr_fail(err, FR_ERR_NOMEM, NULL, "the log does not fit in memory");
    if (watts->format) return FR_OK;
    return fr_fail(
        err, FR_ERR_INPUT, name,
        "no line of it tells a power; expected nvidia-smi --query-gpu=...,power.draw "
        "--format=csv, dcgmi dmon -e 155, ipmitool dcmi power reading or perf stat "
        "-I -x, -e power/energy-pkg/");
}
