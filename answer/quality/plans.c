/* The plans that are compared, each once, with what they cost. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/quality/quality.h"
#include "base/alloc.h"
#include "base/range.h"
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

/* What a plan says of what varies; where it says nothing, how it compresses. */
static void label(const struct fr_plan *plan, fr_plan_key_set without,
                  struct fr_quality_plan *out) {
    char line[FR_PLAN_LINE], forward[48] = "";
    const char *at = fr_plan_line(plan, without, line, sizeof line);
    at += strspn(at, " ,");
    if (!*at) at = fr_plan_line(plan, no_compression(), line, sizeof line);
    at += strspn(at, " ,");
    if (out->forward_rank)
        snprintf(forward, sizeof forward, "%sforward r%" PRId64, *at ? ", " : "",
                 out->forward_rank);
    snprintf(out->label, sizeof out->label, "%s%s", *at || *forward ? at : "no compression",
             forward);
}

/* What is not a plan of the cost model has no price: it is tried for what it does to learning. */
static void price(const struct fr_job *job, const struct fr_plan *plan,
                  struct fr_quality_plan *out) {
    fr_cost(job, plan, &out->cost);
    if (out->forward_rank) out->cost.time_s = out->cost.energy_J = NAN;
}

static fr_status add_variant(const struct fr_plan *plan, int64_t forward_rank,
                             fr_plan_key_set without, struct fr_qualities *q,
                             struct fr_error *err) {
    struct fr_quality_plan *out = &q->plans[q->n_plans];
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    fr_plan_write(&w, plan);
    out->text = text.data;
    out->forward_rank = forward_rank;
    q->variants[q->n_plans++] = (struct fr_quality_variant){text.data, forward_rank};
    if (text.failed) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d plans", q->n_plans);
    label(plan, without, out);
    price(&q->job, plan, out);
    return FR_OK;
}

enum { PLANS_MAX = 64 };

static fr_status add_plans(const struct fr_plan *plans, int n, const int64_t *forward,
                           size_t n_forward, struct fr_qualities *q, struct fr_error *err) {
    fr_plan_key_set without = alike(plans, n);
    size_t all = (size_t)n * (1 + n_forward);
    if (all > PLANS_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--forward", "makes more than %d trainings of plans",
                       PLANS_MAX);
    q->plans = fr_calloc(all, sizeof *q->plans);
    q->variants = fr_calloc(all, sizeof *q->variants);
    if (!q->plans || !q->variants) return fr_fail(err, FR_ERR_NOMEM, NULL, "%zu plans", all);
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k <= n_forward; k++)
            FR_TRY(add_variant(&plans[i], k ? forward[k - 1] : 0, without, q, err));
    q->options.plans = q->variants;
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

static fr_status each_plan(const struct fr_space *space, const int64_t *forward,
                           size_t n_forward, struct fr_qualities *q, struct fr_error *err) {
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
    return add_plans(plans, n, forward, n_forward, q, err);
}

fr_status fr_qualities_plans(const char *ranks, const char *const *vary, int n_vary,
                             const char *forward, struct fr_qualities *q,
                             struct fr_error *err) {
    struct fr_space space = {0};
    int64_t *forward_ranks = NULL;
    size_t n_forward = 0;
    struct fr_json root = fr_json_root(fr_job_model(&q->job));
    struct fr_json_writer w = {.text = &q->model};
    fr_json_put_copy(&w, &root);
    q->options.model = fr_text_get(&q->model);
    fr_status status = FR_OK;
    if (forward)
        status =
            fr_range_parse(forward, false, 1, "--forward", &forward_ranks, &n_forward, err);
    if (status == FR_OK)
        status =
            fr_space_make(ranks, vary, n_vary, &q->job.plan, fr_job_plan_says(&q->job, "dp"),
                          fr_job_plan_says(&q->job, "tp"), NULL, &space, err);
    if (status == FR_OK) status = each_plan(&space, forward_ranks, n_forward, q, err);
    free(forward_ranks);
    fr_space_free(&space);
    return status;
}

void fr_qualities_free(struct fr_qualities *q) {
    for (int i = 0; i < q->n_plans; i++) free(q->plans[i].text);
    free(q->plans);
    free(q->variants);
    fr_text_free(&q->model);
    fr_corpus_free(&q->corpus);
    fr_quality_free(&q->found);
    fr_job_free(&q->job);
}
