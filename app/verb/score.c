/* Predictions beside measured training runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/runs.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/parallel.h"
#include "calibrate/runs/interval.h"
#include "calibrate/runs/power_fit.h"
#include "calibrate/runs/study.h"
#include "models/outcome/cost.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"runs", "FILE", "measured runs: a runs.csv, or a published file; may be repeated", 'r'},
    {"by", "COLUMNS", "a score for each value of these columns, e.g. model.hidden,plan.tp",
     'b'},
    FR_OPTION_SET,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

enum { COLUMNS_MAX = 16, KEY_MAX = 256 };

struct scoring {
    struct fr_job job;
    struct fr_runs runs;
    const struct fr_run **use;
    struct fr_scored *scored, *joules; /* of the iteration's time, and of its energy */
    double *watts_error;               /* of the mean power, given no time */
    fr_reasons *reasons;
    double *memory_B; /* of the fullest rank, as predicted */
    char (*key)[KEY_MAX];
    char columns_text[512];
    const char *columns[COLUMNS_MAX + 1];
};

/* ---- work -------------------------------------------------------------------------------- */

/* Each dtype has coefficients of its own. */
static void predict(struct scoring *s) {
    struct fr_tune_result *known = fr_calloc(1, sizeof *known);
    for (int i = 0; i < s->runs.count; i++) s->use[i] = &s->runs.items[i];
    for (int d = 0; d < FR_DTYPE_COUNT && known; d++) {
        const struct fr_run **some = fr_calloc((size_t)s->runs.count + 1, sizeof *some);
        struct fr_scored *scored = fr_calloc((size_t)s->runs.count + 1, sizeof *scored);
        int n = 0;
        for (int i = 0; i < s->runs.count && some; i++)
            if (s->use[i]->workload.dtype == (fr_dtype)d) some[n++] = s->use[i];
        if (n && scored) {
            fr_interval_known(&s->job.cluster, (fr_dtype)d, known);
            fr_study_predict(known, some, n, fr_processors(), scored);
            for (int i = 0, k = 0; i < s->runs.count; i++)
                if (s->use[i]->workload.dtype == (fr_dtype)d) s->scored[i] = scored[k++];
        }
        free(some);
        free(scored);
    }
    free(known);
}

/* Energy as each run's meter would read it; its interval is of time and power, independent of each other. */
static void predict_joules(void *context, int64_t i) {
    struct scoring *s = context;
    const struct fr_run *run = &s->runs.items[i];
    const struct fr_scored *time = &s->scored[i];
    struct fr_scored *row = &s->joules[i];
    double power_W = NAN, uncertain = s->job.cluster.device.power.uncertainty;
    *row = *time;
    row->measured_s = row->predicted_s = row->low_s = row->high_s = s->watts_error[i] = NAN;
    if (!(run->measured_J > 0)) return;
    row->measured_s = run->measured_J;
    if (fr_run_predict_J(&s->job.cluster, run, &row->predicted_s, &power_W, NULL) != FR_OK)
        return;
    s->watts_error[i] = power_W / (run->measured_J / run->measured_s) - 1;
    row->low_s =
        row->predicted_s * fmax(0, 1 - hypot(1 - time->low_s / time->predicted_s, uncertain));
    row->high_s =
        row->predicted_s * (1 + hypot(time->high_s / time->predicted_s - 1, uncertain));
}

struct energy_score {
    struct fr_score score;
    double watts_error; /* mean of |predicted W / measured W - 1| */
};

static fr_status score_joules(const struct scoring *s, struct energy_score *e,
                              struct fr_error *err) {
    struct fr_scored *some = fr_calloc((size_t)s->runs.count + 1, sizeof *some);
    int n = 0;
    double sum = 0;
    if (!some) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < s->runs.count; i++) {
        if (isnan(s->watts_error[i])) continue;
        some[n++] = s->joules[i];
        sum += fabs(s->watts_error[i]);
    }
    fr_status status = fr_score_make(some, n, &e->score, err);
    e->watts_error = sum / n;
    free(some);
    return status;
}

/* ---- what was run and is called impossible ------------------------------------------------ */

/* Published runs ran: a reason why one cannot be is an error of the model, or of what the file says. */
struct refused {
    int unpriced[FR_REASON_COUNT], infeasible[FR_REASON_COUNT];
    int n_unpriced, n_infeasible;
};

