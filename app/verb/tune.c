/* Coefficients of a cluster from measured training runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/page/page.h"
#include "app/runs.h"
#include "app/verb.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/json/file_schema.h"
#include "base/parallel.h"
#include "trust/apart/apart.h"
#include "trust/power_report.h"
#include "trust/runs/row/machine.h"
#include "trust/taught.h"
#include "trust/tune_report.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    FR_OPTION_RUNS,
    FR_OPTION_WHERE,
    {"out", "FILE", "cluster file to write; - for standard output (default: none)", 'o'},
    {"save-runtime", "FILE",
     "runtime file to write: what software makes of devices, apart from what they are", 0},
    {"hold", "NAMES", "coefficients to leave as they are: fixed,node_latency", 0},
    {"always", NULL, "move what the runs do not refute, too", 0},
    FR_OPTION_SET,
    FR_OPTION_RUNS_RUNTIME,
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
    struct fr_taught taught[FR_TAUGHT_COUNT];
    bool tried;            /* taught is known */
    struct fr_apart apart; /* with --save-runtime */
    struct fr_power_fit power;
    uint32_t power_fixed; /* bit j: term j of the power stays */
};

static fr_status read_fixed(const struct fr_args *args, uint32_t *fixed, uint32_t *power_fixed,
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
            *fixed |= (uint32_t)1 << j;
        else
            *power_fixed |= (uint32_t)1 << term;
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
    fr_runs_print_software(&t->runs, text);
    fr_runs_print_assumed(&t->runs, text);
    if (t->n < t->runs.count)
        fr_text_addf(text, "%d rows of another dtype than %s left out\n", t->runs.count - t->n,
                     fr_dtype_names[t->result.dtype]);
    if (t->result.rows < t->n)
        fr_text_addf(text, "%d rows left out: their plans cannot be on this cluster\n",
                     t->n - t->result.rows);
    fr_tune_print(&t->result, text);
    if (t->tried) fr_taught_print(t->taught, &t->result, text);
    fr_power_fit_print(&t->power, text);
}

/* ---- devices and software apart --------------------------------------------------------------- */

enum { PATH_B = 4096 };

/* The file of @p name: @p file, or where there are several "file-name.json". */
static const char *file_of(const char *file, const char *name, bool several, char *out) {
    const char *dot = strrchr(file, '.'), *slash = strrchr(file, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - file) : strlen(file);
    if (!several || strcmp(file, "-") == 0) return file;
    snprintf(out, PATH_B, "%.*s-%s%s", (int)stem, file, name, file + stem);
    return out;
}

static fr_status write_text(const char *path, struct fr_text *text, struct fr_error *err) {
    fr_text_addf(text, "\n");
    return text->failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                        : fr_file_write_last(path, fr_text_get(text), text->length, err);
}

/* The name of its file, without folder and ending. */
static void name_of(const char *path, char *out, size_t capacity) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strcspn(base, ".");
    snprintf(out, capacity, "%.*s", (int)(length < capacity ? length : capacity - 1), base);
    if (!*out || strcmp(out, "-") == 0) snprintf(out, capacity, "tuned");
}

/* Is scope @p s the first of a runtime of its name? */
static bool first_of_name(const struct fr_apart *a, int s) {
    if (!a->scope[s].software) return false;
    for (int i = 0; i < s; i++)
        if (a->scope[i].software && strcmp(a->scope[i].name, a->scope[s].name) == 0)
            return false;
    return true;
}

static fr_status save_runtimes(const struct tuning *t, const char *file, const char *rows,
                               struct fr_error *err) {
    int several = 0;
    fr_status status = FR_OK;
    for (int s = 0; s < t->apart.n_scopes; s++) several += first_of_name(&t->apart, s);
    for (int s = 0; s < t->apart.n_scopes && status == FR_OK; s++) {
        char path[PATH_B], name[FR_RUNTIME_NAME];
        struct fr_text text = {0};
        struct fr_json_writer w = {.text = &text, .indent = 2};
        if (!first_of_name(&t->apart, s)) continue;
        const char *to = file_of(file, t->apart.scope[s].name, several > 1, path);
        name_of(to, name, sizeof name);
        fr_apart_runtime_put(&t->apart, s, name, rows, &w);
        status = write_text(to, &text, err);
        fr_text_free(&text);
    }
    return status;
}

static fr_status save_cluster(const struct tuning *t, const char *out, struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 2};
    int s = 0;
    while (s < t->apart.n_scopes && t->apart.scope[s].software) s++;
    FR_TRY(fr_apart_cluster_set(&t->apart, s, t->document, err));
    fr_file_schema_put_document(&w, "cluster", t->document);
    fr_status status = write_text(out, &text, err);
    fr_text_free(&text);
    return status;
}

static void put_apart(const struct tuning *t, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/tune/1");
    fr_json_add_integer(&w, "rows", t->apart.rows);
    fr_json_key(&w, "apart");
    fr_apart_json(&w, &t->apart);
    fr_json_end_object(&w);
}

