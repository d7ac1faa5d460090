#include "studies/training/table.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/describe/expression.h"
#include "models/job/preset.h"

fr_status fr_table_read(const char *file, struct fr_table_set *set, struct fr_error *err) {
    char path[512];
    *set = (struct fr_table_set){.runs.ask.placed = true};
    snprintf(set->command, sizeof set->command, "forerun score --runs ../shared/data/%s", file);
    if (!fr_data_find(file, path, sizeof path))
        return fr_fail(err, FR_ERR_IO, file, "not found; set FORERUN_DATA to where it lies");
    FR_TRY(fr_runs_read(path, &set->runs, err));
    set->use = fr_calloc((size_t)set->runs.count + 1, sizeof *set->use);
    if (!set->use) return fr_fail(err, FR_ERR_NOMEM, NULL, "the runs do not fit in memory");
    for (int i = 0; i < set->runs.count; i++) set->use[set->n++] = &set->runs.items[i];
    return FR_OK;
}

void fr_table_free(struct fr_table_set *set) {
    free(set->use);
    fr_runs_free(&set->runs);
    *set = (struct fr_table_set){0};
}

static bool says(const struct fr_run_row *row, const char *key, const char *wanted) {
    const char *value = fr_run_row_get(row, key);
    return !wanted || (value && strcmp(value, wanted) == 0);
}

static bool wanted(const struct fr_run_row *row, const struct fr_table_selection *want) {
    const char *device = fr_run_row_get(row, "note.device"),
               *date = fr_run_row_get(row, "note.date");
    if (want->device && (!device || !fr_text_mentions(device, want->device))) return false;
    if (want->from_date && (!date || strcmp(date, want->from_date) < 0)) return false;
    return says(row, "note.dtype", want->dtype) && says(row, "note.sharded", want->sharded) &&
           says(row, "note.experts", want->experts);
}

/* The one value of @p key that the rows have; NULL: several. */
static const char *value_of_all(const struct fr_table_set *set, const char *key) {
    const char *first = set->n ? fr_run_row_get(set->use[0]->row, key) : NULL;
    for (int i = 1; i < set->n && first; i++)
        if (!says(set->use[i]->row, key, first)) first = NULL;
    return first;
}

static void add_where(struct fr_table_set *set, const char *key, const char *how,
                      const char *value) {
    size_t used = strlen(set->command);
    const char *quote = *how == '=' && !strpbrk(value, " (&;") ? "" : "'";
    if (*set->command)
        fr_line_addf(set->command, sizeof set->command, &used, " --where %s%s%s%s%s", quote,
                     key, how, value, quote);
}

/* The words that ask for the same rows. */
static void command_of(struct fr_table_set *set, const struct fr_table_selection *want) {
    const char *device = want->device ? value_of_all(set, "note.device") : NULL;
    if (want->device && !device) set->command[0] = '\0';
    if (device) add_where(set, "note.device", "=", device);
    if (want->dtype) add_where(set, "note.dtype", "=", want->dtype);
    if (want->sharded) add_where(set, "note.sharded", "=", want->sharded);
    if (want->experts) add_where(set, "note.experts", "=", want->experts);
    if (want->from_date) add_where(set, "note.date", ">=", want->from_date);
}

void fr_table_keep(struct fr_table_set *set, const struct fr_table_selection *want) {
    int kept = 0;
    for (int i = 0; i < set->n; i++)
        if (wanted(set->use[i]->row, want)) set->use[kept++] = set->use[i];
    set->n = kept;
    command_of(set, want);
}

void fr_table_left_out(struct fr_reproduction *r, const char *file,
                       const struct fr_runs *runs) {
    for (int i = 1; i < FR_RUN_SKIP_COUNT; i++)
        if (runs->skipped[i])
            fr_reproduce_add(r, FR_ROLE_IDENTITY, NAN, runs->skipped[i], "rows", 0,
                             fr_run_skip_names[i], "left_out/%s/%d", file, i);
}

fr_status fr_table_cluster_of(const char *preset, const char *software,
                              struct fr_cluster *cluster, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_preset_or_file_read("cluster", preset, &document, err));
    fr_status status = fr_cluster_read_of(document, software, cluster, err);
    fr_json_free(document);
    return status;
}

fr_status fr_table_cluster(const char *preset, struct fr_cluster *cluster,
                           struct fr_error *err) {
    return fr_table_cluster_of(preset, NULL, cluster, err);
}

