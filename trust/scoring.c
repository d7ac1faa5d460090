#include "trust/scoring.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json/interval.h"
#include "base/text/version.h"

/* ---- scores of some of the runs ------------------------------------------------------------ */

fr_status fr_scoring_energy(const struct fr_scoring *s, struct fr_energy_score *e,
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

fr_status fr_scoring_memory(const struct fr_scoring *s, fr_run_counted at,
                            struct fr_score *score, struct fr_error *err) {
    struct fr_scored *some = fr_calloc((size_t)s->runs.count + 1, sizeof *some);
    int n = 0;
    if (!some) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int i = 0; i < s->runs.count; i++) {
        if (s->runs.items[i].counted != at || !(s->memory[i].measured_s > 0)) continue;
        some[n] = s->memory[i];
        n++;
    }
    fr_status status = fr_score_make(some, n, score, err);
    free(some);
    return status;
}

fr_status fr_scoring_each(const struct fr_scoring *s, fr_scoring_visit *each, void *context,
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

static void print_refused(const struct fr_refused *r, struct fr_text *text) {
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

/* ---- clusters ------------------------------------------------------------------------------ */

/* That all runs are on; NULL: several. */
static const struct fr_cluster *one_cluster(const struct fr_scoring *s) {
    const struct fr_cluster *one = s->runs.items[0].cluster;
    for (int i = 1; i < s->runs.count; i++)
        if (s->runs.items[i].cluster != one) return NULL;
    return one;
}

/* The software of all runs; NULL: several. */
static const char *one_runtime(const struct fr_scoring *s) {
    const char *one = s->runs.items[0].runtime;
    for (int i = 1; i < s->runs.count; i++)
        if (strcmp(s->runs.items[i].runtime, one) != 0) return NULL;
    return one;
}

static bool all_tuned(const struct fr_scoring *s) {
    for (int i = 0; i < s->runs.count; i++)
        if (!s->runs.items[i].cluster->tuning.present) return false;
    return true;
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
static void json_by(struct fr_json_writer *w, const struct fr_scoring *s) {
    struct fr_text by = {0};
    for (int i = 0; i < FR_SCORING_COLUMNS && s->columns[i]; i++)
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

/* Beside what was measured stands what counts as that: tensors, what is reserved, or what the device shows. */
static void json_memory_row(struct fr_json_writer *w, const struct fr_scoring *s, int i) {
    const struct fr_scored *row = &s->memory[i];
    fr_json_add_number(w, "memory_B", row->predicted_s);
    fr_json_add_interval(w, "memory_B", row->low_s, row->high_s);
    fr_json_add_number(w, "measured_memory_B", row->measured_s);
    if (row->measured_s > 0)
        fr_json_add_string(w, "measured_memory_at",
                           fr_run_counted_names[s->runs.items[i].counted]);
    fr_json_add_number(w, "memory_peak_B", s->peak_B[i]);
    fr_json_add_number(w, "memory_reserved_B", s->fits[i].reserved_B);
    fr_json_add_number(w, "memory_shown_B", s->fits[i].shown_B);
    fr_json_add_number(w, "fits", s->fits[i].probability);
}

static void json_rows(struct fr_json_writer *w, const struct fr_scoring *s) {
    fr_json_add_array(w, "rows");
    for (int i = 0; i < s->runs.count; i++) {
        const struct fr_scored *row = &s->scored[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "id", row->id);
        fr_json_add_string(w, "group", row->group);
        fr_json_add_string(w, "cluster", s->runs.items[i].cluster->name);
        fr_json_add_string(w, "runtime", s->runs.items[i].runtime);
        fr_json_add_string(w, "assumed", s->runs.items[i].assumed);
        if (s->columns[0]) fr_json_add_string(w, "key", s->key[i]);
        fr_json_add_number(w, "measured_s", row->measured_s);
        fr_json_add_number(w, "predicted_s", row->predicted_s);
        fr_json_add_interval(w, "_s", row->low_s, row->high_s);
        fr_json_add_number(w, "error", row->predicted_s / row->measured_s - 1);
        fr_json_add_number(w, "measured_J", s->joules[i].measured_s);
        fr_json_add_number(w, "predicted_J", s->joules[i].predicted_s);
        fr_json_add_interval(w, "_J", s->joules[i].low_s, s->joules[i].high_s);
        json_memory_row(w, s, i);
        json_reasons(w, s->reasons[i]);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static fr_status json_energy(struct fr_json_writer *w, const struct fr_scoring *s,
                             struct fr_error *err) {
    struct fr_energy_score e;
    FR_TRY(fr_scoring_energy(s, &e, err));
    if (e.score.n == 0) return FR_OK;
    fr_json_add_object(w, "energy");
    json_score(w, &e.score);
    fr_json_add_number(w, "power_mape", e.watts_error);
    fr_json_end_object(w);
    return FR_OK;
}

static fr_status json_memory(struct fr_json_writer *w, const struct fr_scoring *s,
                             struct fr_error *err) {
    fr_json_add_object(w, "memory");
    for (int at = 0; at < FR_COUNTED_COUNT; at++) {
        struct fr_score score;
        FR_TRY(fr_scoring_memory(s, (fr_run_counted)at, &score, err));
        if (score.n == 0) continue;
        fr_json_add_object(w, fr_run_counted_names[at]);
        json_score(w, &score);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
    return FR_OK;
}

fr_status fr_scoring_json(const struct fr_scoring *s, struct fr_text *text,
                          struct fr_error *err) {
    const struct fr_refused *refused = &s->refused;
    struct fr_json_writer w = {.text = text, .indent = 2};
    struct group_writer g = {&w, false};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/score/1");
    fr_json_add_string(&w, "version", fr_version);
    if (one_cluster(s)) {
        fr_json_add_string(&w, "cluster", one_cluster(s)->name);
        fr_json_add_string(&w, "cluster_source", one_cluster(s)->source);
    }
    if (one_runtime(s)) fr_json_add_string(&w, "runtime", one_runtime(s));
    json_by(&w, s);
    fr_json_add_bool(&w, "tuned", all_tuned(s));
    FR_TRY(fr_scoring_each(s, json_visit, &g, err));
    fr_json_end_array(&w);
    FR_TRY(json_energy(&w, s, err));
    FR_TRY(json_memory(&w, s, err));
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

/* Names of runs, on a line of their own: they consist of many keys. */
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
static fr_status print_energy(const struct fr_scoring *s, struct fr_text *text,
                              struct fr_error *err) {
    struct fr_energy_score e;
    char p[24];
    FR_TRY(fr_scoring_energy(s, &e, err));
    if (e.score.n == 0) return FR_OK;
    text_visit(text, "energy, at the predicted time", &e.score);
    fr_text_addf(text, "mean power of these %d runs: %s off in the mean\n", e.score.n,
                 percent(e.watts_error, p, sizeof p));
    return FR_OK;
}

/* A line below for each way that memory was counted. */
static fr_status print_memory(const struct fr_scoring *s, struct fr_text *text,
                              struct fr_error *err) {
    for (int at = 0; at < FR_COUNTED_COUNT; at++) {
        struct fr_score score;
        char name[120];
        FR_TRY(fr_scoring_memory(s, (fr_run_counted)at, &score, err));
        if (score.n == 0) continue;
        snprintf(name, sizeof name, "memory: tensors beside %s",
                 at == FR_COUNTED_ALLOCATED ? "theirs as the allocator counted them"
                                            : fr_run_counted_words[at]);
        text_visit(text, name, &score);
    }
    return FR_OK;
}

fr_status fr_scoring_print(const struct fr_scoring *s, struct fr_text *text,
                           struct fr_error *err) {
    const struct fr_refused *refused = &s->refused;
    const struct fr_cluster *one = one_cluster(s);
    fr_runs_print_skipped(&s->runs, text);
    print_refused(refused, text);
    fr_runs_print_software(&s->runs, text);
    fr_runs_print_assumed(&s->runs, text);
    if (one && !one->tuning.present)
        fr_text_addf(text, "this cluster was not tuned: intervals are as wide as %s\n",
                     one->uncertainty.present ? "its widths and the priors" : "the priors");
    fr_text_addf(text, "\n" NAME "%5s%9s%9s%9s%9s%7s%9s%9s%9s\n", "runs", "n", "mape", "median",
                 "p90", "bias", "tau", "regret", "worst", "covered");
    FR_TRY(fr_scoring_each(s, text_visit, text, err));
    FR_TRY(print_energy(s, text, err));
    return print_memory(s, text, err);
}