static void refuse(void *context, int64_t i) {
    struct scoring *s = context;
    const struct fr_run *run = &s->runs.items[i];
    struct fr_job job = {
        .cluster = s->job.cluster, .workload = run->workload, .plan = run->plan};
    struct fr_outcome out;
    fr_cost(&job, &job.plan, &out);
    s->reasons[i] = out.reasons;
    s->memory_B[i] = isfinite(out.time_s) && isfinite(out.parameters) ? out.memory_peak_B : NAN;
}

static void count_refused(struct scoring *s, struct refused *r) {
    *r = (struct refused){0};
    fr_parallel_for(fr_processors(), s->runs.count, refuse, s);
    for (int i = 0; i < s->runs.count; i++) {
        bool priced = isfinite(s->scored[i].predicted_s);
        r->n_unpriced += !priced;
        r->n_infeasible += priced && s->reasons[i];
        for (int k = 0; k < FR_REASON_COUNT; k++)
            if (s->reasons[i] & FR_BECAUSE(k)) (priced ? r->infeasible : r->unpriced)[k]++;
    }
}

static void print_refused(const struct refused *r, struct fr_text *text) {
    if (r->n_unpriced) fr_text_addf(text, "%d of the runs are not priced:", r->n_unpriced);
    for (int k = 0; k < FR_REASON_COUNT; k++)
        if (r->unpriced[k]) fr_text_addf(text, " %s %d", fr_reason_names[k], r->unpriced[k]);
    if (r->n_unpriced) fr_text_addf(text, "\n");
    if (r->n_infeasible)
        fr_text_addf(text, "%d were run and are called infeasible (priced all the same):",
                     r->n_infeasible);
    for (int k = 0; k < FR_REASON_COUNT; k++)
        if (r->infeasible[k])
            fr_text_addf(text, " %s %d", fr_reason_names[k], r->infeasible[k]);
    if (r->n_infeasible) fr_text_addf(text, "\n");
}

static void json_refused(struct fr_json_writer *w, const char *name, const int *counts) {
    fr_json_add_object(w, name);
    for (int k = 0; k < FR_REASON_COUNT; k++)
        if (counts[k]) fr_json_add_integer(w, fr_reason_names[k], counts[k]);
    fr_json_end_object(w);
}

