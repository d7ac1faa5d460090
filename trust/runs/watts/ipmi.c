/* "    Instantaneous power reading:                   220 Watts", again and again. */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    static const char label[] = "Instantaneous power reading:";
    char at_once[16];
    static const char *const sensors[] = {
        "Pwr Consumption", "System Level", "Total_Power", "PS Total Power",  "Sys Power",
        "SYS_POWER",       "Total Power",  "Power Meter", "PWR_Consumption", NULL};
    const char *at = strstr(line, label), *bar;
    double power_W = 0;
    if (at) {
        if (sscanf(at + sizeof label - 1, "%lf Watts", &power_W) != 1) return false;
        fr_watts_add(log, "node", power_W);
        return true;
    }
    /* FreeIPMI: "Current Power                        : 420 Watts" */
    if (sscanf(line, "Current Power : %lf %9s", &power_W, at_once) == 2 &&
        strncmp(at_once, "Watts", 5) == 0) {
        fr_watts_add(log, "node", power_W);
        return true;
    }
    /* Redfish: "PowerConsumedWatts": 420 */
    at = strstr(line, "\"PowerConsumedWatts\"");
    if (at && sscanf(at + strlen("\"PowerConsumedWatts\""), " : %lf", &power_W) == 1) {
        fr_watts_add(log, "node", power_W);
        return true;
    }
    /* "Pwr Consumption  | 420.000  | Watts | ok ...", "System Level | 77h | ok | 7.1 | 420 Watts" */
    for (int i = 0; sensors[i]; i++) {
        if (strncmp(line, sensors[i], strlen(sensors[i])) != 0 || !strstr(line, "Watts"))
            continue;
        for (bar = strchr(line, '|'); bar; bar = strchr(bar + 1, '|')) {
            int end = 0;
            if (sscanf(bar + 1, " %lf Watts%n", &power_W, &end) != 1) continue;
            if (end == 0 &&
                (sscanf(bar + 1, " %lf | Watts%n", &power_W, &end) != 1 || end == 0))
                continue;
            fr_watts_add(log, "node", power_W);
            return true;
        }
    }
    return false;
}

const struct fr_watts_format fr_watts_ipmi = {
    .name = "ipmi",
    .summary = "power of a node before its supplies, as its management controller tells it",
    .source = "while sleep 1; do ipmitool dcmi power reading; done",
    .measured_at = "plug",
    .line = line,
};
