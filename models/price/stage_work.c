#include "models/price/stage_work.h"

#include <stddef.h>
#include <string.h>

#include "models/price/memo.h"
#include "models/price/pass.h"
#include "models/work/cache.h"

static bool same_blocks(const struct fr_transformer *t, const struct fr_plan *plan, int64_t i) {
    const struct fr_block_counts a = fr_transformer_stage_blocks(t, plan, i),
                                 b = fr_transformer_stage_blocks(t, plan, i - 1);
    return a.attention == b.attention && a.mlp == b.mlp && a.experts == b.experts &&
           a.ssm == b.ssm;
}

bool fr_stage_work_repeats(const struct fr_job *job, const struct fr_plan *plan, int64_t i) {
    const struct fr_transformer *t = &job->workload.transformer;
    if (i < 2 || i >= plan->pp - 1) return false;
    return fr_transformer_stage_layers(t, plan, i) ==
               fr_transformer_stage_layers(t, plan, i - 1) &&
           fr_transformer_stage_cross(t, plan, i) ==
               fr_transformer_stage_cross(t, plan, i - 1) &&
           (t->dense_layers == 0 || fr_transformer_stage_dense(t, plan, i) ==
                                        fr_transformer_stage_dense(t, plan, i - 1)) &&
           (!fr_transformer_is_hybrid(t) || same_blocks(t, plan, i));
}

static void make(const struct fr_job *job, const struct fr_plan *plan,
                 const struct fr_rank_map *rank_map, int64_t i, struct fr_stage_work *work) {
    work->extrapolated = 0;
    memset(&work->stage, 0, sizeof work->stage);
    work->input = (struct fr_pass){0};
    const struct fr_work_part part = {.workload = &job->workload, .plan = plan, .stage = i};
    plan->method->lower(&part, &work->work);
    if (plan->forward) fr_work_keep_forward(&work->work);
    fr_cache_stream(&job->workload.transformer, &work->work);
    fr_pass_price(job, plan, rank_map, &work->work, &work->stage, &work->input,
                  &work->extrapolated);
}

/* The first of the stages that do the same stands for them. */
static int64_t like(const struct fr_job *job, const struct fr_plan *plan, int64_t i) {
    while (fr_stage_work_repeats(job, plan, i)) i--;
    return i;
}

const struct fr_stage_work *fr_stage_work_find(const struct fr_job *job,
                                               const struct fr_plan *plan,
                                               const struct fr_rank_map *rank_map, int64_t i,
                                               const struct fr_price_memo *memo,
                                               struct fr_stage_work *own) {
    bool fresh = true;
    struct fr_stage_work *work =
        memo ? fr_memo_find(memo->work, plan, 2 * like(job, plan, i) + plan->schedule->folds,
                            &fresh)
             : own;
    if (fresh) make(job, plan, rank_map, i, work);
    return work;
}