static void add_runs(struct fr_reproduction *r, const char *name,
                     const struct fr_scored *scored, int n, const char *unit) {
    for (int i = 0; i < n; i++) {
        const struct fr_scored *s = &scored[i];
        bool inside = s->low_s <= s->measured_s && s->measured_s <= s->high_s;
        char note[160];
        snprintf(note, sizeof note, "90 %% interval %.6g to %.6g %s%s", s->low_s, s->high_s,
                 unit, inside ? "" : ": measured outside");
        if (isnan(s->low_s)) snprintf(note, sizeof note, "no interval stated");
        fr_reproduce_add(r, FR_ROLE_PREDICTED, s->measured_s, s->predicted_s, unit, INFINITY,
                         note, "%s/%s", name, s->id);
        if (r->failed || r->count == 0) return;
        r->rows[r->count - 1].detail = true;
    }
}

struct asked {
    const char *what;
    double value, must, aim;
    bool least; /* at least, not at most */
};

static void add_score(struct fr_reproduction *r, const char *name, const struct asked *a) {
    char note[160] = "";
    int used = 0;
    if (isnan(a->value)) return;
    if (a->must != 0)
        used = snprintf(note, sizeof note, "must be at %s %.4g", a->least ? "least" : "most",
                        a->must);
    if (a->aim != 0)
        snprintf(note + used, sizeof note - (size_t)used, "%saim %.4g", used ? ", " : "",
                 a->aim);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, a->value, "1", 0, note, "%s/%s", name, a->what);
    if (a->must == 0) return;
    fr_reproduce_judge(r, a->least ? a->value >= a->must : a->value <= a->must);
}

static void add_coverage(struct fr_reproduction *r, const char *name, const struct fr_score *s,
                         const struct fr_table_limits *l) {
    char note[160];
    double all = pow(0.9, s->n);
    if (isnan(s->coverage)) return;
    snprintf(note, sizeof note, "should lie in %.2f to %.2f", l->covered_from, l->covered_to);
    if (all > 0.1) /* few rows: all of them inside is what honest intervals often give */
        snprintf(note, sizeof note,
                 "of %d rows; honest 90 %% intervals hold all of so few %.0f times in 100",
                 s->n, 100 * all);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, s->coverage, "1", 0, note, "%s/coverage", name);
    if (r->failed) return;
    fr_reproduce_judge(r, (s->coverage >= l->covered_from && s->coverage <= l->covered_to) ||
                              (all > 0.1 && s->coverage >= l->covered_from));
}

/* ---- what a table is of ------------------------------------------------------------------ */

static bool counts_replicas(const char *key) {
    return strcmp(key, "plan.dp") == 0 || strcmp(key, "plan.global_batch") == 0;
}

/* Has @p b every key of @p a's plan, at the same value? */
static bool holds_plan(const struct fr_run *a, const struct fr_run *b) {
    for (int i = 0; i < a->row->n; i++) {
        const char *key = a->row->item[i].key;
        if (strncmp(key, "plan.", 5) != 0 || counts_replicas(key)) continue;
        if (!says(b->row, key, a->row->item[i].value)) return false;
    }
    return true;
}

int fr_table_plans(const struct fr_run *const *runs, int n) {
    int plans = 0;
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < i && !(holds_plan(runs[i], runs[k]) && holds_plan(runs[k], runs[i]))) k++;
        plans += k == i;
    }
    return plans;
}

void fr_table_alone(const struct fr_cluster *preset, const struct fr_run *const *runs, int n,
                    double *alone_s) {
    for (int i = 0; i < n; i++) alone_s[i] = fr_run_predict_s(preset, runs[i]);
}

/* The value of the fits shows beside it. */
static void add_alone(struct fr_reproduction *r, const char *name,
                      const struct fr_table_of *of) {
    double error = 0;
    int n = 0;
    for (int i = 0; i < of->n; i++) {
        if (!isfinite(of->alone_s[i])) continue;
        error += fabs(of->alone_s[i] / of->runs[i]->measured_s - 1);
        n++;
    }
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, error / n, "1", 0,
                     "mean error of the preset alone: nothing fitted", "%s/preset_alone", name);
    if (of->command && *of->command)
        fr_reproduce_add(r, FR_ROLE_IDENTITY, NAN, error / n, "1", 0, of->command, "%s/command",
                         name);
}

/* Preset values and terms of the model that were set after errors on these very rows had been seen: such
 * tables show a calibration, however their rows are held out of the fits. */
