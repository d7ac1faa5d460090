/* "# gpu   pwr  gtemp ...", with -o DT "#Date  Time  gpu  pwr ...", then "    0    71    33 ...". */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool header(struct fr_watts_log *log, const char *line) {
    char field[32];
    int power = -1, device = -1, time = -1, date = -1, n = 0;
    for (int i = 0; fr_watts_part(line, 0, i, field, sizeof field); i++) {
        const char *name = field + (*field == '#');
        if (!*name) continue; /* "# gpu" */
        if (strcmp(name, "pwr") == 0) power = n;
        if (strcmp(name, "gpu") == 0) device = n;
        if (strcmp(name, "Time") == 0) time = n;
        if (strcmp(name, "Date") == 0) date = n;
        n++;
    }
    if (power < 0 || device < 0) return false;
    log->power_column = power;
    log->device_column = device;
    log->time_column = date >= 0 && time == date + 1 ? date : time;
    log->time_words = date >= 0 ? 2 : 1;
    return true;
}

static bool line(struct fr_watts_log *log, const char *line) {
    static const char *const pwr[] = {"pwr", NULL}, *const gpu[] = {"gpu", NULL},
                             *const at[] = {"time", NULL};
    static const struct fr_watts_columns columns = {pwr, gpu, at, true, false, NULL, 0};
    char power[32], device[32], date[32], clock[32] = "", both[70];
    if (strchr(line, ',')) /* --format csv */
        return fr_watts_table_line(log, line, &columns, ',');
    if (header(log, line)) return true;
    line += strspn(line, " ");
    if (log->power_column < 0 || *line == '#') return false;
    if (!fr_watts_part(line, 0, log->power_column, power, sizeof power) ||
        !fr_watts_part(line, 0, log->device_column, device, sizeof device) ||
        device[strspn(device, "0123456789")])
        return false;
    if (log->time_column >= 0 && fr_watts_part(line, 0, log->time_column, date, sizeof date)) {
        if (log->time_words == 2)
            fr_watts_part(line, 0, log->time_column + 1, clock, sizeof clock);
        snprintf(both, sizeof both, "%s%s%s", date, *clock ? " " : "", clock);
        fr_watts_set_time(log, both);
    }
    return fr_watts_add_text(log, device, power);
}

const struct fr_watts_format fr_watts_nvidia_dmon = {
    .name = "nvidia-dmon",
    .summary = "power of NVIDIA GPUs, as the device monitor prints it",
    .source = "nvidia-smi dmon -s p -o DT",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
