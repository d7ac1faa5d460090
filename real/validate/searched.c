#include "real/validate/searched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "models/job/preset.h"
#include "models/plan/common.h"
#include "models/plan/iterations.h"

struct searching {
    const char *path, *model;
    int64_t top;
    struct fr_validation *validation;
};

/* A document without what says nothing of the work: a table of iterations may be long. */
static fr_status copy(const struct fr_json *node, const char *what, char *out, size_t capacity,
                      struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    const char *key;
    fr_json_begin_object(&w);
    for (int64_t i = 0; (key = fr_json_key_at(node, i)); i++) {
        struct fr_json member = fr_json_member(node, key);
        if (strcmp(key, "iterations") == 0 || strcmp(key, "source") == 0) continue;
        fr_json_key(&w, key);
        fr_json_put_copy(&w, &member);
    }
    fr_json_end_object(&w);
    bool fits = !text.failed && text.length < capacity;
    if (fits) memcpy(out, text.data, text.length + 1);
    fr_text_free(&text);
    return fits ? FR_OK
                : fr_json_fail(node, err, "%s is longer than %zu bytes", what, capacity - 1);
}

/* ---- the model, as a search's plan has it ------------------------------------------------------- */

static fr_status open_model(const struct searching *s, const struct fr_json *root,
                            struct fr_json_document **model, struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "model");
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    if (s->model) return fr_preset_or_file_read("model", s->model, model, err);
    if (!fr_json_present(&node))
        return fr_fail(err, FR_ERR_USAGE, "--model",
                       "is needed: %s does not say what was searched for", s->path);
    fr_json_put_copy(&w, &node);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, s->path, "the model")
                                   : fr_json_parse(text.data, text.length, "model", model, err);
    fr_text_free(&text);
    return status;
}

/* "varied" of an outcome: keys with their values, of which those of the plan are in the plan, and
 * the cluster is another. */
static fr_status set_varied(const struct fr_json *outcome, struct fr_json_document *model,
                            struct fr_validate_case *run, size_t *length,
                            struct fr_error *err) {
    struct fr_json varied = fr_json_member(outcome, "varied");
    const char *key;
    for (int64_t i = 0; (key = fr_json_key_at(&varied, i)); i++) {
        const char *value = NULL;
        struct fr_json node = fr_json_member(&varied, key);
        if (strncmp(key, "model.", 6) != 0) continue;
        FR_TRY(fr_json_text(&node, &value, err));
        FR_TRY(fr_json_set(model, key + 6, value, "varied", err));
        fr_line_addf(run->group, sizeof run->group, length, " %s=%s", key + 6, value);
    }
    return FR_OK;
}

/* ---- a plan -------------------------------------------------------------------------------------- */

/* The program, the ranks and the group. */
static fr_status describe(struct fr_validate_case *run, const struct fr_json *plan_node,
                          const struct fr_json_document *model, size_t length,
                          struct fr_error *err) {
    struct fr_workload workload = {0};
    struct fr_plan plan;
    struct fr_plan_lists lists = {0};
    fr_status status = fr_model_read(model, &workload, err);
    if (status == FR_OK) status = fr_plan_read_object(plan_node, &plan, &lists, err);
    if (status == FR_OK) {
        int64_t batch = plan.global_batch ? plan.global_batch : workload.global_batch;
        run->ranks = fr_plan_ranks(&plan);
        snprintf(run->app, sizeof run->app, "%s", fr_validate_program(&workload, &plan));
        fr_line_addf(run->group, sizeof run->group, &length, " b=%" PRId64 " p=%" PRId64, batch,
                     run->ranks);
    }
    fr_workload_free(&workload);
    fr_plan_lists_free(&lists);
    return status;
}

