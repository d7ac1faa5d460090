#include "real/validate/choose.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "base/alloc.h"
#include "base/range.h"
#include "models/job/plan_document.h"
#include "models/job/preset.h"
#include "models/job/runtime.h"
#include "models/plan/iterations.h"
#include "models/plan/method.h"

enum { VARIED_MAX = 12, VALUES_MAX = 256, CASES_MAX = 2000 };
enum { MODEL, PLAN, N_DOCUMENTS };

/* One --vary: the values in the order written. */
struct varied {
    char key[64];  /* as written */
    char path[64]; /* inside its document */
    int document;
    char (*value)[32];
    int n;
};

struct choosing {
    const struct fr_validate_choice *choice;
    const char *app;
    int64_t ranks;
    struct varied varied[VARIED_MAX];
    int n_varied;
    struct fr_validate_case first; /* of the designed set */
};

/* The cluster and its software are not of a run that is chosen. */
static bool of_machine(const char *set) {
    return strncmp(set, "cluster.", 8) == 0 || fr_runtime_is_set(set);
}

bool fr_validate_chosen(const struct fr_validate_choice *choice) {
    bool any = choice->model || choice->plan || choice->n_vary > 0;
    for (int i = 0; i < choice->n_sets; i++) any = any || !of_machine(choice->sets[i]);
    return any;
}

/* "model.width" is of the model, "plan.ghost" and a bare "ghost" of the plan. */
static fr_status split(const char *text, const char *origin, char key[64], char path[64],
                       int *document, const char **value, struct fr_error *err) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals - text >= 64)
        return fr_fail(err, FR_ERR_USAGE, origin, "\"%.64s\" is not of the form KEY=%s", text,
                       strcmp(origin, "--set") == 0 ? "VALUE" : "RANGE");
    snprintf(key, 64, "%.*s", (int)(equals - text), text);
    *document = strncmp(key, "model.", 6) == 0 ? MODEL : PLAN;
    const char *inside = *document == MODEL              ? key + 6
                         : strncmp(key, "plan.", 5) == 0 ? key + 5
                                                         : key;
    snprintf(path, 64, "%s", inside);
    *value = equals + 1;
    return FR_OK;
}

static fr_status add_value(struct varied *v, const char *text, size_t length,
                           struct fr_error *err) {
    char(*grown)[32] = fr_realloc(v->value, (size_t)(v->n + 1), sizeof *grown);
    if (!grown) return fr_fail(err, FR_ERR_NOMEM, "--vary", "%d values", v->n);
    v->value = grown;
    if (length == 0 || length >= sizeof *grown || v->n == VALUES_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--vary", "%s: \"%.40s\" is no list of values",
                       v->key, text);
    snprintf(v->value[v->n++], sizeof *grown, "%.*s", (int)length, text);
    return FR_OK;
}

/* Whole numbers are a range; anything else a list of words. */
static fr_status read_values(struct varied *v, const char *text, struct fr_error *err) {
    int64_t *values = NULL;
    size_t count = 0;
    char where[96];
    if (!isdigit((unsigned char)text[0])) {
        for (const char *at = text;;) {
            size_t length = strcspn(at, ",");
            FR_TRY(add_value(v, at, length, err));
            at += length;
            if (!*at++) return FR_OK;
        }
    }
    snprintf(where, sizeof where, "--vary %s", v->key);
    fr_status status = fr_range_parse(text, false, 0, where, &values, &count, err);
    for (size_t i = 0; status == FR_OK && i < count; i++) {
        char word[32];
        int length = snprintf(word, sizeof word, "%" PRId64, values[i]);
        status = add_value(v, word, (size_t)length, err);
    }
    free(values);
    return status;
}

static fr_status read_vary(struct choosing *c, struct fr_error *err) {
    for (int i = 0; i < c->choice->n_vary; i++) {
        struct varied *v = &c->varied[c->n_varied];
        const char *value = NULL;
        if (c->n_varied == VARIED_MAX)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "more than %d keys", VARIED_MAX);
        FR_TRY(split(c->choice->vary[i], "--vary", v->key, v->path, &v->document, &value, err));
        c->n_varied++;
        FR_TRY(read_values(v, value, err));
    }
    return FR_OK;
}

