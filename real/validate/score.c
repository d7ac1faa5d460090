/* Predictions beside measurements. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/plan/iterations.h"
#include "real/validate/validate.h"
#include "sim/run.h"
#include "trust/interval.h"
#include "trust/numbers/statistics.h"
#include "trust/score.h"

const char *const fr_term_names[] = {"compute", "launch", "collective", "wait", NULL};

/* Where each part of an outcome is found by the clocks of a real run. */
static int term_of(int part) {
    switch (part) {
    case FR_PART_COMPUTE:
    case FR_PART_COMPRESSION:
        return FR_TERM_COMPUTE;
    case FR_PART_LAUNCH:
    case FR_PART_FIXED:
        return FR_TERM_LAUNCH;
    case FR_PART_BUBBLE:
        return FR_TERM_WAIT;
    default:
        return FR_TERM_COLLECTIVE;
    }
}

/* ---- prediction ---------------------------------------------------------------------------- */

/* The interval that predict and search state. */
static fr_status add_interval(const struct fr_job *job, struct fr_validate_row *row,
                              struct fr_error *err) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    struct fr_interval of;
    if (!known) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_interval_known(&job->cluster, job->workload.dtype, known);
    fr_interval_plan(known, &job->workload, &job->plan, &of);
    free(known);
    bool usable = of.model_s > 0 && isfinite(of.model_s);
    row->predicted_low_s = usable ? row->predicted_s * of.low_s / of.model_s : row->predicted_s;
    row->predicted_high_s =
        usable ? row->predicted_s * of.high_s / of.model_s : row->predicted_s;
    return FR_OK;
}

static double measured_energy_J(const struct fr_power *power,
                                const struct fr_validate_row *row) {
    const double *t = row->measured_term_s;
    double sum_s = 0;
    for (int i = 0; i < FR_TERM_COUNT; i++) sum_s += t[i];
    if (!power->known || !row->profiled || row->n_samples == 0 || sum_s <= 0) return NAN;
    double joule = power->busy_W * (t[FR_TERM_COMPUTE] + t[FR_TERM_LAUNCH]) +
                   power->communicating_W * (t[FR_TERM_COLLECTIVE] + t[FR_TERM_WAIT]);
    return (double)row->run.ranks * joule * row->measured_s / sum_s;
}

static fr_status parse(const char *text, const char *name, struct fr_json_document **document,
                       struct fr_error *err) {
    return fr_json_parse(text, strlen(text), name, document, err);
}

/* Blocking messages have no closed form. */
static fr_status play(const struct fr_job *job, struct fr_outcome *out, struct fr_error *err) {
    struct fr_simulation simulation = {0};
    fr_status status = fr_simulate(job, &job->plan, NULL, &simulation, err);
    *out = simulation.outcome;
    fr_simulation_free(&simulation);
    return status;
}

fr_status fr_validate_price(struct fr_job *job, const struct fr_validate_row *row,
                            struct fr_plan_lists *lists, struct fr_outcome *out,
                            struct fr_error *err) {
    struct fr_json_document *model = NULL, *plan = NULL;
    char places[2][64];
    snprintf(places[0], sizeof places[0], "case %" PRId64 ", its model", row->run.id);
    snprintf(places[1], sizeof places[1], "case %" PRId64 ", its plan", row->run.id);
    fr_status status = parse(row->run.model, places[0], &model, err);
    if (status == FR_OK) status = parse(row->run.plan, places[1], &plan, err);
    if (status == FR_OK) status = fr_model_read(model, &job->workload, err);
    if (status == FR_OK) status = fr_plan_read(plan, &job->plan, lists, err);
    fr_json_free(model);
    fr_json_free(plan);
    if (status != FR_OK) return status;
    if (job->plan.duplex && fr_job_is_pipeline(job, &job->plan)) return play(job, out, err);
    fr_cost(job, &job->plan, out);
    return FR_OK;
}

static fr_status predict_with(struct fr_job *job, struct fr_validate_row *row,
                              struct fr_plan_lists *lists, struct fr_error *err) {
    struct fr_outcome out;
    FR_TRY(fr_validate_price(job, row, lists, &out, err));
    row->reasons = out.reasons;
    row->extrapolated = out.extrapolated != 0;
    row->predicted_s = out.time_s;
    row->predicted_peak_B = out.memory_peak_B;
    row->predicted_J = out.energy_J;
    row->measured_J = measured_energy_J(&job->cluster.device.power, row);
    memset(row->predicted_term_s, 0, sizeof row->predicted_term_s);
    for (int part = 0; part < FR_PART_COUNT; part++)
        row->predicted_term_s[term_of(part)] += out.part_s[part];
    return row->reasons ? FR_OK : add_interval(job, row, err);
}

/* @param path  of the file that the row is of, "" for one that was designed */
static fr_status predict(const struct fr_cluster *cluster, struct fr_validate_row *row,
                         const char *path, struct fr_error *err) {
    struct fr_job job = {.cluster = *cluster};
    struct fr_plan_lists lists = {0};
    struct fr_error why = {.status = FR_OK};
    fr_status status = predict_with(&job, row, &lists, &why);
    fr_workload_free(&job.workload);
    fr_plan_lists_free(&lists);
    if (status == FR_ERR_INPUT && *path)
        return fr_fail(err, status, path, "%.200s: %.400s", why.where, why.detail);
    if (status != FR_OK && err) *err = why;
    return status;
}

