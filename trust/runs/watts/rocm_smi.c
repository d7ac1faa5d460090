/* "GPU[0] : Average Graphics Package Power (W): 95.0", "device,Average Graphics Package Power (W)" with "card0,95.0",
 * or the concise table: "0  [0x74a1 : 0x00]  35.0C  133.0W  ...". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/watts.h"

/* "GPU[0] : Average Graphics Package Power (W): 95.0", "GPU[0] : Average Graphics Package Power: 95.0 W" */
static bool of_card(struct fr_watts_log *log, const char *line) {
    const char *label = strstr(line, "Power"), *at = strrchr(line, ':');
    char text[32];
    long gpu = strtol(line + 4, NULL, 10);
    if (!label || !at || at < label || strstr(line, "Cap") || strstr(line, "Max")) return false;
    at += 1 + strspn(at + 1, " \t");
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "\r"), at);
    if (!strstr(label, "(W)") && !strchr(text, 'W') && strcmp(text, "N/A") != 0) return false;
    snprintf(log->current, sizeof log->current, "%ld", gpu);
    return fr_watts_add_text(log, log->current, text);
}

/* The first word that ends in W; the cap stands behind it. */
static bool of_table(struct fr_watts_log *log, const char *line) {
    char gpu[16], word[48];
    if (!fr_watts_part(line, 0, 0, gpu, sizeof gpu) || gpu[strspn(gpu, "0123456789")])
        return false;
    for (int i = 1; fr_watts_part(line, 0, i, word, sizeof word); i++) {
        size_t n = strlen(word);
        if (n < 2 || word[n - 1] != 'W' || !isdigit((unsigned char)*word)) continue;
        return strstr(line, "auto") || strstr(line, "manual") || strstr(line, "high") ||
                       strstr(line, "low")
                   ? fr_watts_add_text(log, gpu, word)
                   : false;
    }
    return false;
}

static bool line(struct fr_watts_log *log, const char *line) {
    static const char *const power[] = {"average graphics package power",
                                        "current socket graphics package power", NULL},
                             *const device[] = {"device", NULL},
                             *const time[] = {"timestamp", NULL};
    static const struct fr_watts_columns columns = {power, device, time, false, false, NULL, 0};
    line += strspn(line, " ");
    if (strncmp(line, "GPU[", 4) == 0) return of_card(log, line);
    return fr_watts_table_line(log, line, &columns, ',') || of_table(log, line);
}

const struct fr_watts_format fr_watts_rocm_smi = {
    .name = "rocm-smi",
    .summary = "power of AMD GPUs, as rocm-smi prints it, CSV or not",
    .source = "while sleep 1; do rocm-smi --showpower --csv; done",
    .measured_at = "device",
    .accelerators = true,
    .shared = true,
    .line = line,
};
