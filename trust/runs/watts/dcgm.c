/* "#Entity   POWER" (with the names of other fields), "ID         W", then "GPU 0     312.450". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

/* Read the fields after "#Entity" or "# Entity"; lines of GPUs have one word more before theirs. */
static bool header(struct fr_watts_log *log, const char *line) {
    char name[32];
    if (!fr_watts_part(line, 0, 0, name, sizeof name)) return false;
    int apart = strcmp(name, "#") == 0;
    if (apart && !fr_watts_part(line, 0, 1, name, sizeof name)) return false;
    if (strncmp(name + (*name == '#'), "Entity", 6) != 0) return false;
    log->power_column = -1;
    for (int i = 1; fr_watts_part(line, 0, i + apart, name, sizeof name); i++)
        if (strncmp(name, "POW", 3) == 0 || strcmp(name, "PWR") == 0) log->power_column = i + 1;
    return true;
}

/* The value of a label, "gpu=\"0\"". */
static void label_of(const char *line, const char *label, char *out, size_t capacity) {
    const char *at = strstr(line, label);
    *out = '\0';
    if (at)
        snprintf(out, capacity, "%.*s", (int)strcspn(at + strlen(label), "\""),
                 at + strlen(label));
}

/* "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",...,Hostname=\"n0\"} 312.4", as its exporter prints it */
static bool exported(struct fr_watts_log *log, const char *line) {
    char gpu[24], host[32], device[FR_WATTS_NAME_B], power[32];
    const char *close = strchr(line, '}');
    if (strncmp(line, "DCGM_FI_DEV_POWER_USAGE{", 24) != 0 || !close) return false;
    label_of(line, "gpu=\"", gpu, sizeof gpu);
    label_of(line, "Hostname=\"", host, sizeof host);
    snprintf(device, sizeof device, "%s/%s", host, gpu);
    return fr_watts_part(close + 1, 0, 0, power, sizeof power) &&
           fr_watts_add_text(log, device, power);
}

static bool line(struct fr_watts_log *log, const char *line) {
    char kind[8], gpu[16], power[32];
    if (exported(log, line) || header(log, line)) return true;
    if (log->power_column < 0 || !fr_watts_part(line, 0, 0, kind, sizeof kind) ||
        strcmp(kind, "GPU") != 0 || !fr_watts_part(line, 0, 1, gpu, sizeof gpu) ||
        !fr_watts_part(line, 0, log->power_column, power, sizeof power))
        return false;
    return fr_watts_add_text(log, gpu, power);
}

const struct fr_watts_format fr_watts_dcgm = {
    .name = "dcgm",
    .summary = "power of NVIDIA GPUs, as DCGM prints it",
    .source = "dcgmi dmon -e 155",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
