/* "GPU 00000000:0A:00.0", further down "Power Draw : 71.34 W", again and again. */
#include <stdio.h>
#include <string.h>

#include "trust/runs/watts.h"

/* Text after the colon of the line with @p label; NULL: another line. */
static const char *value_of(const char *line, const char *label) {
    size_t n = strlen(label);
    if (strncmp(line, label, n) != 0) return NULL;
    line += n;
    line += strspn(line, " ");
    if (*line++ != ':') return NULL;
    return line + strspn(line, " ");
}

static bool line(struct fr_watts_log *log, const char *line) {
    const char *value;
    char text[48];
    line += strspn(line, " \t");
    if ((value = value_of(line, "Timestamp"))) {
        fr_watts_set_time(log, value);
        return true;
    }
    if (strncmp(line, "GPU ", 4) == 0 && strchr(line, ':') && !strstr(line, " : ")) {
        snprintf(log->current, sizeof log->current, "%.60s", line + 4);
        log->other_section = false;
        return true;
    }
    size_t n = strlen(line);
    static const char section[] = "Power Readings";
    if (n > sizeof section && strcmp(line + n - (sizeof section - 1), section) == 0) {
        log->other_section = strncmp(line, "GPU Power", 9) != 0; /* a memory's, a module's */
        return true;
    }
    if (log->other_section) return false;
    /* Newer ones print an average and an instantaneous one; one of them counts. */
    if (!(value = value_of(line, "Power Draw")) &&
        !(value = value_of(line, "Instantaneous Power Draw")))
        return false;
    if (!*log->current) return false;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(value, "\r"), value);
    return fr_watts_add_text(log, log->current, text);
}

const struct fr_watts_format fr_watts_nvidia_query = {
    .name = "nvidia-query",
    .summary = "power of NVIDIA GPUs, as the long query prints it",
    .source = "nvidia-smi -q -d POWER -l 1",
    .measured_at = "device",
    .accelerators = true,
    .line = line,
};
