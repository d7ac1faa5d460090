/* "#Entity   POWER" (with the names of other fields), "ID         W", then "GPU 0     312.450". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

/* Read the fields after "#Entity"; lines of GPUs have one word more before theirs. */
static bool header(struct fr_watts_log *log, const char *line) {
    char name[32];
    if (!fr_watts_part(line, 0, 0, name, sizeof name) || strncmp(name, "#Entity", 7) != 0)
        return false;
    log->power_column = -1;
    for (int i = 1; fr_watts_part(line, 0, i, name, sizeof name); i++)
        if (strcmp(name, "POWER") == 0) log->power_column = i + 1;
    return true;
}

static bool line(struct fr_watts_log *log, const char *line) {
    char kind[8], gpu[16], power[32];
    if (header(log, line)) return true;
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
