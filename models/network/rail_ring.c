#include "models/network/rail_ring.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

bool fr_rail_ring_applicable(const struct fr_collective_args *a) {
    return 1 < a->ranks_per_node && a->ranks_per_node < a->n_ranks;
}

struct fr_link_cost fr_rail_ring_round(const struct fr_collective_args *a) {
    struct fr_link_cost rails = a->rails.s_per_B > 0 ? a->rails : a->outer;
    double p = (double)a->n_ranks, q = (double)fr_collective_nodes(a);
    double f = (double)fr_collective_fewest(a);
    double inside = fr_collective_by_node(a) ? (f - 1) / f : 1;
    return (struct fr_link_cost){.latency_s =
                                     (q * rails.latency_s + (p - q) * a->inner.latency_s) / p,
                                 .s_per_B = fmax(inside * a->inner.s_per_B, rails.s_per_B / f)};
}

double fr_rail_ring_s(const struct fr_collective_args *a, int64_t rounds) {
    struct fr_link_cost round = fr_rail_ring_round(a);
    double block_B = a->size_B / (double)a->n_ranks;
    return (double)rounds * (round.latency_s + block_B * round.s_per_B);
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* First rank of every node, and p behind the last; how many nodes. */
static int64_t cut(const struct fr_collective_args *a, int64_t *first) {
    int64_t p = a->n_ranks, nodes = fr_collective_nodes(a), fewest = fr_collective_fewest(a),
            n = 0;
    if (a->node) {
        for (int64_t i = 0; i < p; i++)
            if (i == 0 || a->node[i] != a->node[i - 1]) first[n++] = i;
    } else {
        for (int64_t at = 0; n < nodes; n++) { /* as full as leaves the rest their fewest */
            int64_t most = p - at - fewest * (nodes - n - 1);
            first[n] = at;
            at += most < a->ranks_per_node ? most : a->ranks_per_node;
        }
    }
    first[n] = p;
    return n;
}

/* Whom each rank sends to in ring j, which leaves a node of s ranks by its j-th and enters the next by
 * the one after. */
static void successors(const int64_t *first, int64_t nodes, int64_t j, int32_t *next) {
    for (int64_t k = 0; k < nodes; k++) {
        int64_t here = first[k], s = first[k + 1] - here, there = first[(k + 1) % nodes],
                entered = first[(k + 1) % nodes + 1] - there;
        for (int64_t m = 0; m < s; m++) next[here + m] = (int32_t)(here + (m + 1) % s);
        next[here + j % s] = (int32_t)(there + (j + 1) % entered);
    }
}

/* One round of ring j; arrived[rank] is the message that came to it in the round before. */
static void send_round(struct fr_expansion *e, const int32_t *next, const int32_t *node,
                       double size_B, int32_t *arrived, int32_t *arrives) {
    for (int32_t i = 0; i < e->n_ranks && !e->failed; i++) {
        int32_t after = arrived[i], to = next[i];
        int32_t sent =
            fr_message_add(e->list, i, to, node[i] != node[to], size_B, &after, after >= 0);
        e->failed = sent < 0;
        if (sent >= 0) e->list->items[sent].rail = true;
        arrives[to] = sent;
    }
}

fr_status fr_rail_ring_expand(const struct fr_collective_args *a, int64_t rounds,
                              struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    int64_t rings = fr_collective_fewest(a), *first = NULL;
    size_t p = (size_t)a->n_ranks;
    double size_B = a->size_B / (double)a->n_ranks / (double)rings;
    int32_t *next = e.failed ? NULL : fr_malloc(4 * p, sizeof *next);
    if (next) first = fr_malloc(p + 1, sizeof *first);
    if (!first) e.failed = true;
    int64_t nodes = e.failed ? 0 : cut(a, first);
    for (int64_t k = 0; k < nodes; k++)
        for (int64_t i = first[k]; i < first[k + 1]; i++) next[p + (size_t)i] = (int32_t)k;
    for (int64_t j = 0; j < rings && !e.failed; j++) {
        int32_t *arrived = next + 2 * p, *arrives = next + 3 * p;
        successors(first, nodes, j, next);
        for (size_t i = 0; i < p; i++) arrived[i] = -1;
        for (int64_t round = 0; round < rounds && !e.failed; round++) {
            send_round(&e, next, next + p, size_B, arrived, arrives);
            int32_t *swapped = arrived;
            arrived = arrives;
            arrives = swapped;
        }
    }
    free(first);
    free(next);
    return fr_expansion_close(&e);
}
