#include "answer/search/choice/ranks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "search/stage_ranks.h"

static fr_status list(struct fr_searched *r, struct fr_outcome *out, struct fr_error *err) {
    struct fr_plan *plan = &out->plan;
    const int64_t n = plan->compression.gradient_stages;
    if (!plan->gradient_ranks_best || plan->stage_layers_best || plan->layer_tp_best || n < 1)
        return FR_OK;
    int64_t *ranks = fr_calloc((size_t)n, sizeof *ranks);
    if (!ranks) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    r->ranks[r->n_ranks++] = ranks;
    if (fr_stage_ranks_best(out->job ? out->job : &r->job, plan, ranks, NULL) != FR_OK)
        return FR_OK;
    plan->gradient_ranks = ranks;
    plan->n_gradient_ranks = (int)n;
    plan->gradient_ranks_best = false;
    plan->compression.gradient_rank = fr_plan_default().compression.gradient_rank;
    return FR_OK;
}

fr_status fr_ranks_list(struct fr_searched *r, struct fr_error *err) {
    struct fr_search_result *result = &r->result;
    r->ranks = fr_calloc(result->top.count + result->pareto.count + 1, sizeof *r->ranks);
    if (!r->ranks) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (size_t i = 0; i < result->top.count; i++)
        FR_TRY(list(r, &result->top.items[i].outcome, err));
    for (size_t i = 0; i < result->pareto.count; i++)
        FR_TRY(list(r, &result->pareto.items[i].outcome, err));
    return FR_OK;
}

void fr_ranks_free(struct fr_searched *r) {
    for (size_t i = 0; i < r->n_ranks; i++) free(r->ranks[i]);
    free(r->ranks);
}
