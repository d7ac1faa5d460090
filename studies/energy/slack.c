/* Energy that clocks of passes save at no more time, beside the measured saving of Perseus' plans.  The rows are its
 * trainings that a transformer describes, priced on presets as they are, nothing fitted.  A training of a device
 * counts its mean at full clock, and the least energy among its plans with clocks within a percent of that time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "studies/energy/parts.h"

static const char *const file = "energy/perseus_sosp24_training.csv";

struct measured {
    double full_s, full_J, runs, least_J;
};

static bool is_of(const struct fr_csv *csv, int row, const struct fr_run *run) {
    return strcmp(fr_energy_text(csv, row, "gpu"), fr_run_row_get(run->row, "note.device")) ==
               0 &&
           strcmp(fr_energy_text(csv, row, "model"), fr_run_row_get(run->row, "model.name")) ==
               0;
}

static struct measured measured_of(const struct fr_csv *csv, const struct fr_table_set *set,
                                   const struct fr_run *run) {
    struct measured m = {.least_J = INFINITY};
    for (int i = 0; i < set->n; i++) {
        if (strcmp(set->use[i]->group, run->group) != 0) continue;
        m.full_s += set->use[i]->measured_s;
        m.full_J += set->use[i]->measured_J;
        m.runs++;
    }
    m.full_s /= m.runs;
    m.full_J /= m.runs;
    for (int row = 0; row < csv->n_rows; row++)
        if (is_of(csv, row, run) &&
            fr_energy_number(csv, row, "measured_iter_time_s") <= 1.01 * m.full_s)
            m.least_J =
                fmin(m.least_J, fr_energy_number(csv, row, "measured_iter_energy_J_all_gpus"));
    return m;
}

/* Boards of both have the same limit; the preset's A100 is another one. */
static const double BOARD_W = 300;

static fr_status add(struct fr_reproduction *r, const struct fr_run *run,
                     const struct measured *m, struct fr_error *err) {
    bool a40 = strncmp(fr_run_row_get(run->row, "note.device"), "A40", 3) == 0;
    struct fr_job job = {.workload = run->workload, .plan = run->plan};
    struct fr_outcome full, slack;
    char note[200];
    FR_TRY(fr_table_cluster(a40 ? "a40" : "dgx-a100", &job.cluster, err));
    job.cluster.device.power.busy_W = BOARD_W;
    fr_cost(&job, &job.plan, &full);
    job.plan.clock_slack = true;
    fr_cost(&job, &job.plan, &slack);
    snprintf(note, sizeof note,
             "of an iteration's energy; Perseus' plans within 1 %% of the time at full clock "
             "saved %.1f %%",
             100 * (1 - m->least_J / m->full_J));
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, NAN, 1 - slack.energy_J / full.energy_J, "1", 0,
                     note, "slack_saving/%s/%s", a40 ? "A40" : "A100",
                     fr_run_row_get(run->row, "model.name"));
    fr_cluster_free(&job.cluster);
    return FR_OK;
}

fr_status fr_energy_slack(struct fr_reproduction *r, struct fr_error *err) {
    struct fr_table_set set;
    struct fr_csv csv = {.text = NULL};
    fr_status status = fr_table_read(file, &set, err);
    if (status == FR_OK) status = fr_energy_csv(file, &csv, err);
    for (int i = 0; i < set.n && status == FR_OK; i++) {
        int first = 0;
        while (strcmp(set.use[first]->group, set.use[i]->group) != 0) first++;
        if (first < i) continue;
        struct measured m = measured_of(&csv, &set, set.use[i]);
        status = add(r, set.use[i], &m, err);
    }
    fr_csv_free(&csv);
    fr_table_free(&set);
    return status;
}
