#include "models/network/rail_ring.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

bool fr_rail_ring_applicable(const struct fr_collective_args *a) {
    return 1 < a->ranks_per_node && a->ranks_per_node < a->n_ranks;
}

static struct fr_link_cost rails_of(const struct fr_collective_args *a) {
    return a->rails.s_per_B > 0 ? a->rails : a->outer;
}

/* Time per byte of a block, of which each ring carries 1/f. */
static double block_s_per_B(const struct fr_collective_args *a) {
    double f = (double)fr_collective_fewest(a);
    double inside = fr_collective_by_node(a) ? (f - 1) / f : 1;
    return fmax(inside * a->inner.s_per_B, rails_of(a).s_per_B / f);
}

struct fr_link_cost fr_rail_ring_link(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks, q = (double)fr_collective_nodes(a);
    return (struct fr_link_cost){(q * rails_of(a).latency_s + (p - q) * a->inner.latency_s) / p,
                                 (double)fr_collective_fewest(a) * block_s_per_B(a)};
}

double fr_rail_ring_s(const struct fr_collective_args *a, int64_t turns) {
    double rounds = (double)(turns * (a->n_ranks - 1)),
           block_B = a->size_B / (double)a->n_ranks;
    return rounds * (fr_rail_ring_link(a).latency_s + block_B * block_s_per_B(a));
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

/* One round of a ring, each message after what its rank received and sent in the round before; arrived[rank] is
 * the message that came to it then. */
static void send_round(struct fr_expansion *e, const int32_t *next, const int32_t *node,
                       double size_B, const int32_t *arrived, int32_t *arrives) {
    for (int32_t i = 0; i < e->n_ranks && !e->failed; i++) {
        int32_t to = next[i], after[] = {arrived[i], arrived[to]};
        int32_t sent = fr_message_add(e->list, i, to, node[i] != node[to], size_B, after,
                                      after[0] < 0 ? 0 : 2);
        e->failed = sent < 0;
        if (sent >= 0) e->list->items[sent].rail = true;
        arrives[to] = sent;
    }
}

/* Rings, nodes and ranks of an expansion, and whom each rank sends to. */
struct rings {
    int64_t n, nodes;
    int64_t *first;
    int32_t *next, *node; /* next: and two more arrays of p behind node */
};

static struct rings open_rings(const struct fr_collective_args *a, struct fr_expansion *e) {
    size_t p = (size_t)a->n_ranks;
    struct rings r = {.n = fr_collective_fewest(a)};
    r.next = e->failed ? NULL : fr_malloc(4 * p, sizeof *r.next);
    if (r.next) r.first = fr_malloc(p + 1, sizeof *r.first);
    if (!r.first) e->failed = true;
    if (e->failed) return r;
    r.node = r.next + p;
    r.nodes = cut(a, r.first);
    for (int64_t i = 0, k = 0; r.nodes > 0 && i < a->n_ranks; i++) {
        if (i == r.first[k + 1]) k++;
        r.node[i] = (int32_t)k;
    }
    return r;
}

static void close_rings(struct rings *r) {
    free(r->first);
    free(r->next);
}

fr_status fr_rail_ring_expand(const struct fr_collective_args *a, int64_t turns,
                              struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    struct rings r = open_rings(a, &e);
    size_t p = (size_t)a->n_ranks;
    double size_B = a->size_B / (double)a->n_ranks / (double)r.n;
    for (int64_t j = 0; j < r.n && !e.failed; j++) {
        int32_t *arrived = r.next + 2 * p, *arrives = r.next + 3 * p;
        successors(r.first, r.nodes, j, r.next);
        for (size_t i = 0; i < p; i++) arrived[i] = -1;
        for (int64_t round = 0; round < turns * (a->n_ranks - 1) && !e.failed; round++) {
            send_round(&e, r.next, r.node, size_B, arrived, arrives);
            int32_t *swapped = arrived;
            arrived = arrives;
            arrives = swapped;
        }
    }
    close_rings(&r);
    return fr_expansion_close(&e);
}

/* ---- a broadcast along the rings ----------------------------------------------------------------- */

enum { PIECE_B = 512 << 10, PIECES_MAX = 256 };

static int64_t pieces(const struct fr_collective_args *a) {
    double each = ceil(a->size_B / (double)fr_collective_fewest(a) / PIECE_B);
    return each > PIECES_MAX ? PIECES_MAX : each > 1 ? (int64_t)each : 1;
}

double fr_rail_chain_s(const struct fr_collective_args *a) {
    double k = (double)pieces(a);
    return (k + (double)a->n_ranks - 2) *
           (fr_rail_ring_link(a).latency_s + a->size_B / k * block_s_per_B(a));
}

/* One ring's pieces, each down the chain of order[0..p): after what brought it, and what its sender sent before. */
static void send_pieces(struct fr_expansion *e, const struct rings *r, const int32_t *order,
                        int64_t k, double size_B, int32_t *last) {
    for (int64_t piece = 0; piece < k; piece++) {
        int32_t brought = -1;
        for (int64_t i = 0; i + 1 < e->n_ranks && !e->failed; i++) {
            int32_t from = order[i], to = order[i + 1], after[2], n_after = 0;
            if (brought >= 0) after[n_after++] = brought;
            if (piece > 0) after[n_after++] = last[from];
            brought = fr_message_add(e->list, from, to, r->node[from] != r->node[to], size_B,
                                     after, n_after);
            e->failed = brought < 0;
            if (brought >= 0) e->list->items[brought].rail = true;
            last[from] = brought;
        }
    }
}

fr_status fr_rail_chain_expand(const struct fr_collective_args *a, bool reduces,
                               struct fr_message_list *list) {
    struct fr_expansion e = fr_expansion_open(a, list);
    struct rings r = open_rings(a, &e);
    int64_t k = pieces(a), p = a->n_ranks;
    for (int64_t j = 0; j < r.n && !e.failed; j++) {
        int32_t *last = r.next + 2 * p, *order = r.next + 3 * p, at = 0;
        successors(r.first, r.nodes, j, r.next);
        for (int64_t i = 0; i < p; i++, at = r.next[at]) order[reduces ? p - 1 - i : i] = at;
        send_pieces(&e, &r, order, k, a->size_B / (double)(k * r.n), last);
    }
    close_rings(&r);
    return fr_expansion_close(&e);
}
