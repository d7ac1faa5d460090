/* "timestamp, index, power.draw [W]", then a line a GPU: "2024/05/10 11:38:02.123, 0, 312.45 W". */
#include "trust/runs/watts.h"

/* The GPU is its index, else its bus or serial. */
static bool line(struct fr_watts_log *log, const char *line) {
    static const char *const power[] = {"power.draw", NULL},
                             *const device[] = {"index",      "uuid",       "gpu_uuid",
                                                "pci.bus_id", "gpu_bus_id", "pci.bus",
                                                "serial",     "gpu_serial", NULL},
                             *const time[] = {"timestamp", NULL};
    static const struct fr_watts_columns columns = {power, device, time, false, false, NULL, 0};
    return fr_watts_table_line(log, line, &columns, ',');
}

const struct fr_watts_format fr_watts_nvidia_smi = {
    .name = "nvidia-smi",
    .summary = "power of NVIDIA GPUs, as CSV with its header",
    .source = "nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -l 1",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
