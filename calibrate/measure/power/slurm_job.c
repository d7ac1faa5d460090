/* Slurm's energy of the job, as `sstat -j JOB --allsteps -n -P -o ConsumedEnergyRaw` prints it: a line a step, joules
 * of all its nodes since it began.  The harness meters a node, so that a node's share counts.  It moves as
 * the node's counter does (AcctGatherNodeFreq); but what a job before it drew is not in it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/process.h"
#include "calibrate/measure/power.h"

enum { PATIENCE_S = 30 };

struct job {
    char command[256], id[64];
    double nodes;
};

/* Lines that are no number are steps that tell nothing; bigger than a job can draw is how Slurm says so. */
static double sum_of(const char *text, bool *stated) {
    double sum_J = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char *end = NULL;
        double energy_J = strtod(at, &end);
        if (strchr("\n", *at) || end == at || !(energy_J >= 0) || energy_J > 1e15) continue;
        *stated = true;
        sum_J += energy_J;
    }
    return sum_J;
}

static fr_status ask(const struct job *j, double *energy_J, struct fr_error *err) {
    const char *const words[] = {
        j->command, "-j", j->id, "--allsteps", "-n", "-P", "-o", "ConsumedEnergyRaw", NULL};
    struct fr_text text = {0};
    const struct fr_process show = {
        .words = words, .out.text = &text, .text_B = 65536, .limit_s = PATIENCE_S};
    struct fr_error why = {.status = FR_OK};
    bool stated = false;
    fr_status status = fr_process_run(&show, NULL, &why);
    double sum_J = sum_of(fr_text_get(&text), &stated);
    fr_text_free(&text);
    if (status != FR_OK)
        return fr_fail(err, FR_ERR_IO, "slurm_job", "%.200s %.200s", why.where, why.detail);
    if (!stated || !(sum_J > 0))
        return fr_fail(err, FR_ERR_IO, "slurm_job", "job %s tells no ConsumedEnergyRaw", j->id);
    *energy_J = sum_J / j->nodes;
    return FR_OK;
}

static fr_status open_job(const char *command, void **state, struct fr_error *err) {
    const char *id = getenv("SLURM_JOB_ID"), *nodes = getenv("SLURM_JOB_NUM_NODES");
    double ignored;
    if (!id || !*id)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "slurm_job",
                       "no job of Slurm: SLURM_JOB_ID is not set");
    struct job *j = fr_calloc(1, sizeof *j);
    if (!j) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    snprintf(j->command, sizeof j->command, "%s", command ? command : "sstat");
    snprintf(j->id, sizeof j->id, "%s", id);
    j->nodes = fmax(1, nodes ? strtod(nodes, NULL) : 1);
    fr_status status = ask(j, &ignored, err);
    if (status == FR_OK)
        *state = j;
    else
        free(j);
    return status == FR_ERR_IO ? FR_ERR_UNSUPPORTED : status;
}

static fr_status read_job(void *state, double now_s, double *value, int *quality,
                          struct fr_error *err) {
    (void)now_s;
    (void)quality;
    return ask(state, value, err);
}

const struct fr_meter fr_meter_slurm_job = {
    .name = "slurm_job",
    .summary = "Slurm's energy of the job, a node's share",
    .argument = "COMMAND, instead of sstat",
    .ask = "a job on a Slurm cluster with an AcctGatherEnergyType other than none",
    .quality = FR_QUALITY_SAMPLED,
    .counter = true,
    .by_request = true,
    .period_s = 10,
    .open = open_job,
    .read = read_job,
    .close = free,
};
