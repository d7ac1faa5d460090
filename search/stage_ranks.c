#include "search/stage_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/outcome/resolve.h"
#include "models/price/pipeline.h"

/* Equal times, to rounding. */
static const double rounding = 1e-9;

int fr_stage_ranks_tried(int64_t rank, int64_t tried[FR_STAGE_RANKS]) {
    int n = 0;
    tried[n++] = 0;
    for (int64_t divisor = 1; divisor <= 8 && rank / divisor > 0; divisor *= 2)
        if (rank / divisor != tried[n - 1]) tried[n++] = rank / divisor;
    return n;
}

/* The plan with those ranks; the list has the place of the one rank. */
static struct fr_plan with(const struct fr_plan *plan, const int64_t *ranks) {
    struct fr_plan listed = *plan;
    listed.gradient_ranks = ranks;
    listed.n_gradient_ranks = (int)plan->compression.gradient_stages;
    listed.gradient_ranks_best = false;
    listed.compression.gradient_rank = fr_plan_default().compression.gradient_rank;
    return listed;
}

/* Time of an iteration, whether or not it fits the memory; infinite where it cannot be. */
static double time_of(const struct fr_job *job, const struct fr_plan *plan,
                      const int64_t *ranks) {
    struct fr_plan listed = with(plan, ranks);
    struct fr_outcome out;
    fr_cost(job, &listed, &out);
    return out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY) ? INFINITY : out.time_s;
}

/* Each stage at the rank with which its own gradients take least; of equals the least compressed. */
static fr_status take_fastest(const struct fr_job *job, const struct fr_plan *plan,
                              const int64_t *tried, int n_tried, int64_t *ranks,
                              double *least_s) {
    const int64_t n = plan->compression.gradient_stages;
    struct fr_resolved s;
    fr_status status = fr_resolve(job, plan, &s, NULL);
    int64_t *all = fr_calloc((size_t)n, sizeof *all);
    for (int64_t i = 0; i < n; i++) least_s[i] = INFINITY;
    for (int k = 0; status == FR_OK && all && k < n_tried; k++) {
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        for (int64_t i = 0; i < n; i++) all[i] = tried[k];
        const struct fr_plan listed = with(&s.plan, all);
        status = fr_pipeline_make(s.job, &listed, &p, &extrapolated, NULL);
        for (int64_t i = 0; status == FR_OK && i < n; i++) {
            const double own_s = p.stage[i].gradient_s + p.stage[i].gradient_codec_s;
            if (!(own_s < least_s[i] * (1 - rounding))) continue;
            least_s[i] = own_s;
            ranks[i] = tried[k];
        }
        fr_pipeline_free(&p);
    }
    free(all);
    fr_resolved_free(&s);
    return status == FR_OK && !all ? FR_ERR_NOMEM : status;
}

/* One stage at a time to whatever is faster, as long as anything is.  @return the time */
static double descend(const struct fr_job *job, const struct fr_plan *plan,
                      const int64_t *tried, int n_tried, int64_t *ranks) {
    double best_s = time_of(job, plan, ranks);
    for (bool moved = true; moved;) {
        moved = false;
        for (int64_t i = 0; i < plan->compression.gradient_stages; i++)
            for (int k = 0; k < n_tried; k++) {
                const int64_t before = ranks[i];
                ranks[i] = tried[k];
                const double time_s = time_of(job, plan, ranks);
                if (time_s < best_s * (1 - rounding))
                    best_s = time_s, moved = true;
                else
                    ranks[i] = before;
            }
    }
    return best_s;
}

/* Each stage as little compressed as keeps the time. */
static void relax(const struct fr_job *job, const struct fr_plan *plan, const int64_t *tried,
                  double best_s, int64_t *ranks) {
    for (int64_t i = 0; i < plan->compression.gradient_stages; i++) {
        const int64_t fastest = ranks[i];
        for (int k = 0; tried[k] != fastest; k++) {
            ranks[i] = tried[k];
            if (time_of(job, plan, ranks) <= best_s * (1 + rounding)) break;
            ranks[i] = fastest;
        }
    }
}

