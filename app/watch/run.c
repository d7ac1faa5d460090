#include "app/watch/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/plan.h"
#include "app/from/expand.h"
#include "base/alloc.h"
#include "models/job/plan_document.h"
#include "models/job/release.h"
#include "trust/runs/peak.h"

/* ---- the command line -------------------------------------------------------------------------- */

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* --set of the cluster and the software is theirs; of model and plan it is a key of the run. */
static fr_status take_sets(struct fr_app_watched *w, int *n_sets, struct fr_error *err) {
    const char *sets[FR_ARGS_MAX];
    const int n = fr_args_all(w->args, "set", sets);
    *n_sets = 0;
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(sets[i], '='), *set = sets[i];
        char key[48];
        if (!equals || equals == set)
            return fr_fail(err, FR_ERR_USAGE, "--set", "\"%.64s\" is not of the form KEY=VALUE",
                           set);
        if (starts(set, "cluster.") || starts(set, "runtime.") || starts(set, "runtime=")) {
            w->asked.sets[(*n_sets)++] = set;
            continue;
        }
        const bool whole = starts(set, "model.") || starts(set, "plan.");
        snprintf(key, sizeof key, "%s%.*s", whole ? "" : "plan.", (int)(equals - set), set);
        fr_run_row_set(&w->given, key, "%s", equals + 1);
    }
    return FR_OK;
}

static fr_status take_cluster(struct fr_app_watched *w, int n_sets, struct fr_error *err) {
    static const char *const years[] = {"2019", "modern", NULL};
    struct fr_runs_ask *ask = &w->runs.ask;
    const char *pue = fr_args_get(w->args, "pue");
    int year = -1;
    FR_TRY(fr_args_choice(w->args, "defaults", years, &year, err));
    ask->defaults = year >= 0 ? years[year] : NULL;
    const char *set = fr_release_name_set(w->asked.sets, n_sets);
    ask->runtime = set ? set : fr_args_get(w->args, "runtime");
    ask->sets = w->asked.sets;
    ask->n_sets = n_sets;
    struct fr_job_names names = {.runtime = ask->runtime,
                                 .sets = w->asked.sets,
                                 .n_sets = n_sets,
                                 .pue = pue ? strtod(pue, NULL) : 0};
    FR_TRY(fr_app_cluster(w->args, w->asked.own, &names.cluster, err));
    FR_TRY(fr_job_load(&names, &w->job, err));
    ask->on = &w->job.cluster;
    ask->document = w->job.documents[FR_JOB_CLUSTER];
    return FR_OK;
}

fr_status fr_app_watched_open(const struct fr_args *args, const char *log,
                              struct fr_app_watched *w, struct fr_error *err) {
    const char *plan = fr_args_get(args, "plan");
    int n_sets = 0;
    w->log = log;
    w->args = args;
    FR_TRY(take_sets(w, &n_sets, err));
    FR_TRY(fr_app_columns(args, &w->given, err));
    if (plan) FR_TRY(fr_plan_document_read(plan, &w->plan, err));
    return take_cluster(w, n_sets, err);
}

void fr_app_watched_free(struct fr_app_watched *w) {
    fr_trainer_result_free(&w->read);
    fr_runs_free(&w->runs);
    fr_json_free(w->plan);
    fr_job_free(&w->job);
}

/* Once, not of every line. */
static void tell(const struct fr_app_watched *w, const char *words, const char *what) {
    struct fr_text line = {0};
    if (w->reported) return;
    fr_text_addf(&line, "%s%s\n", words, what);
    fr_app_tell(&line);
    fr_text_free(&line);
}

/* ---- the plan file ------------------------------------------------------------------------------ */

struct filling {
    struct fr_run_row *row;
    struct fr_text against; /* keys of which the log says something else */
};

static bool same_value(const char *a, const char *b) {
    char *a_end = NULL, *b_end = NULL;
    const double x = strtod(a, &a_end), y = strtod(b, &b_end);
    const bool numbers = a_end != a && b_end != b && !*a_end && !*b_end;
    return numbers ? x == y : strcmp(a, b) == 0;
}

