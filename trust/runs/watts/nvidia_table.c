/* The table of a plain nvidia-smi, again and again: "|   0  NVIDIA H100 ...", below it "| N/A 35C P0  71W / 700W |". */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    int gpu = 0, used = 0, power = 0, limit = 0;
    char text[24];
    if (sscanf(line, "| %d %n", &gpu, &used) == 1 && used > 0 && gpu >= 0 &&
        !strstr(line, "MiB /") && line[used] != '|' && !strchr(line, '%')) {
        snprintf(log->current, sizeof log->current, "%d", gpu);
        return true;
    }
    for (const char *at = *line == '|' ? strstr(line, "W /") : NULL; at;
         at = strstr(at + 1, "W /")) {
        const char *from = at;
        while (from > line && from[-1] >= '0' && from[-1] <= '9') from--;
        if (from == at || !*log->current || sscanf(from, "%9dW / %9dW", &power, &limit) != 2)
            continue;
        snprintf(text, sizeof text, "%d", power);
        return fr_watts_add_text(log, log->current, text);
    }
    return false;
}

const struct fr_watts_format fr_watts_nvidia_table = {
    .name = "nvidia-table",
    .summary = "power of NVIDIA GPUs, from the table that nvidia-smi prints",
    .source = "nvidia-smi -l 1",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
