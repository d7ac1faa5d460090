#include "real/apps/case.h"
#include "models/plan/iterations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/journal/journal.h"
#include "real/validate/validate.h"

static const char *const keys[] = {"kind",  "id",    "app",  "ranks", "group",
                                   "label", "model", "plan", NULL};

static fr_status find_app(const struct fr_json *node, const struct fr_real_app **app,
                          struct fr_error *err) {
    const char *known[32] = {NULL}, *name = NULL;
    int n = 0;
    FR_TRY(fr_json_text(node, &name, err));
    for (const struct fr_real_app *const *row = fr_real_apps; *row; row++) {
        known[n++] = (*row)->name;
        if (strcmp((*row)->name, name) != 0) continue;
        *app = *row;
        return FR_OK;
    }
    const char *near = fr_suggest(name, known);
    return fr_json_fail(node, err, "no program \"%.40s\"%s%s%s", name,
                        near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static fr_status parse_inner(const struct fr_json *object, const char *key, const char *name,
                             struct fr_json_document **document, struct fr_error *err) {
    struct fr_json node = fr_json_member(object, key);
    const char *text = NULL;
    char place[160];
    FR_TRY(fr_json_text(&node, &text, err));
    snprintf(place, sizeof place, "%.100s, its %.40s", name, key);
    return fr_json_parse(text, strlen(text), place, document, err);
}

fr_status fr_real_item_inputs(const struct fr_json *root, const char *name,
                              struct fr_real_item *item, struct fr_error *err) {
    struct fr_json_document *model = NULL, *plan = NULL;
    fr_status status = parse_inner(root, "model", name, &model, err);
    if (status == FR_OK) status = parse_inner(root, "plan", name, &plan, err);
    if (status == FR_OK) status = fr_model_read(model, &item->workload, err);
    if (status == FR_OK) status = fr_plan_read(plan, &item->plan, &item->lists, err);
    fr_json_free(model);
    fr_json_free(plan);
    return status;
}

static fr_status read_item(const struct fr_json *root, const char *name,
                           struct fr_real_item *item, struct fr_error *err) {
    struct fr_json app = fr_json_member(root, "app");
    FR_TRY(fr_json_object(root, keys, err));
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &item->id, err));
    FR_TRY(find_app(&app, &item->app, err));
    FR_TRY(fr_json_get_string(root, "group", false, item->group, sizeof item->group, err));
    return fr_real_item_inputs(root, name, item, err);
}

static fr_status check(struct fr_real_item *item, const char *name, int64_t n_ranks,
                       struct fr_error *err) {
    struct fr_error inner = {.status = FR_OK};
    if (fr_plan_ranks(&item->plan) != n_ranks)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "a plan of %" PRId64 " ranks in a job of %" PRId64,
                       fr_plan_ranks(&item->plan), n_ranks);
    if (item->app->check(&item->run, &inner) == FR_OK) return FR_OK;
    return fr_fail(err, inner.status, name, "%s cannot run this: %s", item->app->name,
                   inner.detail);
}

/* ---- lines ------------------------------------------------------------------------------------- */

struct reading {
    int n_ranks; /* 0: any */
    uint64_t seed;
    struct fr_real_cases *cases;
    int64_t *refused; /* ids */
    int n_refused;
    struct fr_text *lines; /* of what is refused; NULL: that is an error */
};

static bool is_of_kind(const struct fr_journal_line *line, const char *kind) {
    return strcmp(fr_json_text_at(line->root, "kind"), kind) == 0;
}

static fr_status note_refused(const struct fr_journal_line *line, void *context,
                              struct fr_error *err) {
    struct reading *r = context;
    if (is_of_kind(line, "provenance"))
        return fr_journal_schema(line->root, FR_RUNS_SCHEMA, err);
    if (!is_of_kind(line, "refused")) return FR_OK;
    return fr_json_get_integer(line->root, "id", true, 0, INT64_MAX / 2,
                               &r->refused[r->n_refused++], err);
}

static void put_refused(struct fr_text *lines, int64_t id, const char *why) {
    struct fr_json_writer w = {.text = lines};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "refused");
    fr_json_add_integer(&w, "id", id);
    fr_json_add_string(&w, "why", why);
    fr_json_end_object(&w);
    fr_text_add(lines, "\n", 1);
}

static fr_status take_case(const struct fr_journal_line *line, void *context,
                           struct fr_error *err) {
    struct reading *r = context;
    const struct fr_json *root = line->root;
    const char *place = line->place;
    int64_t ranks = 0, id = 0;
    if (!is_of_kind(line, "case")) return FR_OK;
    FR_TRY(fr_json_get_integer(root, "ranks", true, 1, 1 << 24, &ranks, err));
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &id, err));
    if (r->n_ranks && ranks != r->n_ranks) return FR_OK;
    for (int i = 0; i < r->n_refused; i++)
        if (r->refused[i] == id) return FR_OK;
    struct fr_real_item *item =
        &r->cases->items[r->cases->n++]; /* freed whatever becomes of it */
    struct fr_error why = {.status = FR_OK};
    FR_TRY(read_item(root, place, item, err));
    item->run = (struct fr_real_case){
        .workload = &item->workload, .plan = &item->plan, .options = "", .seed = r->seed};
    if (!r->lines) return check(item, place, ranks, err);
    if (check(item, place, ranks, &why) != FR_OK) put_refused(r->lines, id, why.detail);
    return FR_OK;
}

static fr_status read_cases(struct reading *r, const char *text, const char *name,
                            struct fr_error *err) {
    size_t n_lines = 1;
    for (const char *at = text; *at; at++) n_lines += *at == '\n';
    *r->cases = (struct fr_real_cases){.items = fr_calloc(n_lines, sizeof *r->cases->items)};
    r->refused = fr_calloc(n_lines, sizeof *r->refused);
    fr_status status = r->cases->items && r->refused
                           ? fr_journal_each(text, strlen(text), name, note_refused, r, err)
                           : fr_fail(err, FR_ERR_NOMEM, NULL, "%zu cases", n_lines);
    if (status == FR_OK) status = fr_journal_each(text, strlen(text), name, take_case, r, err);
    free(r->refused);
    return status;
}

fr_status fr_real_cases_read(const char *text, const char *name, int n_ranks, uint64_t seed,
                             struct fr_real_cases *cases, struct fr_error *err) {
    struct reading r = {.n_ranks = n_ranks, .seed = seed, .cases = cases};
    FR_TRY(read_cases(&r, text, name, err));
    if (cases->n == 0)
        return fr_fail(err, FR_ERR_INPUT, name, "holds no case for %d ranks", n_ranks);
    for (int i = 0; i < cases->n; i++)
        while (strcmp(cases->items[cases->items[i].block].group, cases->items[i].group) != 0)
            cases->items[i].block++;
    return FR_OK;
}

fr_status fr_real_cases_refused(const char *text, const char *name, struct fr_text *lines,
                                struct fr_error *err) {
    struct fr_real_cases cases = {0};
    struct reading r = {.cases = &cases, .lines = lines};
    fr_status status = read_cases(&r, text, name, err);
    fr_real_cases_free(&cases);
    return status;
}

void fr_real_cases_free(struct fr_real_cases *cases) {
    for (int i = 0; i < cases->n; i++) {
        fr_workload_free(&cases->items[i].workload);
        fr_plan_lists_free(&cases->items[i].lists);
    }
    free(cases->items);
    *cases = (struct fr_real_cases){0};
}
