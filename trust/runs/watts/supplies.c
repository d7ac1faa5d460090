/* Input of each power supply of a node, where no sensor tells their sum: "PS1 Input Power  | 420.000 | Watts | ok". */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    const char *bar = strchr(line, '|');
    char name[32];
    double power_W = 0;
    size_t n = strspn(line, "PSU_");
    if (n < 2 || !isdigit((unsigned char)line[n]) || !bar || !strstr(line, "Watts") ||
        (!strstr(line, "Input") && !strstr(line, "In Power") && !strstr(line, "PIN")))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " |"), line);
    for (; bar; bar = strchr(bar + 1, '|')) {
        int end = 0;
        if (sscanf(bar + 1, " %lf Watts%n", &power_W, &end) != 1 || end == 0) {
            end = 0;
            if (sscanf(bar + 1, " %lf | Watts%n", &power_W, &end) != 1 || end == 0) continue;
        }
        fr_watts_add(log, name, power_W);
        return true;
    }
    return false;
}

const struct fr_watts_format fr_watts_supplies = {
    .name = "supplies",
    .summary = "power of a node's supplies, each by its own sensor",
    .source = "while sleep 1; do ipmitool sensor; done",
    .measured_at = "plug",
    .line = line,
};
