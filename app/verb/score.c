/* Predictions beside measured training runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/from/expand.h"
#include "app/page/page.h"
#include "app/runs.h"
#include "app/text/next.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/parallel.h"
#include "models/outcome/cost.h"
#include "models/outcome/memory.h"
#include "trust/power_fit.h"
#include "trust/scoring.h"
#include "trust/study.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_RUNS,
    {"from", "LOG", "a trainer's log, as --runs takes it, too; may be repeated", 0},
    {"column", "KEY=VALUE", "of every log, what it does not say: model=, ranks=, plan.tp=", 0},
    FR_OPTION_IGNORE,
    FR_OPTION_WHERE,
    {"by", "COLUMNS", "a score for each value of these columns, e.g. model.hidden,plan.tp",
     'b'},
    FR_OPTION_SET,
    FR_OPTION_RUNS_RUNTIME,
    FR_OPTION_DEFAULTS,
    FR_OPTION_ALL,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* ---- work -------------------------------------------------------------------------------- */

/* Energy as each run's meter would read it; its interval is of time and power, independent of each other. */
static void predict_joules(void *context, int64_t i) {
    struct fr_scoring *s = context;
    const struct fr_run *run = &s->runs.items[i];
    const struct fr_scored *time = &s->scored[i];
    struct fr_scored *row = &s->joules[i];
    double power_W = NAN, uncertain = run->cluster->device.power.uncertainty;
    *row = *time;
    row->measured_s = row->predicted_s = row->low_s = row->high_s = s->watts_error[i] = NAN;
    if (!(run->measured_J > 0)) return;
    row->measured_s = run->measured_J;
    if (fr_run_predict_J(run->cluster, run, &row->predicted_s, &power_W, NULL) != FR_OK) return;
    s->watts_error[i] = power_W / (run->measured_J / run->measured_s) - 1;
    row->low_s =
        row->predicted_s * fmax(0, 1 - hypot(1 - time->low_s / time->predicted_s, uncertain));
    row->high_s =
        row->predicted_s * (1 + hypot(time->high_s / time->predicted_s - 1, uncertain));
}

static void set_memory(struct fr_scored *row, double size_B, double low_B, double high_B) {
    row->predicted_s = size_B;
    row->low_s = low_B;
    row->high_s = high_B;
}

static void refuse(void *context, int64_t i) {
    struct fr_scoring *s = context;
    const struct fr_run *run = &s->runs.items[i];
    struct fr_job job = {
        .cluster = *run->cluster, .workload = run->workload, .plan = run->plan};
    struct fr_outcome out;
    fr_cost(&job, &job.plan, &out);
    s->reasons[i] = out.reasons;
    struct fr_scored *row = &s->memory[i];
    *row = (struct fr_scored){
        .id = run->id, .group = "", .measured_s = run->measured_memory_B, .predicted_s = NAN};
    const struct fr_fits f = s->fits[i] = fr_fits_of(&job, &out);
    bool known = isfinite(out.time_s) && isfinite(out.parameters);
    s->peak_B[i] = known ? out.memory_peak_B : NAN;
    if (run->counted == FR_COUNTED_RESERVED)
        set_memory(row, f.reserved_B, f.reserved_low_B, f.reserved_high_B);
    else if (run->counted == FR_COUNTED_DEVICE)
        set_memory(row, f.shown_B, f.shown_low_B, f.shown_high_B);
    else {
        row->predicted_s = s->peak_B[i];
        fr_memory_interval(&job, &out, &row->low_s, &row->high_s);
    }
}

static void count_refused(struct fr_scoring *s) {
    struct fr_refused *r = &s->refused;
    fr_parallel_for(fr_processors(), s->runs.count, refuse, s);
    for (int i = 0; i < s->runs.count; i++) {
        bool priced = isfinite(s->scored[i].predicted_s);
        r->n_unpriced += !priced;
        r->n_infeasible += priced && s->reasons[i];
        for (int k = 0; k < FR_REASON_COUNT; k++)
            if (s->reasons[i] & FR_BECAUSE(k)) (priced ? r->infeasible : r->unpriced)[k]++;
    }
}

