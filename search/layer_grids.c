#include "search/layer_grids.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/outcome/cost.h"
#include "models/plan/copies.h"

enum { GRIDS_MAX = 1024 };

static int divisors(int64_t n, int64_t *out) {
    int count = 0;
    for (int64_t d = 1; d * d <= n && count < GRIDS_MAX / 2; d++)
        if (n % d == 0) out[count++] = d;
    for (int i = count; i-- > 0;)
        if (out[i] * out[i] != n) out[count++] = n / out[i];
    /* The second half was written largest partner last: ascending as it stands. */
    return count;
}

/* Price every combination of a transformer's three groups that the plan's ranks allow. */
static fr_status best_of_groups(const struct fr_job *job, const struct fr_plan *plan,
                                int64_t *layer_tp, struct fr_error *err) {
    int64_t grid[GRIDS_MAX], own = fr_plan_ranks(plan) / plan->pp;
    int n = divisors(own, grid);
    double least_s = INFINITY;
    for (int k = 0; k < n * n * n; k++) {
        const int64_t tried[FR_GRIDS] = {grid[k % n], grid[k / n % n], grid[k / n / n]};
        struct fr_plan one = *plan;
        struct fr_outcome out;
        one.layer_tp = tried;
        one.n_layer_tp = FR_GRIDS;
        one.layer_tp_best = false;
        fr_cost(job, &one, &out);
        if (out.reasons || out.time_s >= least_s) continue;
        least_s = out.time_s;
        memcpy(layer_tp, tried, sizeof tried);
    }
    if (isfinite(least_s)) return FR_OK;
    return fr_fail(err, FR_ERR_INFEASIBLE, "layer_tp",
                   "no grids of the %" PRId64 " ranks of a stage fit the model, the batch and "
                   "the memory",
                   own);
}

fr_status fr_layer_grids_best(const struct fr_job *job, const struct fr_plan *plan,
                              int64_t *layer_tp, struct fr_error *err) {
    if (job->workload.transformer.layers > 0) return best_of_groups(job, plan, layer_tp, err);
    int layers = job->workload.n_layers;
    int64_t ranks = fr_plan_ranks(plan), grid[GRIDS_MAX];
    int64_t batch = fr_job_batch(job, plan);
    int n = divisors(ranks, grid);
    if (layers < 1 || n < 1)
        return fr_fail(err, FR_ERR_INFEASIBLE, "layer_tp",
                       "this kind of model has no layers to divide");
    size_t cells = (size_t)layers * (size_t)n;
    double *best_s = fr_calloc(cells, sizeof *best_s);
    int *from = fr_calloc(cells, sizeof *from);
    fr_status status = FR_OK;
    if (!best_s || !from) {
        status = fr_fail(err, FR_ERR_NOMEM, "layer_tp", "out of memory");
        goto done;
    }
    for (int l = 0; l < layers; l++)
        for (int g = 0; g < n; g++) {
            struct fr_plan one = *plan;
            one.method = FR_METHOD_WITH(grids);
            one.domain = 0;
            one.layer_tp = NULL;
            one.placement = fr_placement_default(); /* grids of layers lie in their order */
            one.tp = grid[g];
            one.dp = ranks / grid[g];
            double reach_s = l == 0 ? 0 : INFINITY;
            for (int h = 0; l > 0 && h < n; h++) {
                double move_s =
                    best_s[(size_t)(l - 1) * (size_t)n + (size_t)h] +
                    fr_redistribution_s(job, &one, grid[h], grid[g],
                                        job->workload.layers[l].inputs, (double)batch);
                if (move_s < reach_s) {
                    reach_s = move_s;
                    from[(size_t)l * (size_t)n + (size_t)g] = h;
                }
            }
            best_s[(size_t)l * (size_t)n + (size_t)g] = reach_s + fr_layer_time_s(job, &one, l);
        }
    int at = 0;
    const double *last = best_s + (size_t)(layers - 1) * (size_t)n;
    for (int g = 1; g < n; g++)
        if (last[g] < last[at]) at = g;
    if (!isfinite(last[at])) {
        status =
            fr_fail(err, FR_ERR_INFEASIBLE, "layer_tp",
                    "no grid of %" PRId64 " ranks fits every layer and the batch of %" PRId64,
                    ranks, batch);
        goto done;
    }
    for (int l = layers; l-- > 0; at = from[(size_t)l * (size_t)n + (size_t)at])
        layer_tp[l] = grid[at];
done:
    free(best_s);
    free(from);
    return status;
}

fr_status fr_layer_grids_choose(struct fr_job *job, struct fr_error *err) {
    if (!job->plan.layer_tp_best) return FR_OK;
    if (!job->plan.method->grids)
        return fr_fail(err, FR_ERR_INPUT, "plan#/layer_tp",
                       "a grid per layer needs method \"grid\"");
    int n = job->workload.transformer.layers > 0 ? FR_GRIDS : job->workload.n_layers;
    job->lists.layer_tp = fr_calloc((size_t)n, sizeof *job->lists.layer_tp);
    if (!job->lists.layer_tp) return fr_fail(err, FR_ERR_NOMEM, "layer_tp", "out of memory");
    FR_TRY(fr_layer_grids_best(job, &job->plan, job->lists.layer_tp, err));
    job->plan.layer_tp = job->lists.layer_tp;
    job->plan.n_layer_tp = n;
    return FR_OK;
}