static void fill_key(struct filling *f, const char *key, const struct fr_json *node) {
    struct fr_text value = {0};
    struct fr_json_writer w = {.text = &value};
    const char *stated = fr_run_row_get(f->row, key);
    fr_json_put_copy(&w, node);
    char *text = value.data ? value.data : NULL;
    if (text && *text == '"' && value.length > 1) { /* a string, bare */
        text[value.length - 1] = '\0';
        text++;
    }
    if (text && !stated) fr_run_row_set(f->row, key, "%s", text);
    if (text && stated && !same_value(stated, text))
        fr_text_addf(&f->against, "%s%s %.40s, not %.40s", f->against.length ? "; " : "",
                     key + strlen("plan."), stated, text);
    fr_text_free(&value);
}

static void fill(struct filling *f, const char *prefix, const struct fr_json *object) {
    for (const char *name = fr_json_key_after(object, NULL); name;
         name = fr_json_key_after(object, name)) {
        const struct fr_json member = fr_json_member(object, name);
        char key[48];
        if ((size_t)snprintf(key, sizeof key, "%s.%s", prefix, name) >= sizeof key) continue;
        if (fr_json_is_null(&member)) continue;
        if (fr_json_is_object(&member))
            fill(f, key, &member);
        else
            fill_key(f, key, &member);
    }
}

/* Keys of the plan that the log leaves open come from --plan. */
static void fill_plan(struct fr_app_watched *w) {
    struct filling f = {.row = &w->row};
    const struct fr_json root = fr_json_root(w->plan);
    fill(&f, "plan", &root);
    if (f.against.length)
        tell(w, "the log's plan is taken where --plan says another: ", fr_text_get(&f.against));
    fr_text_free(&f.against);
}

/* ---- the log ------------------------------------------------------------------------------------ */

static fr_status read_log(struct fr_app_watched *w, const char *text, size_t length,
                          struct fr_run_row *row, struct fr_trainer_result *read,
                          struct fr_error *err) {
    const char *ignore[FR_ARGS_MAX];
    const struct fr_trainer_ask ask = {.ignore = ignore,
                                       .n_ignore = fr_args_all(w->args, "ignore", ignore)};
    return fr_trainer_read(&ask, text, length, w->log, row, read, err);
}

/* Is anything but the measured time another than it was? */
static bool same_run(const struct fr_run_row *a, const struct fr_run_row *b) {
    if (a->n != b->n) return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->item[i].key, b->item[i].key) != 0 ||
            (strcmp(a->item[i].key, "measured_s") != 0 &&
             strcmp(a->item[i].value, b->item[i].value) != 0))
            return false;
    return true;
}

static fr_status price(struct fr_app_watched *w, struct fr_error *err) {
    const struct fr_runs_ask ask = w->runs.ask;
    const char *slash = strrchr(w->log, '/');
    w->priced = false;
    fr_runs_free(&w->runs);
    w->runs.ask = ask;
    FR_TRY(fr_runs_add(slash ? slash + 1 : w->log, &w->row, &w->runs, err));
    if (w->runs.count == 0) return fr_runs_none(&w->runs, w->log, err);
    FR_TRY(fr_watch_expect(&w->runs.items[0], &w->expected, err));
    w->priced = true;
    return FR_OK;
}

static void set_missing(struct fr_run_row *row, const struct fr_run_row *stated,
                        const char *key, int64_t value) {
    if (value > 0 && !fr_run_row_get(stated, key)) fr_run_row_set(row, key, "%" PRId64, value);
}

