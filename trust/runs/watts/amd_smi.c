/* A table with a header: "timestamp,gpu,socket_power,..." of --csv, or "GPU  POWER  GPU_T ..." and "0  750 W  45 C ...". */
#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    static const char
        *const power[] = {"socket_power",         "power_usage", "current_socket_power",
                          "average_socket_power", "power",       NULL},
               *const device[] = {"gpu", "gpu_id", "gpu_bdf", NULL},
               *const time[] = {"timestamp", NULL}, *const other[] = {"entity", "power.draw",
                                                                      "device", "card",
                                                                      "host",   "hostname",
                                                                      NULL};
    static const struct fr_watts_columns columns = {power, device, time, other, 0};
    if (fr_watts_table_line(log, line, &columns, ',')) return true;
    /* The header of a table names both columns. */
    static const char *const gpu[] = {"gpu", NULL}, *const watts[] = {"power", NULL};
    static const struct fr_watts_columns words = {watts, gpu, time, other, 0};
    return fr_watts_table_line(log, line, &words, 0) && log->device_column >= 0;
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