/* Where gradients go beside passes, those of one stage at least are not compressed. */
static bool spares_one(const struct fr_plan *plan) {
    return plan->overlap && plan->compression.gradient_stages == plan->pp;
}

/* The descent from @p ranks; where one stage has to be spared, the best of those that spare each.  @return the time */
static double descend_all(const struct fr_job *job, const struct fr_plan *plan,
                          const int64_t *tried, int n_tried, int64_t *ranks, int64_t *kept) {
    const int64_t n = plan->compression.gradient_stages;
    const size_t size = (size_t)n * sizeof *ranks;
    double best_s = INFINITY;
    if (!spares_one(plan)) return descend(job, plan, tried, n_tried, ranks);
    int64_t *own = kept + n;
    memcpy(own, ranks, size);
    memcpy(kept, ranks, size);
    for (int64_t spared = 0; spared < n; spared++) {
        memcpy(ranks, own, size);
        ranks[spared] = 0;
        const double time_s = descend(job, plan, tried, n_tried, ranks);
        if (!(time_s < best_s * (1 - rounding))) continue;
        best_s = time_s;
        memcpy(kept, ranks, size);
    }
    memcpy(ranks, kept, size);
    return best_s;
}

fr_status fr_stage_ranks_best(const struct fr_job *job, const struct fr_plan *plan,
                              int64_t *ranks, struct fr_error *err) {
    int64_t tried[FR_STAGE_RANKS];
    const int64_t n = plan->compression.gradient_stages;
    const int n_tried = fr_stage_ranks_tried(plan->compression.gradient_rank, tried);
    if (n < 1 || n > plan->pp)
        return fr_fail(err, FR_ERR_INFEASIBLE, "compression.gradient.ranks",
                       "compression.gradient.stages is none of the plan's stages");
    for (int64_t i = 0; i < n; i++) ranks[i] = tried[n_tried - 1];
    if (spares_one(plan)) ranks[n - 1] = 0;
    if (!isfinite(time_of(job, plan, ranks)))
        return fr_fail(err, FR_ERR_INFEASIBLE, "compression.gradient.ranks",
                       "the plan cannot be for another reason");
    double *least_s = fr_calloc((size_t)n, sizeof *least_s);
    int64_t *kept = fr_calloc(2 * (size_t)n, sizeof *kept);
    fr_status status = least_s && kept ? take_fastest(job, plan, tried, n_tried, ranks, least_s)
                                       : FR_ERR_NOMEM;
    if (status == FR_OK)
        relax(job, plan, tried, descend_all(job, plan, tried, n_tried, ranks, kept), ranks);
    free(least_s);
    free(kept);
    return status == FR_OK
               ? FR_OK
               : fr_fail(err, FR_ERR_NOMEM, "compression.gradient.ranks", "out of memory");
}

fr_status fr_stage_ranks_choose(struct fr_job *job, struct fr_error *err) {
    struct fr_plan *plan = &job->plan;
    const int64_t n = plan->compression.gradient_stages;
    if (!plan->gradient_ranks_best) return FR_OK;
    int64_t *ranks = fr_calloc((size_t)(n > 0 ? n : 1), sizeof *ranks);
    if (!ranks)
        return fr_fail(err, FR_ERR_NOMEM, "compression.gradient.ranks", "out of memory");
    fr_status status = fr_stage_ranks_best(job, plan, ranks, err);
    if (status != FR_OK) {
        free(ranks);
        return status == FR_ERR_INFEASIBLE ? FR_OK : status; /* the plan says why itself */
    }
    free(job->lists.gradient_ranks);
    job->lists.gradient_ranks = ranks;
    *plan = with(plan, ranks);
    return FR_OK;
}
