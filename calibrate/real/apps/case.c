#include "calibrate/real/apps/case.h"
#include "models/plan/iterations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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

static fr_status read_item(const struct fr_json *root, const char *name,
                           struct fr_real_item *item, struct fr_error *err) {
    struct fr_json app = fr_json_member(root, "app");
    struct fr_json_document *model = NULL, *plan = NULL;
    FR_TRY(fr_json_object(root, keys, err));
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &item->id, err));
    FR_TRY(find_app(&app, &item->app, err));
    FR_TRY(fr_json_get_string(root, "group", false, item->group, sizeof item->group, err));
    fr_status status = parse_inner(root, "model", name, &model, err);
    if (status == FR_OK) status = parse_inner(root, "plan", name, &plan, err);
    if (status == FR_OK) status = fr_model_read(model, &item->workload, err);
    if (status == FR_OK) status = fr_plan_read(plan, &item->plan, &item->lists, err);
    fr_json_free(model);
    fr_json_free(plan);
    return status;
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

/* Is the line a case for this job? */
static fr_status wanted(const struct fr_json *root, int n_ranks, int64_t *ranks, bool *is_case,
                        struct fr_error *err) {
    struct fr_json kind = fr_json_member(root, "kind");
    const char *text = NULL;
    FR_TRY(fr_json_text(&kind, &text, err));
    *is_case = strcmp(text, "case") == 0;
    if (!*is_case) return FR_OK;
    FR_TRY(fr_json_get_integer(root, "ranks", true, 1, 1 << 24, ranks, err));
    *is_case = n_ranks == 0 || *ranks == n_ranks;
    return FR_OK;
}

static fr_status read_line(const char *line, size_t length, const char *name, int n_ranks,
                           uint64_t seed, struct fr_real_item *item, bool *is_case,
                           struct fr_error *err) {
    struct fr_json_document *document = NULL;
    int64_t ranks = 0;
    FR_TRY(fr_json_parse(line, length, name, &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = wanted(&root, n_ranks, &ranks, is_case, err);
    if (status == FR_OK && *is_case) status = read_item(&root, name, item, err);
    fr_json_free(document);
    if (status != FR_OK || !*is_case) return status;
    item->run = (struct fr_real_case){
        .workload = &item->workload, .plan = &item->plan, .options = "", .seed = seed};
    return check(item, name, ranks, err);
}

fr_status fr_real_cases_read(const char *text, const char *name, int n_ranks, uint64_t seed,
                             struct fr_real_cases *cases, struct fr_error *err) {
    int n_lines = 0, line = 0;
    for (const char *at = text; *at; at++) n_lines += *at == '\n';
    *cases =
        (struct fr_real_cases){.items = fr_calloc((size_t)n_lines + 1, sizeof *cases->items)};
    if (!cases->items) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d cases", n_lines);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        char place[160];
        snprintf(place, sizeof place, "%.120s: line %d", name, ++line);
        bool is_case = false;
        struct fr_real_item *item = &cases->items[cases->n];
        if (length > 0) {
            cases->n++; /* freed whatever becomes of it */
            FR_TRY(read_line(at, length, place, n_ranks, seed, item, &is_case, err));
            if (!is_case) cases->n--;
        }
        at += length + (at[length] == '\n');
    }
    if (cases->n == 0)
        return fr_fail(err, FR_ERR_INPUT, name, "holds no case for %d ranks", n_ranks);
    for (int i = 0; i < cases->n; i++)
        while (strcmp(cases->items[cases->items[i].block].group, cases->items[i].group) != 0)
            cases->items[i].block++;
    return FR_OK;
}

void fr_real_cases_free(struct fr_real_cases *cases) {
    for (int i = 0; i < cases->n; i++) {
        fr_workload_free(&cases->items[i].workload);
        fr_plan_lists_free(&cases->items[i].lists);
    }
    free(cases->items);
    *cases = (struct fr_real_cases){0};
}
