/* "#Entity   POWER" (with the names of other fields), "ID         W", then "GPU 0     312.450". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

/* The @p i-th word; "": there is none. */
static const char *word(const char *line, int i, char *out, size_t room) {
    for (;; i--) {
        while (isspace((unsigned char)*line)) line++;
        size_t n = strcspn(line, " \t\r");
        if (i == 0 || n == 0) {
            snprintf(out, room, "%.*s", (int)(n < room ? n : room - 1), line);
            return out;
        }
        line += n;
    }
}

/* Of the fields behind "#Entity"; lines of GPUs have a word more before theirs. */
static bool header(struct fr_watts_log *log, const char *line) {
    char name[32];
    if (strncmp(word(line, 0, name, sizeof name), "#Entity", 7) != 0) return false;
    log->power_column = -1;
    for (int i = 1; *word(line, i, name, sizeof name); i++)
        if (strcmp(name, "POWER") == 0) log->power_column = i + 1;
    return true;
}

static bool line(struct fr_watts_log *log, const char *line) {
    char kind[8], gpu[16], power[32], *end = NULL;
    if (header(log, line)) return true;
    if (log->power_column < 0 || strcmp(word(line, 0, kind, sizeof kind), "GPU") != 0)
        return false;
    word(line, log->power_column, power, sizeof power);
    double power_W = strtod(power, &end);
    if (end == power || *end) return false;
    fr_watts_add(log, word(line, 1, gpu, sizeof gpu), power_W);
    return true;
}

const struct fr_watts_format fr_watts_dcgm = {
    .name = "dcgm",
    .summary = "power of NVIDIA GPUs, as DCGM prints it",
    .source = "dcgmi dmon -e 155",
    .measured_at = "device",
    .line = line,
};
