#include "models/price/members.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

static struct fr_members apart(int64_t n, int64_t apart_by) {
    return (struct fr_members){.n = n, .apart = apart_by};
}

/* As models/price/rank_map.c counts them. */
struct fr_members fr_members_along(const struct fr_plan *plan, fr_axis axis) {
    int64_t tp = plan->tp, etp = fr_plan_expert_tp(plan), experts = etp == tp ? tp : 1,
            replicas = fr_plan_replicas(plan);
    switch (axis) {
    case FR_AXIS_DP:
        return apart(replicas, tp);
    case FR_AXIS_COMMON: /* of cSub, the sub-grids that wait do as the first */
        return (struct fr_members){.n = plan->common_subgrid ? replicas : tp * replicas,
                                   .apart = 1,
                                   .replicas_first = plan->method->data_first};
    case FR_AXIS_CP:
        return apart(plan->cp, tp);
    case FR_AXIS_EP:
        return apart(plan->ep, experts);
    case FR_AXIS_EP_ACROSS:
        return apart(plan->ep / plan->dispatch_ranks, plan->dispatch_ranks * experts);
    case FR_AXIS_EP_WITHIN:
        return apart(plan->dispatch_ranks, experts);
    case FR_AXIS_EXPERT:
        return apart(fr_plan_expert_copies(plan), plan->ep * etp);
    case FR_AXIS_ATTENTION:
    case FR_AXIS_MLP:
    case FR_AXIS_ENDS:
        return apart(fr_plan_grid(plan, (int)axis - FR_AXIS_ATTENTION), 1);
    case FR_AXIS_TO_MLP:
    case FR_AXIS_TO_ENDS:
    case FR_AXIS_FROM_ENDS: {
        int g = (int)axis - FR_AXIS_TO_MLP;
        int64_t a = fr_plan_grid(plan, g), b = fr_plan_grid(plan, (g + 1) % FR_GRIDS);
        return a > b ? apart(a / b, b) : apart(b / a, a);
    }
    case FR_AXIS_ATTENTION_COPIES:
    case FR_AXIS_MLP_COPIES:
    case FR_AXIS_ENDS_COPIES: {
        fr_copies kind = (fr_copies)(FR_COPIES_ATTENTION + (axis - FR_AXIS_ATTENTION_COPIES));
        return apart(fr_plan_copies(plan, kind),
                     fr_plan_grid(plan, (int)axis - FR_AXIS_ATTENTION_COPIES));
    }
    default:
        return apart(tp, 1);
    }
}

struct fr_members fr_members_of_copies(const struct fr_plan *plan, fr_copies kind,
                                       fr_among among) {
    static const fr_axis axes[FR_COPIES] = {FR_AXIS_DP,         FR_AXIS_EXPERT,
                                            FR_AXIS_COMMON,     FR_AXIS_ATTENTION_COPIES,
                                            FR_AXIS_MLP_COPIES, FR_AXIS_ENDS_COPIES};
    struct fr_members all = fr_members_along(plan, axes[kind]);
    int64_t dividing = fr_plan_dividing(plan, kind);
    if (among == FR_AMONG_DIVIDING) all.n = dividing;
    if (among == FR_AMONG_ACROSS) {
        all.n /= dividing;
        all.apart *= dividing;
    }
    return all;
}

static int64_t ranks_of_stage(const struct fr_rank_map *s) {
    return s->mesh.size[FR_MESH_TP] * s->mesh.size[FR_MESH_DP];
}

int64_t fr_members_count(const struct fr_rank_map *s, const struct fr_members *m) {
    return ranks_of_stage(s) * (m->ends ? 2 : 1);
}

int64_t fr_members_rank(const struct fr_rank_map *s, int64_t i, int64_t x) {
    int64_t tp = s->mesh.size[FR_MESH_TP];
    return i * fr_mesh_stride(&s->mesh, FR_MESH_PP) +
           x % tp * fr_mesh_stride(&s->mesh, FR_MESH_TP) +
           x / tp * fr_mesh_stride(&s->mesh, FR_MESH_DP);
}

/* Pairs of the two ends' ranks of equal place; of groups of more, those of one tp rank. */
static int64_t end_of(const struct fr_rank_map *s, const struct fr_members *m, int64_t k) {
    int64_t tp = s->mesh.size[FR_MESH_TP], dp = s->mesh.size[FR_MESH_DP],
            last = s->mesh.size[FR_MESH_PP] - 1, replica = k / 2;
    int64_t x = m->n == 2 ? replica : replica / dp + replica % dp * tp;
    return fr_members_rank(s, k % 2 * last, x);
}

static int64_t member_of(const struct fr_rank_map *s, const struct fr_members *m, int32_t i,
                         int64_t k) {
    if (m->ends) return end_of(s, m, k);
    int64_t g = k / m->n, tp = s->mesh.size[FR_MESH_TP], replicas = s->mesh.size[FR_MESH_DP],
            x = g / m->apart * m->apart * m->n + g % m->apart + k % m->n * m->apart;
    return fr_members_rank(s, i, m->replicas_first ? x / replicas + x % replicas * tp : x);
}

struct placed_rank {
    int64_t slot;
    int32_t rank;
};

static int by_slot(const void *a, const void *b) {
    const struct placed_rank *x = a, *y = b;
    return FR_ORDER(x->slot, y->slot);
}

fr_status fr_members_list(const struct fr_rank_map *s, const struct fr_members *m, int32_t i,
                          int32_t *rank) {
    int64_t count = fr_members_count(s, m);
    struct placed_rank *group = fr_malloc((size_t)m->n, sizeof *group);
    if (!group) return FR_ERR_NOMEM;
    for (int64_t from = 0; from < count; from += m->n) {
        for (int64_t j = 0; j < m->n; j++) {
            int64_t r = member_of(s, m, i, from + j);
            group[j] = (struct placed_rank){s->slot ? s->slot[r] : r, (int32_t)r};
        }
        fr_sort_items(group, (size_t)m->n, sizeof *group, by_slot);
        for (int64_t j = 0; j < m->n; j++) rank[from + j] = group[j].rank;
    }
    free(group);
    return FR_OK;
}
