/* The long query as XML, again and again: <gpu id="00000000:0A:00.0">, further down <gpu_power_readings> (before 2023
 * <power_readings>) with <power_draw>71.34 W</power_draw>.  Newer ones have <average_power_draw> and
 * <instant_power_draw>, of which the latter counts. */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

/* The text of element @p name on the line; false: another line. */
static bool text_of(const char *line, const char *name, char *out, size_t capacity) {
    const size_t n = strlen(name);
    if (*line != '<' || strncmp(line + 1, name, n) != 0 || line[1 + n] != '>') return false;
    line += n + 2;
    snprintf(out, capacity, "%.*s", (int)strcspn(line, "<"), line);
    return true;
}

static bool line(struct fr_watts_log *log, const char *line) {
    char text[64];
    line += strspn(line, " \t");
    if (text_of(line, "timestamp", text, sizeof text)) {
        fr_watts_set_time(log, text);
        return false;
    }
    if (strncmp(line, "<gpu id=\"", 9) == 0) {
        snprintf(log->current, sizeof log->current, "%.*s", (int)strcspn(line + 9, "\""),
                 line + 9);
        log->other_section = true;
        return false;
    }
    if (strstr(line, "power_readings>")) /* a memory's and a module's are others */
        log->other_section = strncmp(line, "<gpu_power_readings>", 20) != 0 &&
                             strncmp(line, "<power_readings>", 16) != 0;
    if (log->other_section || !*log->current) return false;
    return (text_of(line, "power_draw", text, sizeof text) ||
            text_of(line, "instant_power_draw", text, sizeof text)) &&
           fr_watts_add_text(log, log->current, text);
}

const struct fr_watts_format fr_watts_nvidia_xml = {
    .name = "nvidia-xml",
    .summary = "power of NVIDIA GPUs, as the long query's XML",
    .source = "nvidia-smi -q -x -d POWER -l 1",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
