/* Energy of a step of pre-training with its time predicted: Perseus' trainings at full clock that a transformer
 * describes.
 *
 *      E = N T P
 *
 *  N devices; T the time of the preset tuned to the device's other networks (forerun tune), P mean power from
 *  their stages' shapes and the device's other trainings (pipelined.h).  Beside it what the preset says
 *  alone, its own power included. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/outcome/cost.h"
#include "studies/energy/pipelined.h"
#include "studies/training/procedure.h"

static const char *const file = "energy/perseus_sosp24_training.csv";

/* Boards of both devices; the preset's A100 is one of 400 W, held to it. */
static const int64_t BOARD_W = 300;

static const struct {
    const char *name, *preset;
} devices[] = {{"A40", "a40"}, {"A100", "dgx-a100"}};

static void hold_to_board(struct fr_runs *runs) {
    for (int i = 0; i < runs->count; i++) {
        runs->items[i].plan.cap_W = &BOARD_W;
        runs->items[i].plan.n_cap_W = 1;
    }
}

static const struct fr_pipelined *training_of(const struct fr_pipelined_all *t,
                                              const char *device, const struct fr_run *run) {
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->items[i].device, device) == 0 &&
            strcmp(t->items[i].model, fr_run_row_get(run->row, "model.name")) == 0)
            return &t->items[i];
    return NULL;
}

struct steps {
    const struct fr_pipelined_all *trainings;
    struct fr_energy_rows tuned, alone;
};

static fr_status add_run(struct steps *s, const char *device, const struct fr_cluster *cluster,
                         const struct fr_run *run, const struct fr_scored *scored,
                         struct fr_error *err) {
    const struct fr_pipelined *x = training_of(s->trainings, device, run);
    struct fr_job job = {.workload = run->workload, .plan = run->plan, .cluster = *cluster};
    struct fr_outcome out;
    double mean_W;
    if (!x || isnan(scored->predicted_s)) return FR_OK;
    FR_TRY(fr_pipelined_full_W(s->trainings, x, &mean_W, err));
    fr_cost(&job, &job.plan, &out);
    struct fr_energy_row row = {.measured = run->measured_J,
                                .predicted = x->devices * scored->predicted_s * mean_W,
                                .sigma = NAN};
    snprintf(row.group, sizeof row.group, "%s/%s", device, x->model);
    snprintf(row.id, sizeof row.id, "%.79s", run->id);
    fr_energy_rows_add(&s->tuned, &row);
    row.predicted = out.energy_J;
    fr_energy_rows_add(&s->alone, &row);
    return FR_OK;
}

static fr_status add_device(struct steps *s, int device, struct fr_error *err) {
    static const char *const networks[] = {"model", NULL};
    const struct fr_tune_options options = fr_procedure_tuning();
    const struct fr_table_selection on = {.device = devices[device].name};
    struct fr_cluster cluster = {0};
    struct fr_table_set set;
    struct fr_scored *scored = NULL;
    fr_status status = fr_table_read(file, &set, err);
    if (status == FR_OK) status = fr_table_cluster(devices[device].preset, &cluster, err);
    if (status == FR_OK) {
        fr_table_keep(&set, &on);
        hold_to_board(&set.runs);
        scored = fr_calloc((size_t)set.n + 1, sizeof *scored);
        status = scored ? fr_study_cross(&cluster, set.use, set.n, NULL, 0, networks, &options,
                                         scored, NULL, err)
                        : fr_fail(err, FR_ERR_NOMEM, NULL, "the rows do not fit in memory");
    }
    for (int i = 0; i < set.n && status == FR_OK; i++)
        status = add_run(s, devices[device].name, &cluster, set.use[i], &scored[i], err);
    free(scored);
    fr_cluster_free(&cluster);
    fr_table_free(&set);
    return status;
}

fr_status fr_energy_steps(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_table_limits limits = {.mean = 0.12}, stated = {.mean = 0};
    struct fr_pipelined_all t;
    fr_status status = fr_pipelined_read(&t, err);
    struct steps s = {.trainings = &t};
    for (int i = 0; i < (int)(sizeof devices / sizeof *devices) && status == FR_OK; i++)
        status = add_device(&s, i, err);
    if (status == FR_OK)
        status = fr_energy_rows_table(
            r, &s.tuned, "step_energy",
            "time predicted too: preset tuned to the device's other network; power from the "
            "device's other trainings",
            "J", &limits, err);
    if (status == FR_OK)
        status =
            fr_energy_rows_table(r, &s.alone, "step_energy_preset",
                                 "time and power of the presets alone (what waits on the A40 "
                                 "is set from these), the A100 held to "
                                 "the board's 300 W",
                                 "J", &stated, err);
    free(s.tuned.items);
    free(s.alone.items);
    free(t.items);
    return status;
}