/* ---- one combination ------------------------------------------------------------------------- */

static bool says(const struct fr_json_document *document, const char *key) {
    struct fr_json root = fr_json_root(document), node = fr_json_member(&root, key);
    return fr_json_present(&node);
}

/* A method without ghost neurons is one configuration, whatever their number. */
static bool is_ghost(const struct varied *v) {
    return v->document == PLAN && strcmp(v->path, "ghost") == 0;
}
static bool has_ghost_neurons(const struct fr_json_document *plan) {
    struct fr_json root = fr_json_root(plan);
    const char *method = fr_json_text_at(&root, "method");
    return method && FR_METHOD_IS(method, uses_ghost);
}

/* The values of a combination. @param[out] again  it repeats another */
static fr_status set_varied(const struct choosing *c, const int *digit,
                            struct fr_json_document *document[N_DOCUMENTS], bool *again,
                            struct fr_error *err) {
    *again = false;
    for (int ghost_neurons = 0; ghost_neurons < 2;
         ghost_neurons++) /* when the method is known */
        for (int i = 0; i < c->n_varied; i++) {
            const struct varied *v = &c->varied[i];
            if (is_ghost(v) != (ghost_neurons == 1)) continue;
            if (ghost_neurons && !has_ghost_neurons(document[PLAN]))
                *again = *again || digit[i] > 0;
            else
                FR_TRY(fr_json_set(document[v->document], v->path, v->value[digit[i]], "--vary",
                                   err));
        }
    return FR_OK;
}

static fr_status open_documents(const struct choosing *c,
                                struct fr_json_document *document[N_DOCUMENTS],
                                struct fr_error *err) {
    const struct fr_validate_choice *choice = c->choice;
    char key[64], path[64];
    if (choice->model)
        FR_TRY(fr_preset_or_file_read("model", choice->model, &document[MODEL], err));
    else
        FR_TRY(fr_json_parse(c->first.model, strlen(c->first.model), "model", &document[MODEL],
                             err));
    if (choice->plan)
        FR_TRY(fr_plan_document_read(choice->plan, &document[PLAN], err));
    else
        FR_TRY(fr_json_parse("{}", 2, "plan", &document[PLAN], err));
    for (int i = 0; i < choice->n_sets; i++) {
        const char *value = NULL;
        int which = 0;
        if (of_machine(choice->sets[i])) continue;
        FR_TRY(split(choice->sets[i], "--set", key, path, &which, &value, err));
        FR_TRY(fr_json_set(document[which], path, value, "--set", err));
    }
    return FR_OK;
}

/* The method that the program computes, where it has a name of its own among them. */
static fr_status set_method(const struct choosing *c, struct fr_json_document *plan,
                            struct fr_error *err) {
    for (int i = 0; fr_method_names[i]; i++)
        if (strcmp(fr_method_names[i], c->app) == 0 && !says(plan, "method"))
            return fr_json_set(plan, "method", c->app, "--app", err);
    return FR_OK;
}

static fr_status set_axis_left(const struct choosing *c, struct fr_json_document *plan,
                               struct fr_error *err) {
    static const char *const axes[] = {"dp", "pp", "tp", "cp"};
    bool by_data = says(plan, "tp") || strcmp(c->app, "pipeline") == 0;
    const char *left = by_data ? "dp" : "tp";
    struct fr_json root = fr_json_root(plan);
    int64_t taken = 1;
    char value[24];
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        int64_t size = 1;
        FR_TRY(fr_json_get_integer(&root, axes[i], false, 1, 1 << 24, &size, err));
        taken *= size;
    }
    if (c->ranks % taken != 0 || (says(plan, left) && taken != c->ranks))
        return fr_fail(err, FR_ERR_INPUT, "--ranks",
                       "%" PRId64 " is no multiple of dp x pp x tp x cp = %" PRId64
                       ", which --vary, --set or --plan ask for",
                       c->ranks, taken);
    if (says(plan, left) || c->ranks == taken) return FR_OK;
    snprintf(value, sizeof value, "%" PRId64, c->ranks / taken);
    return fr_json_set(plan, left, value, "--ranks", err);
}

