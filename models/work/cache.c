#include "models/work/cache.h"

#include <math.h>

#include "models/workload/cache.h"

void fr_cache_add(const struct fr_transformer *t, const struct fr_cache_share *share,
                  struct fr_rank_work *work) {
    const struct fr_cache_sizes c = fr_cache_of(t);
    if (t->cached == 0 || share->attentions <= 0) return;
    double s = (double)t->sequence, cached = (double)t->cached, p = share->ranks,
           samples = share->attentions * share->batch;
    double width = c.divided / p + c.whole, moved = width - c.index;
    struct fr_operation *o = fr_work_add(work, FR_WORK_CACHED, FR_PASS_FORWARD, 1);
    o->size = samples * s * 2 * (c.pair * c.seen + c.scored) / p;
    o->read_B = samples * share->value_B * (moved * (c.seen + s) + c.index * (cached + s));
    work->cache_B = samples * share->value_B * width * c.kept;
}

double fr_cache_experts(const struct fr_transformer *t, double held, double tokens) {
    double all = (double)t->experts, choices = (double)t->experts_per_token;
    if (t->cached == 0 || all <= 0) return held;
    return held * (1 - pow(1 - fmin(1, choices / all), tokens));
}

void fr_cache_stream(const struct fr_transformer *t, struct fr_rank_work *work) {
    for (int k = 0; t->cached > 0 && k < work->n_ops; k++)
        if (work->op[k].kind == FR_WORK_PRODUCT) work->op[k].streams = true;
}

const char *fr_cache_lacks(const struct fr_transformer *t, const struct fr_plan *plan) {
    const char *model = fr_cache_refused(t);
    if (t->cached == 0 || model) return model;
    return !plan->forward ? "a backward pass; set pass=forward"
           : !plan->method->megatron && !plan->method->uses_ghost
               ? "a method that is neither tensor nor phantom"
           : plan->cp > 1 ? "cp above 1: nobody has said which ranks keep which tokens"
           : plan->sequence_parallel ? "sequence_parallel: so few tokens are not divided"
                                     : NULL;
}
