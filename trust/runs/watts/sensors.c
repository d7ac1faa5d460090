/* lm-sensors: the chip's name, below it "power1:  150.00 W  (avg = ...)" or "PPT:  31.00 W", again and again. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    double power_W = 0;
    char label[24], unit[8];
    if (!isspace((unsigned char)*line) && *line && !strpbrk(line, " :") && strchr(line, '-')) {
        snprintf(log->current, sizeof log->current, "%.60s", line);
        return true;
    }
    if (!*log->current || sscanf(line, "%23[^:]: %lf %7[a-zA-Z]", label, &power_W, unit) != 3 ||
        (strncmp(label, "power", 5) != 0 && strcmp(label, "PPT") != 0))
        return false;
    if (strcmp(unit, "mW") == 0) power_W /= 1000;
    if (strcmp(unit, "W") != 0 && strcmp(unit, "mW") != 0) return false;
    fr_watts_add(log, log->current, power_W);
    return true;
}

const struct fr_watts_format fr_watts_sensors = {
    .name = "sensors",
    .summary = "power of what the kernel's sensors see, as lm-sensors prints it",
    .source = "while sleep 1; do sensors; done",
    .measured_at = "device",
    .line = line,
};