static fr_status copy(const struct fr_json_document *document, const char *what, char *out,
                      size_t capacity, struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    struct fr_json root = fr_json_root(document);
    fr_json_put_copy(&w, &root);
    bool fits = !text.failed && text.length < capacity;
    if (fits) memcpy(out, text.data, text.length + 1);
    fr_text_free(&text);
    return fits ? FR_OK
                : fr_fail(err, FR_ERR_INPUT, what, "is longer than %zu bytes", capacity - 1);
}

/* The group is the problem, among whose plans a user chooses: model, batch and ranks. */
static void name(const struct choosing *c, const int *digit,
                 struct fr_json_document *const document[N_DOCUMENTS],
                 struct fr_validate_case *run) {
    struct fr_json model = fr_json_root(document[MODEL]), plan = fr_json_root(document[PLAN]);
    size_t group = 0, label = 0;
    int64_t batch = 0;
    char kind[32] = "model";
    fr_json_get_string(&model, "kind", false, kind, sizeof kind, NULL);
    if (fr_json_get_integer(&model, "global_batch", false, 0, 1 << 30, &batch, NULL) != FR_OK ||
        fr_json_get_integer(&plan, "global_batch", false, 0, 1 << 30, &batch, NULL) != FR_OK)
        batch = 0;
    int64_t width = 0;
    bool ffn = fr_json_get_integer(&model, "width", false, 0, 1 << 30, &width, NULL) == FR_OK &&
               width > 0;
    fr_line_addf(run->group, sizeof run->group, &group, "%s", kind);
    if (ffn) fr_line_addf(run->group, sizeof run->group, &group, " n=%" PRId64, width);
    fr_line_addf(run->label, sizeof run->label, &label, "%s", run->app);
    for (int i = 0; i < c->n_varied; i++) {
        const struct varied *v = &c->varied[i];
        const char *value = v->value[digit[i]];
        bool idle =
            is_ghost(v) && !has_ghost_neurons(document[PLAN]); /* without ghost neurons */
        if (idle || strcmp(v->path, "global_batch") == 0 ||
            (ffn && strcmp(v->path, "width") == 0))
            continue;
        if (v->document == MODEL)
            fr_line_addf(run->group, sizeof run->group, &group, " %s=%s", v->path, value);
        else
            fr_line_addf(run->label, sizeof run->label, &label, " %s=%s", v->path, value);
    }
    if (batch) fr_line_addf(run->group, sizeof run->group, &group, " b=%" PRId64, batch);
    fr_line_addf(run->group, sizeof run->group, &group, " p=%" PRId64, c->ranks);
}

/* The one asked for, or that for the plan. */
static fr_status set_program(const struct choosing *c,
                             struct fr_json_document *const document[N_DOCUMENTS], char *app,
                             size_t capacity, struct fr_error *err) {
    struct fr_workload workload = {0};
    struct fr_plan plan;
    struct fr_plan_lists lists = {0};
    snprintf(app, capacity, "%s", c->app);
    if (*c->app) return FR_OK;
    fr_status status = fr_model_read(document[MODEL], &workload, err);
    if (status == FR_OK) status = fr_plan_read(document[PLAN], &plan, &lists, err);
    if (status == FR_OK) snprintf(app, capacity, "%s", fr_validate_program(&workload, &plan));
    fr_workload_free(&workload);
    fr_plan_lists_free(&lists);
    return status;
}

static fr_status add_one(const struct choosing *c, const int *digit, struct fr_validation *v,
                         struct fr_error *err) {
    struct fr_json_document *document[N_DOCUMENTS] = {NULL};
    struct fr_validate_case run = {.id = v->n_rows, .ranks = c->ranks};
    bool again = false;
    fr_status status = open_documents(c, document, err);
    if (status == FR_OK) status = set_method(c, document[PLAN], err);
    if (status == FR_OK) status = set_varied(c, digit, document, &again, err);
    if (status == FR_OK) status = set_axis_left(c, document[PLAN], err);
    if (status == FR_OK) status = set_program(c, document, run.app, sizeof run.app, err);
    if (status == FR_OK)
        status = copy(document[MODEL], "--model", run.model, sizeof run.model, err);
    if (status == FR_OK)
        status = copy(document[PLAN], "--plan", run.plan, sizeof run.plan, err);
    if (status == FR_OK && !again) {
        name(c, digit, document, &run);
        status = v->n_rows < CASES_MAX ? fr_validation_add(v, &run, err)
                                       : fr_fail(err, FR_ERR_USAGE, "--vary",
                                                 "more than %d configurations", CASES_MAX);
    }
    for (int d = 0; d < N_DOCUMENTS; d++) fr_json_free(document[d]);
    return status;
}