static void put_tuning(const struct tuning *t, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/tune/1");
    fr_json_add_integer(&w, "rows", t->result.rows);
    fr_json_key(&w, "tuning");
    fr_tune_json(&w, &t->result, t->use, t->n);
    if (t->tried) fr_taught_json(&w, t->taught);
    if (t->power.rows > 0) {
        fr_json_key(&w, "power");
        fr_power_fit_json(&w, &t->power);
    }
    fr_json_end_object(&w);
}

static fr_status tune_apart(const struct fr_args *args, struct tuning *t, uint32_t fixed,
                            struct fr_error *err) {
    const char *out = fr_args_get(args, "out"), *save = fr_args_get(args, "save-runtime"),
               *rows = fr_args_get(args, "runs");
    struct fr_text text = {0}, page = {0};
    if (out || t->runs.ask.on) FR_TRY(choose_prior(t, err));
    choose_dtype(t);
    FR_TRY(fr_tune_apart(t->prior, t->use, t->n, fixed, fr_processors(), &t->apart, err));
    FR_TRY(save_runtimes(t, save, rows, err));
    if (out) FR_TRY(save_cluster(t, out, err));
    if (strcmp(save, "-") == 0 || (out && strcmp(out, "-") == 0)) return FR_OK;
    if (fr_args_has(args, "json"))
        put_apart(t, &text);
    else {
        fr_runs_print_skipped(&t->runs, &text);
        fr_runs_print_assumed(&t->runs, &text);
        fr_apart_print(&t->apart, &text);
    }
    if (fr_app_paged(args)) put_apart(t, &page);
    return fr_app_answer(args, &text, &page, err);
}

static fr_status tune(const struct fr_args *args, struct tuning *t, struct fr_error *err) {
    struct fr_tune_options o = {.rows_max = 100,
                                .threads = fr_processors(),
                                .keep_unrefuted = !fr_args_has(args, "always")};
    const char *out = fr_args_get(args, "out"), *save = fr_args_get(args, "save-runtime");
    struct fr_text text = {0}, page = {0};
    struct fr_json_writer w = {.text = &text, .indent = 2};
    FR_TRY(read_fixed(args, &o.fixed, &t->power_fixed, err));
    if (out) FR_TRY(fr_file_check_writable(out, err));
    if (save) FR_TRY(fr_file_check_writable(save, err));
    FR_TRY(fr_app_runs(args, &t->asked, &t->job, &t->runs, err));
    t->use = fr_calloc((size_t)t->runs.count + 1, sizeof *t->use);
    if (!t->use) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (save) return tune_apart(args, t, o.fixed, err);
    FR_TRY(choose_prior(t, err));
    choose_dtype(t);
    FR_TRY(fr_tune(t->prior, t->use, t->n, &o, &t->result, err));
    t->tried = o.keep_unrefuted;
    if (t->tried)
        FR_TRY(fr_tune_taught(t->prior, t->use, t->n, &o, &t->result, t->taught, err));
    FR_TRY(fr_power_fit_runs(&t->result.cluster, t->use, t->n, t->power_fixed, &t->power, err));
    if (out) {
        FR_TRY(fr_tune_apply(t->document, &t->result, t->use, t->n, err));
        FR_TRY(fr_power_fit_apply(t->document, &t->result.cluster, &t->power, err));
        fr_file_schema_put_document(&w, "cluster", t->document);
        fr_text_addf(&text, "\n");
        fr_status status = text.failed
                               ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                               : fr_file_write_last(out, fr_text_get(&text), text.length, err);
        fr_text_free(&text);
        if (status != FR_OK || strcmp(out, "-") == 0) return status;
    }
    if (fr_args_has(args, "json"))
        put_tuning(t, &text);
    else
        print(t, &text);
    if (fr_app_paged(args)) put_tuning(t, &page);
    return fr_app_answer(args, &text, &page, err);
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

static const struct fr_output outputs[] = {
    {"out", NULL, NULL}, {"save-runtime", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_tune = {
    .name = "tune",
    .summary = "device, host, network and power coefficients from measured training runs",
    .usage = "[--cluster C] --runs RUNS.csv [--where COLUMN=VALUE]... [--out cluster.json] "
             "[--save-runtime runtime.json] [--hold NAMES] [--always] "
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
        "Rows of each model, and of each plan, are left out in turn. Values move where that "
        "predicts\n"
        "other models better; else only the models and plans of the rows are known better.\n"
        "--save-runtime fits what software makes of devices apart from what they are: rows "
        "of\n"
        "one machine under several releases share the machine, rows of one release on "
        "several\n"
        "machines the software.  Each of several runtimes has a file with its name in it, "
        "and\n"
        "--out holds the machine alone.\n"
        "Rows with measured_J, and measured_at that says what it includes, fit the power "
        "too.\n"
        "Example:\n"
        "  forerun tune --cluster dgx-a100 --runs runs.csv --out tuned.json\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .run = run,
};
