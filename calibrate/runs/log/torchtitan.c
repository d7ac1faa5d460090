/* torchtitan's metrics: "step: 10  loss: 4.1 ...  memory: 47.54GiB(50.05%)  tps: 5,762  tflops: 309.97  mfu: 31.34%".
 *
 *  tps are tokens a second and device (torchtitan/components/metrics.py: tokens seen over time and
 *  non-data-parallel ranks), so that the step's time follows from ranks, samples and sequence, which the line does not say. */
#include <string.h>

#include "calibrate/runs/log.h"

/* Colours that a terminal would show. */
static void plain(const char *line, char *out, size_t room) {
    size_t n = 0;
    for (; *line && n + 1 < room; line++) {
        if (*line == '\033') {
            while (*line && *line != 'm') line++;
            if (!*line) break;
            continue;
        }
        out[n++] = *line;
    }
    out[n] = '\0';
}

static fr_log_line read(const char *line, struct fr_run_row *row, double *number) {
    char text[1024];
    double step = 0;
    (void)row;
    plain(line, text, sizeof text);
    if (!strstr(text, "step:") || !strstr(text, "tps:")) return FR_LOG_OTHER;
    if (!fr_log_number(text, "step:", &step) || !fr_log_number(text, "tps:", number))
        return FR_LOG_MALFORMED;
    return FR_LOG_RATE;
}

const struct fr_run_log fr_run_log_torchtitan = {
    .name = "torchtitan",
    .summary = "torchtitan's metrics: tokens a second and device",
    .source = "pytorch/torchtitan, torchtitan/components/metrics.py",
    .read = read,
};