/* The last key turns fastest. */
static bool next(const struct choosing *c, int *digit) {
    for (int i = c->n_varied - 1; i >= 0; i--) {
        if (++digit[i] < c->varied[i].n) return true;
        digit[i] = 0;
    }
    return false;
}

static fr_status find_first(struct choosing *c, struct fr_error *err) {
    struct fr_validation designed = {0};
    if (!*c->app) return FR_OK;
    fr_status status = fr_validate_design(c->app, c->ranks, &designed, err);
    if (status == FR_OK && designed.n_rows > 0) c->first = designed.rows[0].run;
    if (status == FR_OK && designed.n_rows == 0 && !c->choice->model)
        status =
            fr_fail(err, FR_ERR_USAGE, "--model",
                    "is needed: no network of the designed set runs %s on %" PRId64 " ranks",
                    c->app, c->ranks);
    fr_validation_free(&designed);
    return status;
}

fr_status fr_validate_choose(const char *app, int64_t ranks,
                             const struct fr_validate_choice *choice,
                             struct fr_validation *validation, struct fr_error *err) {
    struct choosing c = {.choice = choice, .app = app, .ranks = ranks};
    int digit[VARIED_MAX] = {0};
    fr_status status = find_first(&c, err);
    if (status == FR_OK) status = read_vary(&c, err);
    bool more = status == FR_OK;
    while (more) {
        status = add_one(&c, digit, validation, err);
        more = status == FR_OK && next(&c, digit);
    }
    for (int i = 0; i < VARIED_MAX; i++) free(c.varied[i].value);
    return status;
}

fr_status fr_validate_choice_ranks(const struct fr_validate_choice *choice, int64_t *ranks,
                                   struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_plan plan;
    struct fr_plan_lists lists = {0};
    *ranks = 0;
    if (!choice->plan) return FR_OK;
    FR_TRY(fr_plan_document_read(choice->plan, &document, err));
    fr_status status = fr_plan_read(document, &plan, &lists, err);
    if (status == FR_OK) *ranks = fr_plan_ranks(&plan);
    fr_plan_lists_free(&lists);
    fr_json_free(document);
    return status;
}

/* ---- what the models refuse ------------------------------------------------------------------ */

static fr_status refuse(const struct fr_job *job, const struct fr_outcome *out,
                        const struct fr_validate_row *row, fr_reasons reasons,
                        struct fr_error *err) {
    struct fr_text text = {0};
    int reason = 0;
    while (!(reasons & FR_BECAUSE(reason))) reason++;
    fr_report_reason(job, out, reason, &text);
    fr_fail(err, FR_ERR_INPUT, row->run.label, "cannot run (%s): %s", row->run.group,
            fr_text_get(&text));
    fr_text_free(&text);
    return FR_ERR_INPUT;
}

fr_status fr_validate_refuse(const struct fr_cluster *cluster, const struct fr_validation *v,
                             struct fr_error *err) {
    for (int i = 0; i < v->n_rows; i++) {
        const struct fr_validate_row *row = &v->rows[i];
        fr_reasons reasons = row->reasons & ~FR_BECAUSE(FR_REASON_MEMORY);
        struct fr_job job = {.cluster = *cluster};
        struct fr_plan_lists lists = {0};
        struct fr_outcome out;
        if (!reasons) continue;
        fr_status status = fr_validate_price(&job, row, &lists, &out, err);
        if (status == FR_OK) status = refuse(&job, &out, row, reasons, err);
        fr_workload_free(&job.workload);
        fr_plan_lists_free(&lists);
        return status;
    }
    return FR_OK;
}
