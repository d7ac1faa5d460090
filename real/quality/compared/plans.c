/* The plans that are compared, each once, with what they cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "real/quality/compared/compared.h"
#include "search/space.h"

/* Keys that are alike in all plans: a label says the others. */
static fr_plan_key_set alike(const struct fr_plan *plans, int n) {
    fr_plan_key_set set = 0;
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        bool same = true;
        for (int i = 1; i < n; i++)
            same = same && fr_plan_keys[k].type->same(&fr_plan_keys[k], &plans[0], &plans[i]);
        if (same) set |= FR_PLAN_KEY_BIT(k);
    }
    return set;
}

/* Every key but those of compression. */
static fr_plan_key_set no_compression(void) {
    fr_plan_key_set set = 0;
    for (int k = 0; k < FR_PLAN_KEYS; k++)
        if (strncmp(fr_plan_keys[k].name, "compression.", 12) != 0) set |= FR_PLAN_KEY_BIT(k);
    return set;
}

/* A plan's values of the varied keys; where it has none, how it compresses. */
static void label(const struct fr_plan *plan, fr_plan_key_set without,
                  struct fr_quality_plan *out) {
    char line[FR_PLAN_LINE];
    const char *at = fr_plan_line(plan, without, line, sizeof line);
    at += strspn(at, " ,");
    if (!*at) at = fr_plan_line(plan, no_compression(), line, sizeof line);
    at += strspn(at, " ,");
    snprintf(out->label, sizeof out->label, "%s", *at ? at : "no compression");
}

static fr_status add_plan(const struct fr_plan *plan, fr_plan_key_set without,
                          struct fr_qualities *q, struct fr_error *err) {
    struct fr_quality_plan *out = &q->plans[q->n_plans];
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_plan_write(&w, plan);
    out->text = text.data;
    q->texts[q->n_plans++] = text.data;
    if (text.failed) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d plans", q->n_plans);
    label(plan, without, out);
    fr_cost(&q->job, plan, &out->cost);
    return FR_OK;
}

enum { PLANS_MAX = 64 };

static fr_status add_plans(const struct fr_plan *plans, int n, struct fr_qualities *q,
                           struct fr_error *err) {
    fr_plan_key_set without = alike(plans, n);
    q->plans = fr_calloc((size_t)n + 1, sizeof *q->plans);
    q->texts = fr_calloc((size_t)n + 1, sizeof *q->texts);
    if (!q->plans || !q->texts) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d plans", n);
    for (int i = 0; i < n; i++) FR_TRY(add_plan(&plans[i], without, q, err));
    q->options.plans = q->texts;
    q->options.n_plans = q->n_plans;
    return FR_OK;
}

/* A key that no plan reads stands at its default in all of them. */
static fr_status all_vary(const struct fr_space *space, const struct fr_plan *plans, int n,
                          struct fr_error *err) {
    fr_plan_key_set same = alike(plans, n);
    for (int i = 0; i < space->n_dimensions; i++) {
        const struct fr_dimension *d = &space->dimension[i];
        if (d->count > 1 && same >> (d->key - fr_plan_keys) & 1)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "%s would have no effect on any plan",
                           d->key->name);
    }
    return FR_OK;
}

/* Nor is a key set for nothing: predict refuses such a plan, too. */
static fr_status all_set(const struct fr_job *job, const struct fr_plan *plans, int n,
                         struct fr_error *err) {
    const struct fr_plan none = fr_plan_default();
    for (int k = 0; k < FR_PLAN_KEYS; k++) {
        const struct fr_plan_key *key = &fr_plan_keys[k];
        bool read =
            key->type->same(key, &job->plan, &none) || !fr_job_plan_says(job, key->name);
        const char *needs = "";
        for (int i = 0; i < n && !read; i++) read = !key->type->same(key, &plans[i], &none);
        if (read) continue;
        fr_plan_idle_key(&job->workload, &job->plan, &needs);
        return fr_fail(err, FR_ERR_INPUT, "--set",
                       "%s would have no effect on any plan: it needs %s", key->name, needs);
    }
    return FR_OK;
}

static fr_status each_plan(const struct fr_space *space, struct fr_qualities *q,
                           struct fr_error *err) {
    struct fr_plan plans[PLANS_MAX];
    int n = 0;
    for (int64_t i = 0; i < space->size; i++) {
        bool fits = false;
        struct fr_plan plan;
        if (!fr_space_plan(space, &q->job.workload, i, &plan, &fits)) continue;
        if (!fits)
            return fr_fail(err, FR_ERR_USAGE, "--ranks",
                           "are no dp x pp x tp with these values of --vary and --set");
        if (n == PLANS_MAX)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "makes more than %d plans", PLANS_MAX);
        fr_job_fill(&q->job, &plan);
        plans[n++] = plan;
    }
    FR_TRY(all_vary(space, plans, n, err));
    FR_TRY(all_set(&q->job, plans, n, err));
    return add_plans(plans, n, q, err);
}

fr_status fr_qualities_plans(const char *ranks, const char *const *vary, int n_vary,
                             struct fr_qualities *q, struct fr_error *err) {
    struct fr_space space = {0};
    struct fr_json root = fr_json_root(fr_job_model(&q->job));
    struct fr_json_writer w = {.text = &q->model};
    fr_json_put_copy(&w, &root);
    q->options.model = fr_text_get(&q->model);
    fr_status status =
        fr_space_make(ranks, vary, n_vary, &q->job.plan, fr_job_plan_says(&q->job, "dp"),
                      fr_job_plan_says(&q->job, "tp"), NULL, &space, err);
    if (status == FR_OK) status = each_plan(&space, q, err);
    fr_space_free(&space);
    return status;
}

void fr_qualities_free(struct fr_qualities *q) {
    for (int i = 0; i < q->n_plans; i++) free(q->plans[i].text);
    free(q->plans);
    free(q->texts);
    fr_text_free(&q->model);
    fr_corpus_free(&q->corpus);
    fr_quality_free(&q->found);
    fr_job_free(&q->job);
}
