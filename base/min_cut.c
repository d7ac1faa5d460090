#include "base/min_cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Share of a capacity that may be left: less is rounding. */
static const double NOTHING = 1e-13;

fr_status fr_min_cut_open(struct fr_min_cut *c, int32_t n_nodes, int32_t edges,
                          struct fr_error *err) {
    size_t n = (size_t)n_nodes + 2;
    *c = (struct fr_min_cut){.n_nodes = n_nodes, .capacity = 2 * (edges + n_nodes)};
    c->edge = fr_malloc((size_t)c->capacity, sizeof *c->edge);
    c->first = fr_malloc(4 * n, sizeof *c->first);
    c->cost = fr_malloc(n, sizeof *c->cost);
    if (!c->edge || !c->first || !c->cost)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the graph does not fit in memory");
    c->at = c->first + n;
    c->depth = c->at + n;
    c->queue = c->depth + n;
    fr_min_cut_clear(c);
    return FR_OK;
}

void fr_min_cut_free(struct fr_min_cut *c) {
    free(c->edge);
    free(c->first);
    free(c->cost);
    *c = (struct fr_min_cut){0};
}

void fr_min_cut_clear(struct fr_min_cut *c) {
    for (int32_t v = 0; v < c->n_nodes + 2; v++) {
        c->first[v] = -1;
        c->cost[v] = 0;
    }
    c->n_edges = 0;
}

void fr_min_cut_cost(struct fr_min_cut *c, int32_t v, double cost) { c->cost[v] += cost; }

static void put(struct fr_min_cut *c, int32_t v, int32_t w, double left) {
    c->edge[c->n_edges] = (struct fr_min_cut_edge){w, c->first[v], left};
    c->first[v] = c->n_edges++;
}

void fr_min_cut_edge_add(struct fr_min_cut *c, int32_t v, int32_t w, double capacity) {
    put(c, v, w, capacity);
    put(c, w, v, 0);
}

/* Depths from the source along edges with something left. @return does the sink have one? */
static bool layer(struct fr_min_cut *c, double least) {
    int32_t source = c->n_nodes, sink = source + 1, head = 0, tail = 0;
    for (int32_t v = 0; v <= sink; v++) c->depth[v] = -1;
    c->depth[source] = 0;
    c->queue[tail++] = source;
    while (head < tail) {
        int32_t v = c->queue[head++];
        for (int32_t i = c->first[v]; i >= 0; i = c->edge[i].next) {
            int32_t w = c->edge[i].to;
            if (c->edge[i].left <= least || c->depth[w] >= 0) continue;
            c->depth[w] = c->depth[v] + 1;
            c->queue[tail++] = w;
        }
    }
    return c->depth[sink] >= 0;
}

/* One path down the layers, edges in the queue's place; without recursion, as paths are long.
 * @return what it carries; 0: none is left */
static double push(struct fr_min_cut *c, double least) {
    int32_t source = c->n_nodes, sink = source + 1, *path = c->queue, n = 0, v = source;
    double carried = INFINITY;
    while (v != sink) {
        int32_t i = c->at[v];
        while (i >= 0 &&
               (c->edge[i].left <= least || c->depth[c->edge[i].to] != c->depth[v] + 1))
            i = c->edge[i].next;
        c->at[v] = i;
        if (i >= 0) {
            path[n++] = i;
            v = c->edge[i].to;
        } else if (n == 0) {
            return 0;
        } else { /* back, and past the edge that leads nowhere */
            v = c->edge[path[--n] ^ 1].to;
            c->at[v] = c->edge[c->at[v]].next;
        }
    }
    for (int32_t k = 0; k < n; k++) carried = fmin(carried, c->edge[path[k]].left);
    for (int32_t k = 0; k < n; k++) {
        c->edge[path[k]].left -= carried;
        c->edge[path[k] ^ 1].left += carried;
    }
    return carried;
}

/* A cost is an edge to the sink, a gain one from the source. @return the sum of gains */
static double join_ends(struct fr_min_cut *c) {
    double gains = 0;
    for (int32_t v = 0; v < c->n_nodes; v++) {
        double cost = c->cost[v];
        if (cost > 0) fr_min_cut_edge_add(c, v, c->n_nodes + 1, cost);
        if (cost < 0) fr_min_cut_edge_add(c, c->n_nodes, v, -cost);
        gains += fmax(0, -cost);
    }
    return gains;
}

double fr_min_cut_solve(struct fr_min_cut *c, bool *side) {
    double flow = 0, gains = join_ends(c), least = NOTHING * gains;
    while (gains > 0 && layer(c, least)) {
        memcpy(c->at, c->first, ((size_t)c->n_nodes + 2) * sizeof *c->at);
        for (double carried = push(c, least); carried > 0; carried = push(c, least))
            flow += carried;
    }
    for (int32_t v = 0; v < c->n_nodes; v++) side[v] = gains > 0 && c->depth[v] >= 0;
    return fmin(0, flow - gains);
}
