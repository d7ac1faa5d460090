/* Coefficients of a cluster from measured training runs. */
#include <stdlib.h>
#include <string.h>

#include "app/runs.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/parallel.h"
#include "calibrate/runs/power_report.h"
#include "calibrate/runs/row/machine.h"
#include "calibrate/runs/tune_report.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_RUNS,
    FR_OPTION_WHERE,
    {"out", "FILE", "cluster file to write; - for standard output (default: none)", 'o'},
    {"hold", "NAMES", "coefficients to leave as they are: fixed,node_latency", 0},
    {"always", NULL, "move what the runs do not refute, too", 0},
    FR_OPTION_SET,
    FR_OPTION_DEFAULTS,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

struct tuning {
    struct fr_asked asked;
    struct fr_job job; /* the cluster of --cluster, if it is given */
    const struct fr_cluster *prior;
    struct fr_json_document *document; /* of the prior, borrowed */
    struct fr_runs runs;
    const struct fr_run **use;
    int n;
    struct fr_tune_result result;
    struct fr_power_fit power;
    uint32_t power_held; /* bit j: term j of the power stays */
};

static fr_status read_holds(const struct fr_args *args, uint32_t *held, uint32_t *power_held,
                            struct fr_error *err) {
    const char *text = fr_args_get(args, "hold"),
               *known[FR_COEFFICIENT_MAX + FR_POWER_TERMS + 1] = {NULL};
    char name[48];
    for (int j = 0; j < fr_coefficient_count(); j++) known[j] = fr_coefficients[j].name;
    for (int j = 0; j < FR_POWER_TERMS; j++)
        known[fr_coefficient_count() + j] = fr_power_terms[j].name;
    while (text && *text) {
        size_t length = strcspn(text, ",");
        if (length >= sizeof name) length = sizeof name - 1;
        memcpy(name, text, length);
        name[length] = '\0';
        int j = fr_coefficient_find(name), term = fr_power_term_find(name);
        if (j < 0 && term < 0) {
            const char *near = fr_suggest(name, known);
            return fr_fail(err, FR_ERR_USAGE, "--hold", "no coefficient \"%s\"%s%s%s", name,
                           near ? "; did you mean \"" : "", near ? near : "",
                           near ? "\"?" : "");
        }
        if (j >= 0)
            *held |= (uint32_t)1 << j;
        else
            *power_held |= (uint32_t)1 << term;
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return FR_OK;
}

/* Products of one dtype have one set of coefficients: that of most rows. */
static void choose_dtype(struct tuning *t) {
    int count[FR_DTYPE_COUNT] = {0}, most = 0;
    for (int i = 0; i < t->runs.count; i++) count[t->runs.items[i].workload.dtype]++;
    for (int d = 1; d < FR_DTYPE_COUNT; d++)
        if (count[d] > count[most]) most = d;
    for (int i = 0; i < t->runs.count; i++)
        if (t->runs.items[i].workload.dtype == (fr_dtype)most)
            t->use[t->n++] = &t->runs.items[i];
}

/* The cluster to be tuned: that of --cluster, or the one that all rows name. */
static fr_status choose_prior(struct tuning *t, struct fr_error *err) {
    const struct fr_machine *only = fr_machine_only(&t->runs);
    if (t->runs.ask.on) {
        t->prior = &t->job.cluster;
        t->document = t->job.documents[0];
        return FR_OK;
    }
    if (!only)
        return fr_fail(err, FR_ERR_USAGE, "--runs",
                       "the rows are of several clusters, \"%.60s\" and others; name one "
                       "(--cluster), or ask for the rows of one (--where cluster=NAME)",
                       t->runs.items[0].cluster->name);
    t->prior = &only->cluster;
    t->document = only->document;
    return FR_OK;
}

static void print(const struct tuning *t, struct fr_text *text) {
    fr_runs_print_skipped(&t->runs, text);
    fr_runs_print_assumed(&t->runs, text);
    if (t->n < t->runs.count)
        fr_text_addf(text, "%d rows of another dtype than %s left out\n", t->runs.count - t->n,
                     fr_dtype_names[t->result.dtype]);
    if (t->result.rows < t->n)
        fr_text_addf(text, "%d rows left out: their plans cannot be on this cluster\n",
                     t->n - t->result.rows);
    fr_tune_print(&t->result, text);
    fr_power_fit_print(&t->power, text);
}

static fr_status tune(const struct fr_args *args, struct tuning *t, struct fr_error *err) {
    struct fr_tune_options o = {.rows_max = 100,
                                .threads = fr_processors(),
                                .keep_unrefuted = !fr_args_has(args, "always")};
    const char *out = fr_args_get(args, "out");
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 2};
    FR_TRY(read_holds(args, &o.held, &t->power_held, err));
    if (out) FR_TRY(fr_file_check_writable(out, err));
    FR_TRY(fr_app_runs(args, &t->asked, &t->job, &t->runs, err));
    FR_TRY(choose_prior(t, err));
    t->use = fr_calloc((size_t)t->runs.count + 1, sizeof *t->use);
    if (!t->use) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    choose_dtype(t);
    FR_TRY(fr_tune(t->prior, t->use, t->n, &o, &t->result, err));
    FR_TRY(fr_power_fit_runs(&t->result.cluster, t->use, t->n, t->power_held, &t->power, err));
    if (out) {
        FR_TRY(fr_tune_apply(t->document, &t->result, t->use, t->n, err));
        FR_TRY(fr_power_fit_apply(t->document, &t->result.cluster, &t->power, err));
        struct fr_json root = fr_json_root(t->document);
        fr_json_put_copy(&w, &root);
        fr_text_addf(&text, "\n");
        fr_status status = text.failed
                               ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                               : fr_file_write_last(out, fr_text_get(&text), text.length, err);
        fr_text_free(&text);
        w = (struct fr_json_writer){.text = &text, .indent = 2};
        if (status != FR_OK || strcmp(out, "-") == 0) return status;
    }
    if (fr_args_has(args, "json")) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "schema", "forerun/tune/1");
        fr_json_add_integer(&w, "rows", t->result.rows);
        fr_json_key(&w, "tuning");
        fr_tune_json(&w, &t->result, t->use, t->n);
        if (t->power.rows > 0) {
            fr_json_key(&w, "power");
            fr_power_fit_json(&w, &t->power);
        }
        fr_json_end_object(&w);
    } else
        print(t, &text);
    return fr_app_print(&text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct tuning *t = fr_calloc(1, sizeof *t);
    if (!t) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = tune(args, t, err);
    free(t->use);
    fr_runs_free(&t->runs);
    fr_job_free(&t->job);
    free(t);
    return status;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_tune = {
    .name = "tune",
    .summary = "device, host, network and power coefficients from measured training runs",
    .usage = "[--cluster C] --runs RUNS.csv [--where COLUMN=VALUE]... [--out cluster.json] "
             "[--hold NAMES] [--always] "
             "[--json]",
    .details =
        "Maximum a posteriori in logarithms: priors centred on the cluster file's "
        "values, robust\n"
        "relative errors. A coefficient that too few rows feel stays as it is; with "
        "fewer than\n"
        "ten rows only the efficiency of the products moves. Where the cluster file "
        "predicts\n"
        "each model and plan to 5 % nothing moves: such rows cannot tell a coefficient "
        "from\n"
        "what the model misses of one model, and other models would get worse.\n"
        "Rows with measured_J, and measured_at that says what it includes, fit the power "
        "too.\n"
        "Example:\n"
        "  forerun tune --cluster dgx-a100 --runs runs.csv --out tuned.json\n",
    .options = options,
    .outputs = outputs,
    .run = run,
};
