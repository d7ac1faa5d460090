#include "models/network/rail_ring.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/network/nccl.h"

bool fr_rail_chain_applicable(const struct fr_collective_args *a) {
    return 1 < a->ranks_per_node && a->ranks_per_node < a->n_ranks;
}

bool fr_rail_ring_applicable(const struct fr_collective_args *a) {
    return fr_collective_by_nccl(a) || fr_rail_chain_applicable(a);
}

static bool one_node(const struct fr_collective_args *a) {
    return a->ranks_per_node >= a->n_ranks;
}

static int64_t rings_of(const struct fr_collective_args *a) {
    return one_node(a) ? 1 : fr_collective_fewest(a);
}

static struct fr_link_cost rails_of(const struct fr_collective_args *a) {
    struct fr_link_cost rails = a->rails.s_per_B > 0 ? a->rails : a->outer;
    if (fr_collective_by_nccl(a)) rails.latency_s = fr_nccl_between_s(a);
    return rails;
}

/* Time per byte of a block, of which each ring carries 1/f, inside nodes and between them. */
static double inside_s_per_B(const struct fr_collective_args *a) {
    if (one_node(a)) return a->inner.s_per_B;
    double f = (double)fr_collective_fewest(a);
    double inside = a->ranks_per_node == 1 ? 0 : fr_collective_by_node(a) ? (f - 1) / f : 1;
    return inside * a->inner.s_per_B;
}
static double between_s_per_B(const struct fr_collective_args *a) {
    return one_node(a) ? 0 : rails_of(a).s_per_B / (double)fr_collective_fewest(a);
}
static double block_s_per_B(const struct fr_collective_args *a) {
    return fmax(inside_s_per_B(a), between_s_per_B(a));
}

static double hop_inside_s(const struct fr_collective_args *a) {
    return fr_collective_by_nccl(a) ? fr_nccl_inside_s(a, FR_PROTOCOL_SIMPLE)
                                    : a->inner.latency_s;
}

static struct fr_link_cost mean_link(const struct fr_collective_args *a) {
    double p = (double)a->n_ranks, q = (double)fr_collective_nodes(a);
    double inside_s = hop_inside_s(a);
    return (struct fr_link_cost){(q * rails_of(a).latency_s + (p - q) * inside_s) / p,
                                 (double)rings_of(a) * block_s_per_B(a)};
}

/* A ring of NCCL starts once, and its hops follow; inside a node by the fastest protocol. */
static struct fr_link_cost nccl_ring_link(const struct fr_collective_args *a, int64_t turns) {
    double hops = (double)(turns * (a->n_ranks - 1)), block_B = a->size_B / (double)a->n_ranks;
    struct fr_link_cost best = {0, 0};
    if (!(hops > 0)) return best;
    for (int k = one_node(a) ? 0 : FR_PROTOCOL_SIMPLE; k < FR_PROTOCOLS; k++) {
        struct fr_link_cost link =
            one_node(a)
                ? (struct fr_link_cost){fr_nccl_inside_s(a, (fr_protocol)k), block_s_per_B(a)}
                : mean_link(a);
        link.latency_s += fr_nccl_start_s(a, (fr_protocol)k) / hops;
        link.s_per_B /= fr_nccl_share[k];
        double f = (double)rings_of(a);
        if (best.latency_s > 0 && link.latency_s + block_B / f * link.s_per_B >=
                                      best.latency_s + block_B / f * best.s_per_B)
            continue;
        best = link;
    }
    return best;
}

struct fr_link_cost fr_rail_ring_link(const struct fr_collective_args *a, int64_t turns) {
    return fr_collective_by_nccl(a) ? nccl_ring_link(a, turns) : mean_link(a);
}

struct fr_link_cost fr_rail_chain_link(const struct fr_collective_args *a, bool inside) {
    double rings = (double)rings_of(a);
    return inside ? (struct fr_link_cost){hop_inside_s(a), rings * inside_s_per_B(a)}
                  : (struct fr_link_cost){rails_of(a).latency_s, rings * between_s_per_B(a)};
}

