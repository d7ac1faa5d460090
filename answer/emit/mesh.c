#include "answer/emit/mesh.h"

#include "models/price/rank_map.h"

bool fr_emit_mesh_has_experts(const struct fr_plan *p) { return p->dp % p->ep == 0; }

static int64_t experts(const struct fr_plan *p) {
    return fr_emit_mesh_has_experts(p) ? p->ep : 1;
}

/* Replicas that divide parameters, besides those of a sequence and of experts. */
static int64_t fsdp(const struct fr_plan *p) {
    const int64_t beside = p->cp * experts(p), all = fr_plan_replicas(p);
    const int64_t ranks = p->zero_ranks > 0 && p->zero_ranks < all ? p->zero_ranks : all;
    if (p->zero < 2) return 1;
    return ranks % beside == 0 && all % ranks == 0 ? ranks / beside : all / beside;
}

static int64_t size(const struct fr_plan *p, fr_mesh_axis axis) {
    switch (axis) {
    case FR_MESH_TENSOR:
        return p->tp;
    case FR_MESH_CONTEXT:
        return p->cp;
    case FR_MESH_EXPERT:
        return experts(p);
    case FR_MESH_FSDP:
        return fsdp(p);
    case FR_MESH_PIPELINE:
        return p->pp;
    default:
        return p->dp / (experts(p) * fsdp(p));
    }
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int64_t fr_emit_mesh(const struct fr_emitted *e, fr_mesh_axis axis, bool inside) {
    const struct fr_levels levels = fr_rank_map_levels(&e->job->cluster.levels, &e->out->plan);
    int64_t left = levels.level[fr_levels_node(&levels)].ranks, part = 1;
    if (left > e->out->ranks) left = e->out->ranks;
    for (int i = 0; i <= (int)axis; i++) {
        part = common_divisor(size(&e->plan, (fr_mesh_axis)i), left);
        left /= part;
    }
    return inside ? part : size(&e->plan, axis) / part;
}

bool fr_emit_mesh_shards(const struct fr_plan *p) {
    const int64_t all = fr_plan_replicas(p), mesh = fsdp(p) * experts(p) * p->cp;
    const int64_t stated = p->zero_ranks > 0 && p->zero_ranks < all ? p->zero_ranks : all;
    return mesh == (p->zero < 2 ? 1 : stated);
}

bool fr_emit_mesh_orders(const struct fr_plan *p) {
    const int64_t outside = size(p, FR_MESH_DATA), replicas = fr_plan_replicas(p);
    if (p->pp == 1 || replicas == 1) return true;
    return p->rank_order == FR_ORDER_TP_DP_PP ? outside == 1 : outside == replicas;
}