static const struct {
    const char *tables, *what; /* tables as for fnmatch */
} seen[] = {
    {"mpt/*", "shares of fused attention, interference"},
    {"dgxc", "efficiency of the preset's products"},
    {"dgxc_fp8", "share of products of 8 bits by release, on these very rows"},
    {"bridge", "share of products of 8 bits since 25.09, on these very rows"},
    {"bridge_moe",
     "host_experts, host_overlap, devices that wait for hosts; what recipes of a release "
     "set"},
    {"bridge_b*",
     "host_experts, host_launch, host_overlap, devices that wait for hosts; what recipes "
     "of a release set"},
    {"dgxc_moe*", "that devices wait for hosts, looked for in Megatron-Bridge's errors"},
    {"bridge_gb*",
     "host_experts, 64 ranks of a rack, devices that wait for hosts; what "
     "recipes of a release set and offload; of a GB300 the share of products of 8 "
     "bits since 26.02"},
    {"vtrain_*",
     "the terms of a layer; launch and host_launch from the rows of one node at tp 1"},
    {"memory_simumax", "what the moments of a step hold was found on these very rows"},
    {"memory_reserved_*", "that it reserves 1.045 of tensors, from these runs among others"},
    {"memory_shown_*", "what DeepSpeed holds besides, looked for in these very rows"},
    {"memory_mlperf", "stages with the ends as layers, what fp8 runs keep at 8 bits"},
    {"bloom", "the network's rate, launches that block, gradients added apart"},
    {"dgxc_fsdp*", "where the links come from; what recipes recompute and share"}};

static void add_seen(struct fr_reproduction *r, const char *name) {
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        if (fnmatch(seen[i].tables, name, 0) == 0)
            fr_reproduce_add(r, FR_ROLE_FITTED, NAN, 1, "1", 0, seen[i].what, "%s/calibration",
                             name);
}

/* What the runs ran: "nemo-24.11 of 20 runs, nemo-25.04 of 12". */
static void add_software(struct fr_reproduction *r, const char *name,
                         const struct fr_table_of *of) {
    char note[400] = "";
    size_t used = 0;
    int several = 0;
    for (int i = 0; i < of->n; i++) {
        int first = 0, n = 0;
        while (strcmp(of->runs[first]->runtime, of->runs[i]->runtime) != 0) first++;
        if (first < i) continue;
        for (int k = i; k < of->n; k++)
            n += strcmp(of->runs[k]->runtime, of->runs[i]->runtime) == 0;
        fr_line_addf(note, sizeof note, &used, "%s%s of %d%s", several ? ", " : "",
                     of->runs[i]->runtime, n,
                     several  ? ""
                     : n == 1 ? " run"
                              : " runs");
        several++;
    }
    fr_reproduce_add(r, FR_ROLE_IDENTITY, NAN, several, "1", 0, note, "%s/software", name);
}

static void add_of(struct fr_reproduction *r, const char *name, const struct fr_table_of *of,
                   const struct fr_score *s) {
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, fr_table_plans(of->runs, of->n), "1", 0,
                     "parallel plans among them", "%s/plans", name);
    if (s->n != of->n)
        fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, s->n, "1", 0,
                         "a run is predicted from each other model", "%s/predictions", name);
    if (of->n == 0) return;
    add_software(r, name, of);
    add_alone(r, name, of);
}

fr_status fr_table_add(struct fr_reproduction *r, const char *name, const char *procedure,
                       const struct fr_table_of *of, const struct fr_scored *scored, int n,
                       const struct fr_table_limits *l, const char *unit,
                       struct fr_error *err) {
    struct fr_score s;
    FR_TRY(fr_score_make(scored, n, &s, err));
    if (unit) add_runs(r, name, scored, n, unit);
    fr_reproduce_add(r, FR_ROLE_PREDICTED, NAN, of ? of->n : s.n, "1", 0, procedure, "%s/n",
                     name);
    if (of) add_of(r, name, of, &s);
    add_seen(r, name);
    const struct asked asked[] = {
        {"mean_error", s.mape, l->mean, l->aim_mean, false},
        {"median_error", s.median_error, l->median, 0, false},
        {"p90_error", s.p90_error, 0, 0, false},
        {"worst_error", s.worst_error, l->worst, 0, false},
        {"bias", s.bias, 0, 0, false},
        {"kendall_tau", s.kendall_tau, l->tau, l->aim_tau, true},
        {"kendall_tau_within_groups", s.kendall_tau_within, 0, 0, true},
        {"regret_mean", s.regret_mean, l->regret_mean, l->aim_regret_mean, false},
        {"regret_median", s.regret_median, 0, 0, false},
        {"regret_worst", s.regret_worst, l->regret_worst, 0, false}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) add_score(r, name, &asked[i]);
    add_coverage(r, name, &s, l);
    if (r->progress) fr_progress_add(r->progress, 1);
    return r->failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}
