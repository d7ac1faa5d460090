/* Zeus' trainings of pipelines under power limits, one for all or one a stage, their energy from NVML;
 * conventions as in Perseus' (trust/runs/reader/perseus.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/merak.h"

static const char *const columns[] = {"knob", "power_limits_W", "model_name",
                                      "measured_iter_time_s", NULL};

/* "300/275/300/300", one for each stage. */
static bool set_limits(const char *text, struct fr_run_row *out) {
    char list[144] = "[";
    const char *at = text;
    for (int i = 0;; i++) {
        char *end = NULL;
        double limit_W = strtod(at, &end);
        size_t n = strlen(list);
        if (end == at || !(limit_W > 0)) return false;
        snprintf(list + n, sizeof list - n, "%s\"%g W\"", i ? ", " : "", limit_W);
        at = end;
        if (*at != '/') break;
        at++;
    }
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "]");
    fr_run_row_set(out, "plan.power_cap", "%s", list);
    return *at == '\0';
}

static fr_run_skip read(const struct fr_run_source *in, struct fr_run_row *out) {
    fr_run_skip skip =
        fr_run_merak(in, "model_name", "partition_method", "microbatch_size", out);
    if (skip != FR_RUN_USABLE) return skip;
    return set_limits(fr_run_cell(in, "power_limits_W"), out) ? FR_RUN_USABLE : FR_RUN_CLOCKS;
}

const struct fr_run_reader fr_run_reader_zeus = {
    .name = "zeus",
    .summary = "pipelines of Zeus under power limits: time, and energy of the devices",
    .source =
        "ml-energy/zeus, branch kronos, sosp24_data/zeus (You et al., NSDI 2023); merak/ there",
    .columns = columns,
    .read = read,
};
