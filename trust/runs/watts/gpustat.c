/* gpustat: "[0] NVIDIA H100 | 45'C, 100 % | 70000 / 81559 MB | 312 / 700 W". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

/* The number in brackets is taken for a rank's, and is the printer. */
static bool line(struct fr_watts_log *log, const char *line) {
    const char *bar = strchr(line, '|');
    int power = 0, limit = 0, end = 0;
    if (!bar || !*log->printer) return false;
    for (const char *at = line; (at = strstr(at, " / ")); at += 3) {
        const char *from = at;
        while (from > line && from[-1] >= '0' && from[-1] <= '9') from--;
        end = 0;
        if (sscanf(from, "%9d / %9d W%n", &power, &limit, &end) == 2 && end > 0) {
            fr_watts_add(log, "gpu", power);
            return true;
        }
    }
    return false;
}

const struct fr_watts_format fr_watts_gpustat = {
    .name = "gpustat",
    .summary = "power of NVIDIA GPUs, as gpustat prints it",
    .source = "gpustat -P -i 1",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
