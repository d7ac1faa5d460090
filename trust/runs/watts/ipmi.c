/* "    Instantaneous power reading:                   220 Watts", again and again. */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    static const char label[] = "Instantaneous power reading:";
    const char *at = strstr(line, label);
    double power_W = 0;
    if (!at || sscanf(at + sizeof label - 1, "%lf Watts", &power_W) != 1) return false;
    fr_watts_add(log, "node", power_W);
    return true;
}

const struct fr_watts_format fr_watts_ipmi = {
    .name = "ipmi",
    .summary = "power of a node before its supplies, as its management controller tells it",
    .source = "while sleep 1; do ipmitool dcmi power reading; done",
    .measured_at = "plug",
    .line = line,
};