static fr_status add_plan(const struct searching *s, const struct fr_json *root,
                          const struct fr_json *outcome, struct fr_error *err) {
    struct fr_validate_case run = {.id = s->validation->n_rows};
    struct fr_json plan = fr_json_member(outcome, "plan");
    struct fr_json_document *model = NULL;
    size_t length = 0;
    fr_status status = open_model(s, root, &model, err);
    struct fr_json node = model ? fr_json_root(model) : plan;
    const char *name = model ? fr_json_text_at(&node, "name") : "";
    if (!*name && model) name = fr_json_text_at(&node, "kind");
    fr_line_addf(run.group, sizeof run.group, &length, "%.40s", *name ? name : "model");
    if (status == FR_OK) status = set_varied(outcome, model, &run, &length, err);
    if (status == FR_OK) status = describe(&run, &plan, model, length, err);
    if (status == FR_OK) status = copy(&node, "the model", run.model, sizeof run.model, err);
    if (status == FR_OK) status = copy(&plan, "the plan", run.plan, sizeof run.plan, err);
    if (status == FR_OK) status = fr_validation_add(s->validation, &run, err);
    fr_json_free(model);
    return status;
}

/* ---- their lines, without what all of them say ----------------------------------------------------- */

struct read_plan {
    struct fr_plan plan;
    struct fr_plan_lists lists;
};

static fr_status read_plan(const char *text, struct read_plan *out, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_parse(text, strlen(text), "plan", &document, err));
    fr_status status = fr_plan_read(document, &out->plan, &out->lists, err);
    fr_json_free(document);
    return status;
}

static fr_status label_plans(struct fr_validation *v, struct fr_error *err) {
    struct fr_plan_common common = {.plans = 0};
    struct read_plan *plans = fr_calloc((size_t)v->n_rows + 1, sizeof *plans);
    fr_status status = plans ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "%d plans", v->n_rows);
    for (int i = 0; status == FR_OK && i < v->n_rows; i++) {
        status = read_plan(v->rows[i].run.plan, &plans[i], err);
        if (status == FR_OK) fr_plan_common_add(&common, &plans[i].plan);
    }
    for (int i = 0; status == FR_OK && i < v->n_rows; i++) {
        char line[FR_PLAN_LINE], *label = v->rows[i].run.label;
        snprintf(label, sizeof v->rows[i].run.label, "%s",
                 fr_plan_line(&plans[i].plan, fr_plan_common_keys(&common), line, sizeof line));
    }
    for (int i = 0; plans && i < v->n_rows; i++) fr_plan_lists_free(&plans[i].lists);
    free(plans);
    return status;
}

static fr_status add_plans(const struct searching *s, const struct fr_json *root,
                           struct fr_error *err) {
    struct fr_json top = fr_json_member(root, "top");
    const char *schema = fr_json_text_at(root, "schema");
    if (!schema || strcmp(schema, "forerun/search/1") != 0)
        return fr_fail(err, FR_ERR_INPUT, s->path,
                       "is not what forerun search --json prints: no schema "
                       "\"forerun/search/1\"");
    FR_TRY(fr_json_array(&top, 0, INT32_MAX, err));
    int64_t n = fr_json_array_length(&top);
    if (n == 0) return fr_fail(err, FR_ERR_INPUT, s->path, "found no plan");
    for (int64_t i = 0; i < n && i < s->top; i++) {
        struct fr_json outcome = fr_json_element(&top, i);
        FR_TRY(add_plan(s, root, &outcome, err));
    }
    return FR_OK;
}

fr_status fr_validate_searched(const char *path, const char *model, int64_t top,
                               struct fr_validation *v, struct fr_error *err) {
    const struct searching s = {path, model, top, v};
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_read(path, &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = add_plans(&s, &root, err);
    fr_json_free(document);
    return status == FR_OK ? label_plans(v, err) : status;
}

void fr_validate_refuse_large(struct fr_validation *v, double memory_B) {
    for (int i = 0; i < v->n_rows; i++) {
        struct fr_validate_row *row = &v->rows[i];
        double needs_B = row->predicted_peak_B * (double)row->run.ranks;
        char needs[40], has[40];
        if (!(needs_B > memory_B)) continue;
        snprintf(row->refused, sizeof row->refused,
                 "its %" PRId64 " ranks need %s, this machine has %s", row->run.ranks,
                 fr_quantity_format(needs_B, FR_QUANTITY_SIZE, needs, sizeof needs),
                 fr_quantity_format(memory_B, FR_QUANTITY_SIZE, has, sizeof has));
    }
}
