#include "models/network/nccl.h"

#include <math.h>

#include "models/network/rail_ring.h"

static const double start_s[FR_PROTOCOLS] = {6.6e-6, 14e-6, 8.4e-6};

/* On 8 H100 60 to 100 us beyond the rate from 32 MiB on, on 8 B200 60 to 130 (nccl-tests, two teams). */
static const double switch_start_s = 85e-6;

/* NCCL ran rings on 4 H200 and B200, the switch on 6 to 8 (S. Bekman, ml-engineering). */
enum { SWITCH_RANKS = 5 };

/* LL: 8 of 16 bytes are data, and half of the threads wait; LL128: 120 of 128 bytes, less what flags cost. */
const double fr_nccl_share[FR_PROTOCOLS] = {0.25, 0.92, 1};

static double times(double hops) { return hops > 0 ? hops : 1; }

double fr_nccl_start_s(const struct fr_collective_args *a, fr_protocol k) {
    return times(a->hops_inside) * start_s[k];
}

double fr_nccl_inside_s(const struct fr_collective_args *a, fr_protocol k) {
    return times(a->hops_inside) * a->inside->hop_s[k];
}

double fr_nccl_between_s(const struct fr_collective_args *a) {
    return times(a->hops_between) * a->between->hop_s[FR_PROTOCOL_SIMPLE];
}

static bool one_node(const struct fr_collective_args *a) {
    return a->ranks_per_node >= a->n_ranks;
}

static bool all_as_full(const struct fr_collective_args *a) {
    return a->n_ranks % a->ranks_per_node == 0 &&
           (one_node(a) || fr_collective_fewest(a) == a->ranks_per_node);
}

bool fr_nccl_tree_applicable(const struct fr_collective_args *a) {
    return fr_collective_by_nccl(a) && !one_node(a) && all_as_full(a);
}

bool fr_nccl_switch_applicable(const struct fr_collective_args *a) {
    return fr_collective_by_nccl(a) && a->inside->in_switch > 0 &&
           a->ranks_per_node >= SWITCH_RANKS && all_as_full(a);
}

static int32_t log2_floor(int64_t p) { return 63 - __builtin_clzll((unsigned long long)p); }

/* Time per byte of n through all adapters of a node, or through a node's own links. */
static double beta(const struct fr_collective_args *a) {
    return fmax(fr_rail_chain_link(a, false).s_per_B, fr_rail_chain_link(a, true).s_per_B) /
           (double)fr_collective_fewest(a);
}

static double up_and_down_s(const struct fr_collective_args *a) {
    if (one_node(a)) return 0;
    return log2_floor(fr_collective_nodes(a)) * fr_nccl_between_s(a);
}

/* Start and time per byte of n, by one protocol. */
static struct fr_link_cost tree_by(const struct fr_collective_args *a, fr_protocol k) {
    const double share = k == FR_PROTOCOL_LL ? 1 / 3.8 : 0.92;
    double hops_s = 2 * (double)(a->ranks_per_node - 1) * fr_nccl_inside_s(a, k);
    return (struct fr_link_cost){fr_nccl_start_s(a, k) + hops_s + up_and_down_s(a),
                                 2 * beta(a) / share};
}

static double cost_s(struct fr_link_cost cost, const struct fr_collective_args *a) {
    return cost.latency_s + a->size_B * cost.s_per_B;
}

static struct fr_link_cost tree_of(const struct fr_collective_args *a) {
    struct fr_link_cost few = tree_by(a, FR_PROTOCOL_LL), many = tree_by(a, FR_PROTOCOL_SIMPLE);
    return cost_s(few, a) < cost_s(many, a) ? few : many;
}

static struct fr_link_cost switch_of(const struct fr_collective_args *a) {
    double inside = a->inner.s_per_B / a->inside->in_switch, between = 0;
    if (!one_node(a)) between = (fr_collective_nodes(a) == 2 ? 1 : 2) * beta(a);
    return (struct fr_link_cost){times(a->hops_inside) * switch_start_s + up_and_down_s(a),
                                 fmax(inside, between)};
}

double fr_nccl_tree_s(const struct fr_collective_args *a) { return cost_s(tree_of(a), a); }

double fr_nccl_switch_s(const struct fr_collective_args *a) {
    return a->n_ranks > 1 ? cost_s(switch_of(a), a) : 0;
}

static int32_t rounds_of(const struct fr_collective_args *a) {
    return fr_log2_ceil(a->ranks_per_node) + fr_log2_ceil(a->n_ranks / a->ranks_per_node);
}

/* A round has its part of the start, and of the bytes that every rank sends: up or round once, and back. */
static struct fr_link_cost in_rounds(struct fr_link_cost cost,
                                     const struct fr_collective_args *a) {
    return (struct fr_link_cost){cost.latency_s / rounds_of(a),
                                 cost.s_per_B / fr_op_bus_factor(FR_OP_ALL_REDUCE, a->n_ranks)};
}

struct fr_link_cost fr_nccl_link(const struct fr_collective_args *a, fr_message_price priced) {
    switch (priced) {
    case FR_PRICED_RING:
        return fr_rail_ring_link(a, 1);
    case FR_PRICED_RING_TWICE:
        return fr_rail_ring_link(a, 2);
    case FR_PRICED_CHAIN:
        return fr_rail_chain_link(a, false);
    case FR_PRICED_CHAIN_INSIDE:
        return fr_rail_chain_link(a, true);
    case FR_PRICED_TREE:
        return in_rounds(tree_of(a), a);
    case FR_PRICED_SWITCH:
        return in_rounds(switch_of(a), a);
    case FR_PRICED_BY_PLACE:
    case FR_PRICINGS:
        break;
    }
    return a->inner;
}

static void rounds(struct fr_expansion *e, struct fr_peers peers, double size_B) {
    for (int64_t shift = 1; shift < peers.members; shift *= 2) {
        fr_expansion_next_round(e);
        fr_expand_shift(e, peers, shift, size_B);
    }
}

void fr_nccl_rounds_expand(const struct fr_collective_args *a, fr_message_price priced,
                           struct fr_expansion *e) {
    int64_t r = a->ranks_per_node;
    int32_t from = e->list->count;
    if (a->n_ranks > 1) {
        double size_B =
            fr_op_bus_factor(FR_OP_ALL_REDUCE, a->n_ranks) * a->size_B / rounds_of(a);
        rounds(e, (struct fr_peers){r, 1}, size_B);
        rounds(e, (struct fr_peers){a->n_ranks / r, r}, size_B);
    }
    for (int32_t k = from; k < e->list->count; k++) e->list->items[k].priced = (uint8_t)priced;
}