/* ---- comparison ---------------------------------------------------------------------------- */

static bool counts(const struct fr_validate_row *row) {
    return row->scored && row->n_samples > 0 && !row->reasons;
}

static bool meets(const struct fr_validate_row *row) {
    return row->measured_low_s <= row->predicted_high_s &&
           row->measured_high_s >= row->predicted_low_s;
}

static int furthest_term(const struct fr_validate_row *row) {
    double worst_s = -1;
    int at = 0;
    for (int t = 0; t < FR_TERM_COUNT; t++) {
        double s = fabs(row->predicted_term_s[t] - row->measured_term_s[t]);
        if (s > worst_s) worst_s = s, at = t;
    }
    return at;
}

static void compare(struct fr_validate_row *row) {
    row->off = -1;
    if (row->n_samples == 0 || row->reasons) return;
    row->error = row->predicted_s / row->measured_s - 1;
    if (!meets(row) && row->profiled) row->off = furthest_term(row);
}

static bool compared(const struct fr_validate_row *row) {
    return row->n_samples > 0 && !row->reasons;
}

/* Find what was run and what was not; a group is whole when nothing of it is missing except
 * refused rows. */
static void find_whole(struct fr_validation *v) {
    v->n_run = v->n_not_run = v->n_open = 0;
    for (int i = 0; i < v->n_rows; i++) {
        struct fr_validate_row *row = &v->rows[i];
        int members = 0, missing = 0, first = i;
        for (int j = 0; j < v->n_rows; j++) {
            const struct fr_validate_row *other = &v->rows[j];
            if (*other->refused || strcmp(other->run.group, row->run.group) != 0) continue;
            if (members++ == 0) first = j;
            missing += other->n_samples == 0;
        }
        row->whole = missing == 0;
        v->n_open += i == first && members > 1 && missing > 0;
        if (*row->refused) continue;
        v->n_run += row->n_samples > 0;
        v->n_not_run += row->n_samples == 0;
    }
}

/* Places in the order of a group, which are one more than how many come before. */
static void find_places(struct fr_validation *v, struct fr_validate_row *row) {
    if (!compared(row) || !row->whole) return;
    row->predicted_place = row->measured_place = 1;
    for (int i = 0; i < v->n_rows; i++) {
        const struct fr_validate_row *other = &v->rows[i];
        if (!compared(other) || strcmp(other->run.group, row->run.group) != 0) continue;
        row->predicted_place += other->predicted_s < row->predicted_s;
        row->measured_place += other->measured_s < row->measured_s;
    }
}

static double floor_of(const struct fr_validation *v, double *scratch) {
    size_t n = 0;
    for (int i = 0; i < v->n_rows; i++)
        if (counts(&v->rows[i]) && v->rows[i].late_s > 0)
            scratch[n++] = fabs(v->rows[i].early_s / v->rows[i].late_s - 1);
    if (n == 0) return NAN;
    fr_sort(scratch, n);
    return fr_sorted_median(scratch, n);
}

/* The values of fr_score_make for the rows that count; coverage is ours, since measurements
 * have an interval too. */
static fr_status summarise(struct fr_validation *v, struct fr_scored *rows,
                           struct fr_error *err) {
    struct fr_score score;
    double met = 0;
    for (int i = 0; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        bool counted = counts(row);
        met += counted && meets(row);
        rows[i] = (struct fr_scored){.group = row->whole ? row->run.group : "",
                                     .measured_s = counted ? row->measured_s : NAN,
                                     .predicted_s = counted ? row->predicted_s : NAN,
                                     .low_s = NAN,
                                     .high_s = NAN};
    }
    FR_TRY(fr_score_make(rows, v->n_rows, &score, err));
    v->n_scored = score.n;
    v->n_groups = score.groups;
    v->median_error = score.median_error;
    v->p90_error = score.p90_error;
    v->rank_correlation = score.kendall_tau;
    v->regret = score.regret_median;
    v->regret_worst = score.regret_worst;
    v->coverage = score.n > 0 ? met / score.n : NAN;
    return FR_OK;
}

fr_status fr_validate_score(const struct fr_cluster *cluster, int64_t cores,
                            struct fr_validation *v, struct fr_error *err) {
    struct fr_scored *rows = fr_calloc((size_t)v->n_rows + 1, sizeof *rows);
    if (!rows) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d rows", v->n_rows);
    fr_status status = FR_OK;
    for (int i = 0; i < v->n_rows && status == FR_OK; i++) {
        v->rows[i].scored = v->rows[i].run.ranks <= cores;
        status = predict(cluster, &v->rows[i], v->path, err);
        if (status == FR_OK) compare(&v->rows[i]);
    }
    find_whole(v);
    for (int i = 0; i < v->n_rows && status == FR_OK; i++) find_places(v, &v->rows[i]);
    double *scratch = fr_malloc((size_t)v->n_rows + 1, sizeof *scratch);
    if (!scratch) status = fr_fail(err, FR_ERR_NOMEM, NULL, "%d rows", v->n_rows);
    if (status == FR_OK) status = summarise(v, rows, err);
    if (status == FR_OK) v->floor = floor_of(v, scratch);
    free(scratch);
    if (status == FR_OK) status = fr_validate_drifts(cluster, cores, v, err);
    free(rows);
    return status;
}
