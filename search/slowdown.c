#include "search/slowdown.h"
#include "search/keep.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "models/outcome/clocks.h"
#include "models/outcome/energy.h"
#include "search/stage_layers.h"

static double value_of(const struct fr_search_result *result, const struct fr_outcome *out) {
    return fr_objective_value(FR_OBJECTIVE_ENERGY, result->by, out);
}

/* Times as they are ranked: to the loss, of an iteration, of a sample. */
static double ranked_s(const struct fr_search_result *result, const struct fr_outcome *out) {
    return fr_objective_value(FR_OBJECTIVE_TIME, result->by, out);
}

/* Clocks are of stages whose layers are known. */
static bool resolve_layers(const struct fr_job *job, struct fr_plan *plan, int64_t *layers) {
    if (fr_stage_layers_best(job, plan, layers, NULL) != FR_OK) return false;
    plan->stage_layers = layers;
    plan->n_stage_layers = (int)plan->pp;
    plan->stage_layers_best = false;
    return true;
}

/* @p found at its best clocks, kept where it needs less. */
static fr_status reclock(const struct fr_job *job, struct fr_slowdown *s, double slowdown,
                         int64_t **owned, struct fr_found *found, struct fr_error *err) {
    struct fr_outcome *out = &found->outcome, clocked;
    const struct fr_job *of = out->job ? out->job : job;
    struct fr_plan plan = out->plan;
    /* The user's own clocks stay; grids chosen by layer are not kept with a plan. */
    if (fr_plan_clocks(&plan) || plan.layer_tp_best || plan.pp > 1 << 16) return FR_OK;
    *owned = fr_calloc(2 * (size_t)plan.pp, sizeof **owned);
    if (!*owned) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (plan.stage_layers_best && !resolve_layers(of, &plan, *owned + plan.pp)) return FR_OK;
    fr_status status = fr_clocks_choose(of, &plan, slowdown, *owned, NULL);
    if (status == FR_ERR_UNSUPPORTED) return FR_OK;
    if (status != FR_OK) return fr_fail(err, status, "--max-slowdown", "could not be priced");
    s->clocks = true;
    plan.clock_Hz = *owned;
    plan.n_clock_Hz = (int)plan.pp;
    fr_cost(of, &plan, &clocked);
    if (clocked.reasons || !(clocked.energy_J < out->energy_J)) return FR_OK;
    clocked.job = out->job;
    *out = clocked;
    return FR_OK;
}

struct ordered {
    double value, own_J;
    struct fr_found found;
    int64_t *clock_Hz;
};

static int by_value(const void *a, const void *b) {
    const struct ordered *x = a, *y = b;
    return FR_ORDER(x->value, y->value);
}

/* A plan that takes t may slow by deadline / t - 1; plans slower than the deadline are left out. */
static fr_status fill(const struct fr_job *job, struct fr_slowdown *s,
                      struct fr_search_result *result, struct ordered *all, size_t *kept,
                      struct fr_error *err) {
    double deadline = (1 + s->most) * ranked_s(result, &result->top.items[0].outcome);
    for (size_t i = 0; i < result->top.count && i < FR_SLOWDOWN_PLANS; i++) {
        struct fr_found *found = &result->top.items[i];
        double left = deadline / ranked_s(result, &found->outcome) - 1;
        struct ordered *x = &all[*kept];
        if (!(left >= -1e-12)) continue;
        *x = (struct ordered){.own_J = found->outcome.energy_J, .found = *found};
        ++*kept;
        FR_TRY(reclock(job, s, fmax(0, left), &x->clock_Hz, &x->found, err));
        x->value = value_of(result, &x->found.outcome);
    }
    return FR_OK;
}

fr_status fr_slowdown_apply(const struct fr_job *job, struct fr_slowdown *s,
                            struct fr_search_result *result, struct fr_error *err) {
    struct fr_found_list *top = &result->top;
    size_t kept = 0;
    if (!s->asked || top->count == 0) return FR_OK;
    struct ordered *all = fr_calloc(top->count, sizeof *all);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    s->fastest_s = top->items[0].outcome.time_s;
    s->fastest_J = top->items[0].outcome.energy_J;
    fr_status status = fill(job, s, result, all, &kept, err);
    fr_sort_items(all, kept, sizeof *all, by_value);
    for (size_t i = 0; i < kept; i++) {
        s->clock_Hz[i] = all[i].clock_Hz;
        top->items[i] = all[i].found;
        result->ranked.items[i] =
            (struct fr_ranked){.value = all[i].value,
                               .lossy = fr_lossiness(&all[i].found.outcome),
                               .index = all[i].found.index};
    }
    if (kept) s->own_J = all[0].own_J;
    top->count = result->ranked.count = kept;
    free(all);
    return status;
}

static bool point_at(const struct fr_job *job, struct fr_plan *plan, double slowdown,
                     int64_t *clock_Hz, struct fr_curve_point *point) {
    struct fr_outcome out;
    plan->clock_Hz = NULL;
    plan->n_clock_Hz = 0;
    if (fr_clocks_choose(job, plan, slowdown, clock_Hz, NULL) != FR_OK) return false;
    plan->clock_Hz = clock_Hz;
    plan->n_clock_Hz = (int)plan->pp;
    fr_cost(job, plan, &out);
    *point = (struct fr_curve_point){.time_s = out.time_s, .energy_J = out.energy_J};
    return isfinite(out.energy_J) &&
           fr_energy_interval(&job->cluster, &out, &point->low_J, &point->high_J);
}

/* Energy over time of the best plan, at deadlines from the fastest to the slowest; points that save nothing more are
 * left out. */
int fr_slowdown_curve(const struct fr_job *job, const struct fr_slowdown *s,
                      const struct fr_outcome *best, struct fr_curve_point *curve) {
    const struct fr_job *of = best->job ? best->job : job;
    struct fr_plan plan = best->plan;
    int64_t *clock_Hz = s->clocks ? fr_calloc(2 * (size_t)plan.pp, sizeof *clock_Hz) : NULL;
    bool resolved =
        clock_Hz && (!plan.stage_layers_best || resolve_layers(of, &plan, clock_Hz + plan.pp));
    int n = 0;
    for (int k = 0; resolved && k < FR_CURVE_POINTS; k++) {
        double slowdown = s->most * k / (FR_CURVE_POINTS - 1);
        if (!point_at(of, &plan, slowdown, clock_Hz, &curve[n])) break;
        n += n == 0 || curve[n].energy_J < curve[n - 1].energy_J;
    }
    free(clock_Hz);
    return n;
}

void fr_slowdown_free(struct fr_slowdown *s) {
    for (int i = 0; i < FR_SEARCH_PRICED; i++) free(s->clock_Hz[i]);
    *s = (struct fr_slowdown){.asked = false};
}
