/* torchtitan's metrics: "step: 10  loss: 4.1 ...  memory: 47.54GiB(50.05%)  tps: 5,762  tflops: 309.97  mfu: 31.34%".
 *
 *  tps are tokens a second and device (torchtitan/components/metrics.py: tokens seen over time and
 *  non-data-parallel ranks), so that the step's time follows from ranks, samples and sequence, which the line does not say.
 *
 *  With --job.print_config it prints its configuration as one line of JSON, whose "activation_checkpoint" is read: mode
 *  none, full, or selective with selective_ac_option "op" (a number N is every N-th layer, which needs the model's); and
 *  "fsdp_reshard_after_forward". */
#include <stdio.h>
#include <string.h>

#include "trust/runs/log.h"

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

/* Is member @p name of the line's configuration, behind @p from, the word @p value? */
static bool is(const char *from, const char *name, const char *value) {
    char member[96];
    snprintf(member, sizeof member, "\"%s\": \"%s\"", name, value);
    return from && strstr(from, member);
}

static bool setting(const char *line, struct fr_run_row *row) {
    const char *of = strstr(line, "\"activation_checkpoint\": {");
    const char *recompute = is(of, "mode", "full")   ? "full"
                            : is(of, "mode", "none") ? "none"
                            : is(of, "mode", "selective") && is(of, "selective_ac_option", "op")
                                ? "selective_op"
                                : NULL;
    if (recompute) fr_run_row_set(row, "plan.recompute", "%s", recompute);
    bool whole = is(line, "fsdp_reshard_after_forward", "never");
    if (whole) fr_run_row_set(row, "plan.reshard_after_forward", "false");
    return recompute || whole;
}

static fr_log_line read(const char *line, struct fr_run_row *row, double *number) {
    char text[1024];
    double step = 0;
    if (setting(line, row)) return FR_LOG_SAID;
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
