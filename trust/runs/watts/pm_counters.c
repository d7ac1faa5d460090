/* Counters of HPE Cray nodes: "520 W 1746763068123456 us" of /sys/cray/pm_counters/power; with a path before it, as
 * grep prints it, the file's name says of what. */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    const char *path = strstr(line, "pm_counters/"), *at = line;
    double power_W = 0, time_us = 0;
    char unit[4];
    if (path) {
        path += strlen("pm_counters/");
        at = path + strcspn(path, ": \t");
        at += strspn(at, ": \t");
        if (strncmp(path, "power", 5) != 0 || strchr(": \t", path[5]) == NULL) return false;
    }
    if (sscanf(at, "%lf W %lf %3s", &power_W, &time_us, unit) != 3 || strcmp(unit, "us") != 0)
        return false;
    log->time_s = time_us * 1e-6;
    fr_watts_add(log, "node", power_W);
    return true;
}

const struct fr_watts_format fr_watts_pm_counters = {
    .name = "pm_counters",
    .summary = "power of an HPE Cray node, as its counters tell it",
    .source = "while sleep 1; do cat /sys/cray/pm_counters/power; done",
    .measured_at = "node",
    .line = line,
};
