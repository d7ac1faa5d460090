/* Exchanges of stages and their communicators, listed once. */
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/ranks/laying.h"

static int32_t *communicators(struct fr_ranks_laying *l, const struct fr_members *m,
                              int32_t stage) {
    for (struct fr_ranks_listed *k = l->listed; k; k = k->next)
        if (k->members.n == m->n && k->members.apart == m->apart &&
            k->members.ends == m->ends && (m->ends || k->stage == stage))
            return k->rank;
    struct fr_ranks_listed *made = fr_calloc(1, sizeof *made);
    if (!made) return NULL;
    *made = (struct fr_ranks_listed){*m, stage, NULL, l->listed};
    l->listed = made;
    made->rank = fr_malloc((size_t)fr_members_count(&l->rank_map, m), sizeof *made->rank);
    if (made->rank && fr_members_list(&l->rank_map, m, stage, made->rank) != FR_OK) {
        free(made->rank);
        made->rank = NULL;
    }
    return made->rank;
}

/* @param at  stage whose ranks it is; of a message's gather either side of boundary @p i */
struct fr_ranks_exchanged *fr_ranks_exchanged(struct fr_ranks_laying *l, int32_t i, int32_t at,
                                              fr_exchanges_step step) {
    bool arrived = step == FR_EXCHANGES_ARRIVED;
    struct fr_ranks_exchanged *e =
        &l->exchanged[i * (FR_EXCHANGES_STEPS + 1) + (int)step + (arrived && at != i)];
    if (e->made || l->b.failed) return e;
    e->made = true;
    l->b.failed =
        fr_exchanges_make(l->job, l->plan, &l->rank_map, l->p, i, step, &e->x) != FR_OK;
    e->members = fr_calloc((size_t)e->x.n + 1, sizeof *e->members);
    l->b.failed = l->b.failed || !e->members;
    for (int k = 0; k < e->x.n && !l->b.failed; k++) {
        e->members[k] = communicators(l, &e->x.list[k].members, at);
        l->b.failed = !e->members[k];
    }
    return e;
}

int fr_ranks_part(int with) { return __builtin_ctz((unsigned)with) + 1; }

struct fr_ranks_collective fr_ranks_collective_of(const struct fr_ranks_laying *l,
                                                  const struct fr_ranks_exchanged *e, int k,
                                                  double times) {
    const struct fr_exchange *x = &e->x.list[k];
    return (struct fr_ranks_collective){
        .op = x->op,
        .group = x->group,
        .members = e->members[k],
        .n_groups = (int32_t)(fr_members_count(&l->rank_map, &x->members) / x->members.n),
        .size_B = x->size_B,
        .times = times,
        .part = fr_ranks_part(x->with)};
}

void fr_ranks_play(struct fr_ranks_laying *l, const struct fr_ranks_exchanged *e, int k,
                   double times, int32_t micro) {
    const struct fr_ranks_collective c = fr_ranks_collective_of(l, e, k, times);
    fr_ranks_messages(&l->b, &c, micro);
}

void fr_ranks_free_exchanged(struct fr_ranks_laying *l) {
    int64_t n = (int64_t)l->p->args.stages * (FR_EXCHANGES_STEPS + 1);
    for (int64_t k = 0; l->exchanged && k < n; k++) {
        fr_exchanges_free(&l->exchanged[k].x);
        free(l->exchanged[k].members);
    }
    free(l->exchanged);
    while (l->listed) {
        struct fr_ranks_listed *next = l->listed->next;
        free(l->listed->rank);
        free(l->listed);
        l->listed = next;
    }
}