/* A log that prints rates alone does not say its ranks and its batch; the command line may. @return whether it does */
static bool complete_rates(const struct fr_app_watched *w, struct fr_run_row *given) {
    const char *sets[FR_ARGS_MAX + 1];
    struct fr_job_names names;
    struct fr_job job = {.runtime = NULL};
    fr_app_names(w->args, sets, &names);
    names.cluster = w->asked.own[0] ? w->asked.own : names.cluster;
    if (!names.model) names.model = fr_run_row_get(&w->row, "model");
    const bool known = names.model && fr_job_load(&names, &job, NULL) == FR_OK;
    if (known) {
        set_missing(given, &w->row, "ranks", fr_plan_ranks(&job.plan));
        set_missing(given, &w->row, "plan.global_batch", fr_job_batch(&job, &job.plan));
        set_missing(given, &w->row, "model.sequence", job.workload.transformer.sequence);
    }
    fr_job_free(&job);
    return known;
}

/* Read the log; what it describes of its model goes before --model. */
static fr_status read_row(struct fr_app_watched *w, const char *text, size_t length,
                          struct fr_error *err) {
    const char *model = fr_args_get(w->args, "model");
    struct fr_run_row *given = fr_malloc(1, sizeof *given);
    if (!given) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    *given = w->row = w->given;
    fr_status status = read_log(w, text, length, &w->row, &w->read, err);
    const bool rates =
        status == FR_ERR_INPUT && w->read.timed.counted > 0 && !isfinite(w->read.timed.time_s);
    if (rates && complete_rates(w, given)) {
        fr_trainer_result_free(&w->read);
        w->row = *given;
        status = read_log(w, text, length, &w->row, &w->read, err);
    }
    free(given);
    if (status != FR_OK || !model) return status;
    if (fr_trainer_has_model(&w->row))
        tell(w, "the log describes its model; left out of account is --model ", model);
    else
        fr_run_row_set(&w->row, "model", "%s", model);
    return FR_OK;
}

/* All of the text, as if nothing had been read before. */
static fr_status read_all(struct fr_app_watched *w, const char *text, size_t length,
                          struct fr_error *err) {
    struct fr_run_row *before = fr_malloc(1, sizeof *before);
    if (!before) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    *before = w->row;
    fr_trainer_result_free(&w->read);
    fr_status status = read_row(w, text, length, err);
    if (status == FR_OK && !fr_run_row_get(&w->row, "measured_s"))
        status = fr_fail(err, FR_ERR_INPUT, w->log, "times no step; is it a log?");
    if (status == FR_OK && !fr_trainer_has_model(&w->row))
        status = fr_fail(err, FR_ERR_INPUT, w->log,
                         "does not describe the model; give --model PRESET|FILE");
    if (status == FR_OK && w->plan) fill_plan(w);
    if (status == FR_OK && !(w->priced && same_run(before, &w->row))) status = price(w, err);
    free(before);
    return status;
}

fr_status fr_app_watched_read(struct fr_app_watched *w, const char *text, size_t length,
                              size_t seen, struct fr_error *err) {
    const bool on = w->priced && seen > 0 &&
                    fr_trainer_read_on(text, length, seen, w->log, &w->row, &w->read);
    if (!on) FR_TRY(read_all(w, text, length, err));
    w->reported = true;
    struct fr_run *run = &w->runs.items[0];
    run->measured_s = strtod(fr_run_row_get(&w->row, "measured_s"), NULL);
    w->expected.scored.measured_s = run->measured_s;
    const double share = fr_run_peak_share(run);
    if (share > 1)
        return fr_fail(err, FR_ERR_INPUT, w->log,
                       "%.6g s a step would be %.0f %% of the peak of %lld devices: its time, "
                       "ranks or model is wrong",
                       run->measured_s, 100 * share, (long long)fr_plan_ranks(&run->plan));
    return FR_OK;
}

bool fr_app_watched_begins(const struct fr_app_watched *w, const char *text, size_t length) {
    struct fr_app_watched alone = {.log = w->log, .args = w->args};
    struct fr_run_row *row = fr_calloc(1, sizeof *row);
    if (!row) return false;
    read_log(&alone, text, length, row, &alone.read, NULL);
    const bool begins = fr_trainer_has_model(row);
    fr_trainer_result_free(&alone.read);
    free(row);
    return begins;
}
