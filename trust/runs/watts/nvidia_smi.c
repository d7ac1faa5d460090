/* "timestamp, index, power.draw [W]", then a line a GPU: "2024/05/10 11:38:02.123, 0, 312.45 W". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

/* Of the GPU: its index, else its bus or serial. */
static bool header(struct fr_watts_log *log, const char *line) {
    static const char *const names[] = {"index", "uuid", "gpu_uuid", "pci.bus_id", "serial"};
    char field[64];
    if (!strstr(line, "power.draw")) return false;
    log->power_column = log->device_column = -1;
    for (int i = 0; fr_watts_field(line, i, field, sizeof field); i++) {
        if (strncmp(field, "power.draw", 10) == 0 && log->power_column < 0)
            log->power_column = i;
        for (size_t k = 0; k < sizeof names / sizeof *names && log->device_column < 0; k++)
            if (strcmp(field, names[k]) == 0) log->device_column = i;
    }
    return true;
}

static bool line(struct fr_watts_log *log, const char *line) {
    char power[32], device[64] = "", *end = NULL;
    if (header(log, line)) return true;
    if (log->power_column < 0 || !fr_watts_field(line, log->power_column, power, sizeof power))
        return false;
    if (log->device_column >= 0)
        fr_watts_field(line, log->device_column, device, sizeof device);
    double power_W = strtod(power, &end);
    if (end == power || (*end && strcmp(end, " W") != 0)) return false;
    fr_watts_add(log, device, power_W);
    return true;
}

const struct fr_watts_format fr_watts_nvidia_smi = {
    .name = "nvidia-smi",
    .summary = "power of NVIDIA GPUs, as CSV with its header",
    .source = "nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -l 1",
    .measured_at = "device",
    .line = line,
};
