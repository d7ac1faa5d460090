#include "search/stage_layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/outcome/fits/fits.h"

/* A division and what it costs: time, or, where it does not fit, memory after all that do. */
struct division {
    int64_t *layers;
    double time_s, memory_B;
};

static void price(const struct fr_job *job, const struct fr_plan *plan, struct division *d) {
    struct fr_plan one = *plan;
    struct fr_outcome out;
    one.stage_layers = d->layers;
    one.n_stage_layers = (int)plan->pp;
    fr_cost(job, &one, &out);
    bool fits = out.reasons == 0 && !(out.memory_spare < FR_FITS_SURE),
         priced = !(out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY));
    d->time_s = fits ? out.time_s : INFINITY;
    d->memory_B = priced ? out.memory_peak_B : INFINITY;
}

static bool better(const struct division *a, const struct division *b) {
    if (isfinite(a->time_s) || isfinite(b->time_s)) return a->time_s < b->time_s * (1 - 1e-12);
    return a->memory_B < b->memory_B * (1 - 1e-12);
}

/* The best division one layer away. @return false where none is better */
static bool move_one(const struct fr_job *job, const struct fr_plan *plan, struct division *d,
                     int64_t *scratch) {
    struct division best = *d;
    int64_t from = -1, to = -1;
    for (int64_t a = 0; a < plan->pp; a++)
        for (int64_t b = 0; b < plan->pp; b++) {
            struct division tried = {.layers = scratch};
            if (a == b || d->layers[a] < 2) continue;
            memcpy(scratch, d->layers, (size_t)plan->pp * sizeof *scratch);
            scratch[a]--;
            scratch[b]++;
            price(job, plan, &tried);
            if (!better(&tried, &best)) continue;
            best.time_s = tried.time_s;
            best.memory_B = tried.memory_B;
            from = a;
            to = b;
        }
    if (from < 0) return false;
    d->layers[from]--;
    d->layers[to]++;
    d->time_s = best.time_s;
    d->memory_B = best.memory_B;
    return true;
}

static int64_t layers_of(const struct fr_workload *w) {
    double count = (double)w->transformer.layers;
    for (int i = 0; i < w->n_layers; i++) count += w->layers[i].repeat;
    return (int64_t)count;
}

bool fr_stage_layers_enough(const struct fr_workload *workload, int64_t pp) {
    return layers_of(workload) >= pp;
}

static fr_status too_few(struct fr_error *err) {
    return fr_fail(err, FR_ERR_INFEASIBLE, "stage_layers",
                   "there are fewer layers than stages");
}

fr_status fr_stage_layers_best(const struct fr_job *job, const struct fr_plan *plan,
                               int64_t *layers, struct fr_error *err) {
    int64_t n = layers_of(&job->workload), pp = plan->pp;
    struct division d = {.layers = layers};
    if (n < pp) return too_few(err);
    int64_t *scratch = fr_calloc((size_t)pp, sizeof *scratch);
    if (!scratch) return fr_fail(err, FR_ERR_NOMEM, "stage_layers", "out of memory");
    for (int64_t i = 0; i < pp; i++) layers[i] = n / pp + (i < n % pp);
    price(job, plan, &d);
    while (isfinite(d.memory_B) && move_one(job, plan, &d, scratch)) {
    }
    free(scratch);
    return FR_OK;
}

fr_status fr_stage_layers_choose(struct fr_job *job, struct fr_error *err) {
    struct fr_plan *plan = &job->plan;
    if (!plan->stage_layers_best) return FR_OK;
    if (!fr_stage_layers_enough(&job->workload, plan->pp)) return too_few(err);
    job->lists.stage_layers = fr_calloc((size_t)plan->pp, sizeof *job->lists.stage_layers);
    if (!job->lists.stage_layers)
        return fr_fail(err, FR_ERR_NOMEM, "stage_layers", "out of memory");
    FR_TRY(fr_stage_layers_best(job, plan, job->lists.stage_layers, err));
    plan->stage_layers = job->lists.stage_layers;
    plan->n_stage_layers = (int)plan->pp;
    plan->stage_layers_best = false;
    return FR_OK;
}
