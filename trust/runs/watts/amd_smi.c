/* A table with a header: "timestamp,gpu,socket_power,..." of --csv, or "GPU  POWER  GPU_T ..." and "0  750 W  45 C ...";
 * or "GPU: 0", further down "SOCKET_POWER: 750 W". */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

/* A GPU's block of the long form. */
static bool of_gpu(struct fr_watts_log *log, const char *line) {
    static const char *const labels[] = {
        "SOCKET_POWER:", "CURRENT_SOCKET_POWER:", "AVERAGE_SOCKET_POWER:", NULL};
    char text[32];
    line += strspn(line, " \t");
    if (strncmp(line, "GPU: ", 5) == 0 && isdigit((unsigned char)line[5])) {
        snprintf(log->current, sizeof log->current, "%.*s", (int)strspn(line + 5, "0123456789"),
                 line + 5);
        return true;
    }
    for (int i = 0; labels[i] && *log->current; i++) {
        size_t n = strlen(labels[i]);
        if (strncmp(line, labels[i], n) != 0) continue;
        line += n + strspn(line + n, " ");
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\r"), line);
        return fr_watts_add_text(log, log->current, text);
    }
    return false;
}

static bool line(struct fr_watts_log *log, const char *line) {
    static const char
        *const power[] = {"socket_power",         "power_usage", "current_socket_power",
                          "average_socket_power", "power",       NULL},
               *const device[] = {"gpu", "gpu_id", "gpu_bdf", NULL},
               *const time[] = {"timestamp", NULL}, *const other[] = {"entity", "power.draw",
                                                                      "device", "card",
                                                                      "host",   "hostname",
                                                                      NULL};
    static const struct fr_watts_columns columns = {power, device, time, true, false, other, 0};
    if (of_gpu(log, line)) return true;
    if (fr_watts_table_line(log, line, &columns, ',')) return true;
    /* The header of a table names both columns. */
    static const char *const gpu[] = {"gpu", NULL}, *const watts[] = {"power", NULL};
    static const struct fr_watts_columns words = {watts, gpu, time, true, false, other, 0};
    return fr_watts_table_line(log, line, &words, 0);
}

const struct fr_watts_format fr_watts_amd_smi = {
    .name = "amd-smi",
    .summary = "power of AMD GPUs, as amd-smi prints it, CSV or not",
    .source = "amd-smi metric --power --csv --watch 1, or amd-smi monitor -p --watch 1",
    .measured_at = "device",
    .accelerators = true,
    .shared = true,
    .line = line,
};
