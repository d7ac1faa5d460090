/* Slurm's energy counter of a node, as `scontrol show node NAME` prints it: "ConsumedJoules=".
 * It moves every AcctGatherNodeFreq seconds (30 is usual), from whatever plugin the site runs
 * (IPMI, RAPL, Cray's counters); so it is `sampled`, and short windows say nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/process.h"
#include "calibrate/measure/power.h"

/* scontrol itself waits for a controller that does not answer. */
enum { PATIENCE_S = 30 };

struct slurm {
    char command[256], node[128];
};

static fr_status ask(const struct slurm *s, double *energy_J, struct fr_error *err) {
    static const char key[] = "ConsumedJoules=";
    const char *const words[] = {s->command, "show", "node", s->node, NULL};
    struct fr_text text = {0};
    const struct fr_process show = {
        .words = words, .out.text = &text, .text_B = 8192, .limit_s = PATIENCE_S};
    struct fr_error why = {.status = FR_OK};
    fr_status status = fr_process_run(&show, NULL, &why);
    const char *at = strstr(fr_text_get(&text), key);
    char *end = NULL;
    double found = at ? strtod(at + sizeof key - 1, &end) : 0;
    bool stated = at && end > at + sizeof key - 1 && found > 0;
    fr_text_free(&text);
    if (status != FR_OK)
        return fr_fail(err, FR_ERR_IO, "slurm", "%.200s %.200s", why.where, why.detail);
    if (!stated)
        return fr_fail(err, FR_ERR_IO, "slurm", "node %s tells no ConsumedJoules", s->node);
    *energy_J = found;
    return FR_OK;
}

static fr_status open_slurm(const char *command, void **state, struct fr_error *err) {
    struct slurm *s = fr_calloc(1, sizeof *s);
    const char *node = getenv("SLURMD_NODENAME");
    double ignored;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(s->command, sizeof s->command, "%s", command ? command : "scontrol");
    if (node)
        snprintf(s->node, sizeof s->node, "%s", node);
    else
        gethostname(s->node, sizeof s->node - 1);
    fr_status status = ask(s, &ignored, err);
    if (status == FR_OK)
        *state = s;
    else
        free(s);
    return status == FR_ERR_IO ? FR_ERR_UNSUPPORTED : status;
}

static fr_status read_slurm(void *state, double now_s, double *value, int *quality,
                            struct fr_error *err) {
    (void)now_s;
    (void)quality;
    return ask(state, value, err);
}

const struct fr_meter fr_meter_slurm = {
    .name = "slurm",
    .summary = "Slurm's energy counter of the node",
    .argument = "COMMAND, instead of scontrol",
    .ask = "a Slurm cluster with an AcctGatherEnergyType other than none",
    .quality = FR_QUALITY_SAMPLED,
    .counter = true,
    .period_s = 10,
    .open = open_slurm,
    .read = read_slurm,
    .close = free,
};
