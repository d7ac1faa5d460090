#include "answer/search/choice/even.h"

#include <math.h>

#include "search/break_even.h"
#include "search/chosen.h"

static double against(const struct fr_searched *r, const struct fr_outcome *exact,
                      const struct fr_outcome *out) {
    return fr_break_even(&r->job, r->options.objective, r->result.by, exact, out);
}

static void state(struct fr_outcome *out, double ratio, uint8_t from) {
    const bool known = ratio > 0 && isfinite(ratio);
    out->break_even_iterations = known ? ratio : 0;
    out->break_even_from = known ? from : FR_BREAK_EVEN_NONE;
}

void fr_even_state(const struct fr_searched *r, struct fr_outcome *out) {
    struct fr_outcome alone;
    struct fr_plan plan;
    if (r->space.variants || r->slowdown.asked || fr_outcome_is_exact(out) ||
        !isfinite(out->time_s))
        return;
    if (r->result.best_exact.index >= 0) {
        state(out, against(r, &r->result.best_exact.outcome, out), FR_BREAK_EVEN_BEST);
        return;
    }
    if (!fr_exact_plan(out, &plan)) return;
    fr_cost_chosen(&r->job, &plan, &alone);
    if (!alone.reasons) state(out, against(r, &alone, out), FR_BREAK_EVEN_SAME_PLAN);
}

void fr_even_state_all(struct fr_searched *r) {
    struct fr_search_result *result = &r->result;
    for (size_t i = 0; i < result->top.count; i++)
        fr_even_state(r, &result->top.items[i].outcome);
    for (size_t i = 0; i < result->pareto.count; i++)
        fr_even_state(r, &result->pareto.items[i].outcome);
    for (size_t i = 0; i < result->less_sure.count; i++)
        fr_even_state(r, &result->less_sure.items[i].outcome);
    for (int i = 0; i < r->n_user_plans; i++)
        if (!r->user_plan[i].outcome.reasons) fr_even_state(r, &r->user_plan[i].outcome);
    for (int i = 0; i < r->answers.n; i++) fr_even_state(r, &r->answers.items[i].outcome);
}