static fr_status read_columns(const struct fr_args *args, struct fr_scoring *s,
                              struct fr_error *err) {
    const char *by = fr_args_get(args, "by");
    int n = 0;
    if (!by) return FR_OK;
    snprintf(s->columns_text, sizeof s->columns_text, "%s", by);
    for (char *at = s->columns_text; at && *at;) {
        char *comma = strchr(at, ',');
        if (n == FR_SCORING_COLUMNS)
            return fr_fail(err, FR_ERR_USAGE, "--by", "at most %d columns", FR_SCORING_COLUMNS);
        if (comma) *comma = '\0';
        bool known = strcmp(at, "model") == 0 || strcmp(at, "runtime") == 0;
        for (int i = 0; i < s->runs.count && !known; i++)
            known = fr_run_row_get(s->runs.items[i].row, at) != NULL;
        if (!known)
            return fr_fail(err, FR_ERR_USAGE, "--by", "no run has a column \"%.40s\"", at);
        s->columns[n++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return FR_OK;
}

static fr_status print_brief(const struct fr_args *args, const struct fr_scoring *s,
                             struct fr_text *text, struct fr_error *err) {
    struct fr_text again = {0};
    fr_next_again(args, "score", &again);
    fr_status status = fr_scoring_brief(s, fr_text_get(&again), text, err);
    fr_text_free(&again);
    return status;
}

static fr_status score(const struct fr_args *args, struct fr_asked *asked, struct fr_scoring *s,
                       struct fr_error *err) {
    struct fr_text text = {0}, page = {0};
    FR_TRY(fr_app_runs(args, asked, &s->job, &s->runs, err));
    FR_TRY(read_columns(args, s, err));
    size_t capacity = (size_t)s->runs.count + 1;
    s->use = fr_calloc(capacity, sizeof *s->use);
    s->scored = fr_calloc(capacity, sizeof *s->scored);
    s->key = fr_calloc(capacity, sizeof *s->key);
    s->reasons = fr_calloc(capacity, sizeof *s->reasons);
    s->memory = fr_calloc(capacity, sizeof *s->memory);
    s->fits = fr_calloc(capacity, sizeof *s->fits);
    s->peak_B = fr_calloc(capacity, sizeof *s->peak_B);
    s->joules = fr_calloc(capacity, sizeof *s->joules);
    s->watts_error = fr_calloc(capacity, sizeof *s->watts_error);
    if (!s->use || !s->scored || !s->key || !s->reasons || !s->memory || !s->joules ||
        !s->fits || !s->peak_B || !s->watts_error)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < s->runs.count; i++)
        fr_study_key(&s->runs.items[i], s->columns, s->key[i], FR_SCORING_KEY);
    for (int i = 0; i < s->runs.count; i++) s->use[i] = &s->runs.items[i];
    FR_TRY(fr_study_each(s->use, s->runs.count, fr_processors(), s->scored, err));
    fr_parallel_for(fr_processors(), s->runs.count, predict_joules, s);
    count_refused(s);
    fr_status status = fr_args_has(args, "json")  ? fr_scoring_json(s, &text, err)
                       : fr_args_has(args, "all") ? fr_scoring_print(s, &text, err)
                                                  : print_brief(args, s, &text, err);
    if (status == FR_OK && fr_app_paged(args)) status = fr_scoring_json(s, &page, err);
    if (status == FR_OK) return fr_app_answer(args, &text, &page, err);
    fr_text_free(&page);
    fr_text_free(&text);
    return status;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_asked asked;
    struct fr_scoring *s = fr_calloc(1, sizeof *s);
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = score(args, &asked, s, err);
    free(s->use);
    free(s->scored);
    free(s->key);
    free(s->reasons);
    free(s->memory);
    free(s->fits);
    free(s->peak_B);
    free(s->joules);
    free(s->watts_error);
    fr_runs_free(&s->runs);
    fr_job_free(&s->job);
    free(s);
    return status;
}

const struct fr_verb fr_verb_score = {
    .name = "score",
    .summary = "predictions beside measured runs: error, rank, regret, coverage",
    .usage = "[--cluster C] --runs RUNS.csv [--where COLUMN=VALUE]... [--by COLUMNS] [--json]",
    .details =
        "Without --cluster each row is on the cluster that it names. A row that leaves a key "
        "of\n"
        "the plan open gets what predict would assume, and the answer says what that was.\n"
        "Regret is what choosing by prediction costs among the runs of one group. Examples:\n"
        "  forerun score --runs runs.csv --where cluster=gb200-nvl72 --where model.dtype=fp8\n"
        "  forerun score --cluster tuned.json --runs later-runs.csv --by model.hidden,plan.tp\n"
        "  forerun score --cluster tuned.json --runs later-runs.csv --json > score.json &&\n"
        "      forerun plot score score.json -o score.svg\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .run = run,
};