static fr_status read_columns(const struct fr_args *args, struct scoring *s,
                              struct fr_error *err) {
    const char *by = fr_args_get(args, "by");
    int n = 0;
    if (!by) return FR_OK;
    snprintf(s->columns_text, sizeof s->columns_text, "%s", by);
    for (char *at = s->columns_text; at && *at;) {
        char *comma = strchr(at, ',');
        if (n == COLUMNS_MAX)
            return fr_fail(err, FR_ERR_USAGE, "--by", "at most %d columns", COLUMNS_MAX);
        if (comma) *comma = '\0';
        bool known = strcmp(at, "model") == 0;
        for (int i = 0; i < s->runs.count && !known; i++)
            known = fr_run_row_get(s->runs.items[i].row, at) != NULL;
        if (!known)
            return fr_fail(err, FR_ERR_USAGE, "--by", "no run has a column \"%.40s\"", at);
        s->columns[n++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return FR_OK;
}

/* The scores of all runs, then of those with each key, in order of appearance. */
typedef void visit(void *context, const char *name, const struct fr_score *score);

static fr_status each_score(const struct scoring *s, visit *each, void *context,
                            struct fr_error *err) {
    int n = s->runs.count;
    struct fr_scored *some = fr_calloc((size_t)n + 1, sizeof *some);
    struct fr_score score;
    fr_status status = some ? fr_score_make(s->scored, n, &score, err)
                            : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) each(context, "all", &score);
    for (int i = 0; s->columns[0] && i < n && status == FR_OK; i++) {
        int first = 0, count = 0;
        while (strcmp(s->key[first], s->key[i]) != 0) first++;
        if (first < i) continue;
        for (int k = i; k < n; k++)
            if (strcmp(s->key[k], s->key[i]) == 0) some[count++] = s->scored[k];
        status = fr_score_make(some, count, &score, err);
        if (status == FR_OK) each(context, s->key[i], &score);
    }
    free(some);
    return status;
}

/* ---- output ------------------------------------------------------------------------------ */

static void json_score(struct fr_json_writer *w, const struct fr_score *s) {
    fr_json_add_integer(w, "n", s->n);
    fr_json_add_integer(w, "not_predicted", s->missing);
    fr_json_add_number(w, "mape", s->mape);
    fr_json_add_number(w, "median_error", s->median_error);
    fr_json_add_number(w, "p90_error", s->p90_error);
    fr_json_add_number(w, "worst_error", s->worst_error);
    fr_json_add_number(w, "bias", s->bias);
    fr_json_add_number(w, "kendall_tau", s->kendall_tau);
    fr_json_add_number(w, "kendall_tau_within_groups", s->kendall_tau_within);
    fr_json_add_integer(w, "groups", s->groups);
    fr_json_add_number(w, "regret_mean", s->regret_mean);
    fr_json_add_number(w, "regret_median", s->regret_median);
    fr_json_add_number(w, "regret_worst", s->regret_worst);
    fr_json_add_number(w, "coverage", s->coverage);
}

struct group_writer {
    struct fr_json_writer *w;
    bool in_groups;
};

static void json_visit(void *context, const char *name, const struct fr_score *score) {
    struct group_writer *g = context;
    if (strcmp(name, "all") == 0 && !g->in_groups) {
        json_score(g->w, score);
        fr_json_add_array(g->w, "groups_by");
        g->in_groups = true;
        return;
    }
    fr_json_begin_object(g->w);
    fr_json_add_string(g->w, "key", name);
    json_score(g->w, score);
    fr_json_end_object(g->w);
}

/* The columns that keys are of. */
static void json_by(struct fr_json_writer *w, const struct scoring *s) {
    struct fr_text by = {0};
    for (int i = 0; i < COLUMNS_MAX && s->columns[i]; i++)
        fr_text_addf(&by, "%s%s", i ? "," : "", s->columns[i]);
    if (by.length) fr_json_add_string(w, "by", fr_text_get(&by));
    w->text->failed = w->text->failed || by.failed;
    fr_text_free(&by);
}

static void json_reasons(struct fr_json_writer *w, fr_reasons reasons) {
    fr_json_add_array(w, "reasons");
    for (int k = 0; k < FR_REASON_COUNT; k++)
        if (reasons & FR_BECAUSE(k)) fr_json_put_string(w, fr_reason_names[k]);
    fr_json_end_array(w);
}

static void json_rows(struct fr_json_writer *w, const struct scoring *s) {
    fr_json_add_array(w, "rows");
    for (int i = 0; i < s->runs.count; i++) {
        const struct fr_scored *row = &s->scored[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "id", row->id);
        fr_json_add_string(w, "group", row->group);
        if (s->columns[0]) fr_json_add_string(w, "key", s->key[i]);
        fr_json_add_number(w, "measured_s", row->measured_s);
        fr_json_add_number(w, "predicted_s", row->predicted_s);
        fr_json_add_number(w, "low_s", row->low_s);
        fr_json_add_number(w, "high_s", row->high_s);
        fr_json_add_number(w, "error", row->predicted_s / row->measured_s - 1);
        fr_json_add_number(w, "measured_J", s->joules[i].measured_s);
        fr_json_add_number(w, "predicted_J", s->joules[i].predicted_s);
        fr_json_add_number(w, "low_J", s->joules[i].low_s);
        fr_json_add_number(w, "high_J", s->joules[i].high_s);
        fr_json_add_number(w, "memory_B", s->memory_B[i]);
        json_reasons(w, s->reasons[i]);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static fr_status json_energy(struct fr_json_writer *w, const struct scoring *s,
                             struct fr_error *err) {
    struct energy_score e;
    FR_TRY(score_joules(s, &e, err));
    if (e.score.n == 0) return FR_OK;
    fr_json_add_object(w, "energy");
    json_score(w, &e.score);
    fr_json_add_number(w, "power_mape", e.watts_error);
    fr_json_end_object(w);
    return FR_OK;
}

static fr_status print_json(const struct scoring *s, const struct refused *refused,
                            struct fr_text *text, struct fr_error *err) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    struct group_writer g = {&w, false};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/score/1");
    fr_json_add_string(&w, "version", FR_VERSION);
    fr_json_add_string(&w, "cluster", s->job.cluster.name);
    fr_json_add_string(&w, "cluster_source", s->job.cluster.source);
    json_by(&w, s);
    fr_json_add_bool(&w, "tuned", s->job.cluster.tuning.present);
    FR_TRY(each_score(s, json_visit, &g, err));
    fr_json_end_array(&w);
    FR_TRY(json_energy(&w, s, err));
    json_rows(&w, s);
    fr_json_add_object(&w, "left_out");
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++)
        if (s->runs.skipped[i])
            fr_json_add_integer(&w, fr_run_skip_names[i], s->runs.skipped[i]);
    fr_json_end_object(&w);
    json_refused(&w, "unpriced", refused->unpriced);
    json_refused(&w, "called_infeasible", refused->infeasible);
    fr_json_end_object(&w);
    return FR_OK;
}

static const char *percent(double value, char *out, size_t capacity) {
    if (isnan(value))
        snprintf(out, capacity, "-");
    else
        snprintf(out, capacity, "%.2f %%", 100 * value);
    return out;
}

/* Of the runs, on a line of their own: they are named by many keys. */
#define NAME "%s\n  "

static void text_visit(void *context, const char *name, const struct fr_score *s) {
    struct fr_text *text = context;
    char p[8][24], tau[24] = "-";
    if (isfinite(s->kendall_tau)) snprintf(tau, sizeof tau, "%.3f", s->kendall_tau);
    fr_text_addf(text, NAME "%5d%9s%9s%9s%9s%7s%9s%9s%9s\n", name, s->n,
                 percent(s->mape, p[0], 24), percent(s->median_error, p[1], 24),
                 percent(s->p90_error, p[2], 24), percent(s->bias, p[3], 24), tau,
                 percent(s->regret_mean, p[4], 24), percent(s->regret_worst, p[5], 24),
                 percent(s->coverage, p[6], 24));
}

/* A line below, where joules were metered. */
static fr_status print_energy(const struct scoring *s, struct fr_text *text,
                              struct fr_error *err) {
    struct energy_score e;
    char p[24];
    FR_TRY(score_joules(s, &e, err));
    if (e.score.n == 0) return FR_OK;
    text_visit(text, "energy, at the predicted time", &e.score);
    fr_text_addf(text, "mean power of these %d runs: %s off in the mean\n", e.score.n,
                 percent(e.watts_error, p, sizeof p));
    return FR_OK;
}

static fr_status print_text(const struct scoring *s, const struct refused *refused,
                            struct fr_text *text, struct fr_error *err) {
    fr_runs_print_skipped(&s->runs, text);
    print_refused(refused, text);
    if (!s->job.cluster.tuning.present)
        fr_text_addf(text, "this cluster was not tuned: intervals are as wide as the priors\n");
    fr_text_addf(text, "\n" NAME "%5s%9s%9s%9s%9s%7s%9s%9s%9s\n", "runs", "n", "mape", "median",
                 "p90", "bias", "tau", "regret", "worst", "covered");
    FR_TRY(each_score(s, text_visit, text, err));
    return print_energy(s, text, err);
}

static fr_status score(const struct fr_args *args, struct scoring *s, struct fr_error *err) {
    struct fr_text text = {0};
    FR_TRY(fr_app_load(args, false, &s->job, err));
    FR_TRY(fr_app_runs(args, &s->runs, err));
    FR_TRY(read_columns(args, s, err));
    size_t room = (size_t)s->runs.count + 1;
    s->use = fr_calloc(room, sizeof *s->use);
    s->scored = fr_calloc(room, sizeof *s->scored);
    s->key = fr_calloc(room, sizeof *s->key);
    s->reasons = fr_calloc(room, sizeof *s->reasons);
    s->memory_B = fr_calloc(room, sizeof *s->memory_B);
    s->joules = fr_calloc(room, sizeof *s->joules);
    s->watts_error = fr_calloc(room, sizeof *s->watts_error);
    if (!s->use || !s->scored || !s->key || !s->reasons || !s->memory_B || !s->joules ||
        !s->watts_error)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < s->runs.count; i++)
        fr_study_key(&s->runs.items[i], s->columns, s->key[i], KEY_MAX);
    predict(s);
    fr_parallel_for(fr_processors(), s->runs.count, predict_joules, s);
    struct refused refused;
    count_refused(s, &refused);
    fr_status status = fr_args_has(args, "json") ? print_json(s, &refused, &text, err)
                                                 : print_text(s, &refused, &text, err);
    if (status == FR_OK) return fr_app_print(&text, err);
    fr_text_free(&text);
    return status;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct scoring *s = fr_calloc(1, sizeof *s);
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = score(args, s, err);
    free(s->use);
    free(s->scored);
    free(s->key);
    free(s->reasons);
    free(s->memory_B);
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
    .usage = "--cluster C --runs RUNS.csv [--by COLUMNS] [--json]",
    .details =
        "Regret is what choosing by prediction costs among the runs of one group. Examples:\n"
        "  forerun score --cluster tuned.json --runs later-runs.csv --by model.hidden,plan.tp\n"
        "  forerun score --cluster tuned.json --runs later-runs.csv --json > score.json &&\n"
        "      forerun plot score score.json -o score.svg\n",
    .options = options,
    .run = run,
};
