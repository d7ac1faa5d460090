/* Energy counters of the processors (RAPL), by interval: "     1.001029412,45.67,Joules,power/energy-pkg/,...":
 * seconds since the start, energy since the line of the interval before.  Packages and memory add up; core
 * and GPU are parts of the package. */
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

static bool line(struct fr_watts_log *log, const char *line) {
    char time[32], energy[32], unit[16], event[64], *end = NULL;
    if (!fr_watts_field(line, 0, time, sizeof time) ||
        !fr_watts_field(line, 1, energy, sizeof energy) ||
        !fr_watts_field(line, 2, unit, sizeof unit) ||
        !fr_watts_field(line, 3, event, sizeof event) || strcmp(unit, "Joules") != 0 ||
        (!strstr(event, "energy-pkg") && !strstr(event, "energy-ram")))
        return false;
    double time_s = strtod(time, NULL), energy_J = strtod(energy, &end);
    if (end == energy || *end) return false;
    if (time_s > log->last_s) {
        log->before_s = log->last_s;
        log->last_s = time_s;
    }
    if (log->last_s > log->before_s)
        fr_watts_add(log, event, energy_J / (log->last_s - log->before_s));
    return true;
}

const struct fr_watts_format fr_watts_perf = {
    .name = "perf",
    .summary = "power of the processors and their memory, from RAPL's counters",
    .source = "perf stat -a -x, -I 1000 -e power/energy-pkg/,power/energy-ram/",
    .measured_at = "device",
    .line = line,
};