double fr_rail_ring_s(const struct fr_collective_args *a, int64_t turns) {
    struct fr_link_cost link = fr_rail_ring_link(a, turns);
    double rounds = (double)(turns * (a->n_ranks - 1)),
           block_B = a->size_B / (double)a->n_ranks / (double)rings_of(a);
    return rounds * (link.latency_s + block_B * link.s_per_B);
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

static void as_rail(struct fr_message *m, fr_message_price priced) {
    m->rail = true;
    m->priced = (uint8_t)priced;
}

/* One round of a ring, each message after what its rank received and sent in the round before; arrived[rank] is
 * the message that came to it then. */
static void send_round(struct fr_expansion *e, const int32_t *next, const int32_t *node,
                       double size_B, const int32_t *arrived, int32_t *arrives,
                       fr_message_price priced) {
    for (int32_t i = 0; i < e->n_ranks && !e->failed; i++) {
        int32_t to = next[i], after[] = {arrived[i], arrived[to]};
        int32_t sent = fr_message_add(e->list, i, to, node[i] != node[to], size_B, after,
                                      after[0] < 0 ? 0 : 2);
        e->failed = sent < 0;
        if (sent >= 0) as_rail(&e->list->items[sent], priced);
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
    struct rings r = {.n = rings_of(a)};
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

void fr_rail_ring_expand(const struct fr_collective_args *a, int64_t turns,
                         struct fr_expansion *e) {
    struct rings r = open_rings(a, e);
    size_t p = (size_t)a->n_ranks;
    double size_B = a->size_B / (double)a->n_ranks / (double)r.n;
    for (int64_t j = 0; j < r.n && !e->failed; j++) {
        int32_t *arrived = r.next + 2 * p, *arrives = r.next + 3 * p;
        successors(r.first, r.nodes, j, r.next);
        for (size_t i = 0; i < p; i++) arrived[i] = -1;
        for (int64_t round = 0; round < turns * (a->n_ranks - 1) && !e->failed; round++) {
            send_round(e, r.next, r.node, size_B, arrived, arrives,
                       turns == 1 ? FR_PRICED_RING : FR_PRICED_RING_TWICE);
            int32_t *swapped = arrived;
            arrived = arrives;
            arrives = swapped;
        }
    }
    close_rings(&r);
}

/* ---- a broadcast along the rings ----------------------------------------------------------------- */

enum { PIECE_B = 512 << 10, PIECES_MAX = 256 };

static int64_t pieces(const struct fr_collective_args *a) {
    double each = ceil(a->size_B / (double)rings_of(a) / PIECE_B);
    return each > PIECES_MAX ? PIECES_MAX : each > 1 ? (int64_t)each : 1;
}

/* Ranks of the first node. */
static int64_t first_node(const struct fr_collective_args *a) {
    int64_t n = 1, others = fr_collective_fewest(a) * (fr_collective_nodes(a) - 1);
    if (!a->node)
        return a->n_ranks - others < a->ranks_per_node ? a->n_ranks - others
                                                       : a->ranks_per_node;
    while (n < a->n_ranks && a->node[n] == a->node[0]) n++;
    return n;
}

/* Hops between nodes of the slowest ring.  Ring j leaves the first node by its j-th rank and comes back for the ranks
 * behind that one, if there are any. */
static double hops_between(const struct fr_collective_args *a, bool between_is_slower) {
    int64_t q = fr_collective_nodes(a), s = first_node(a);
    bool back = between_is_slower ? s > 1 : s > rings_of(a);
    return (double)(back ? q : q - 1);
}

double fr_rail_chain_s(const struct fr_collective_args *a) {
    double k = (double)pieces(a), piece_B = a->size_B / k / (double)rings_of(a);
    struct fr_link_cost in = fr_rail_chain_link(a, true), out = fr_rail_chain_link(a, false);
    double in_s = in.latency_s + piece_B * in.s_per_B,
           out_s = out.latency_s + piece_B * out.s_per_B,
           between = hops_between(a, out_s > in_s), inside = (double)(a->n_ranks - 1) - between;
    return between * out_s + inside * in_s + (k - 1) * (inside > 0 ? fmax(out_s, in_s) : out_s);
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
            if (brought >= 0)
                as_rail(&e->list->items[brought], r->node[from] == r->node[to]
                                                      ? FR_PRICED_CHAIN_INSIDE
                                                      : FR_PRICED_CHAIN);
            last[from] = brought;
        }
    }
}

void fr_rail_chain_expand(const struct fr_collective_args *a, bool reduces,
                          struct fr_expansion *e) {
    struct rings r = open_rings(a, e);
    int64_t k = pieces(a), p = a->n_ranks;
    for (int64_t j = 0; j < r.n && !e->failed; j++) {
        int32_t *last = r.next + 2 * p, *order = r.next + 3 * p, at = 0;
        successors(r.first, r.nodes, j, r.next);
        for (int64_t i = 0; i < p; i++, at = r.next[at]) order[reduces ? p - 1 - i : i] = at;
        send_pieces(e, &r, order, k, a->size_B / (double)(k * r.n), last);
    }
    close_rings(&r);
}
