/** @file
 *  The cheapest way to put nodes on one of two sides.
 *
 *  Minimises over y in {0, 1}^n
 *
 *      sum_v cost_v y_v + sum_(v, w) capacity_vw y_v (1 - y_w)          capacity >= 0
 *
 *  The minimum is the cut of the largest flow from a source (side 1) to a sink (side 0).  Blocking
 *  flows along shortest paths (Dinic 1970) take O(n^2 edges) at worst, and far less on graphs that
 *  are long and thin.  Capacities may be infinite. */
#ifndef FR_BASE_MIN_CUT_H
#define FR_BASE_MIN_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct fr_min_cut_edge {
    int32_t to, next; /**< next: of the same node, -1 behind the last */
    double
        left; /**< capacity that no flow uses; the edge's other way is its neighbour (i ^ 1) */
};

/** Open, then any number of times clear, add, solve. */
struct fr_min_cut {
    int32_t n_nodes, n_edges, capacity;
    struct fr_min_cut_edge *edge;
    int32_t *first, *at, *depth, *queue; /**< [n_nodes + 2]; source and sink are the last two */
    double *cost;
};

/** @param edges  most that are added, unary costs not counted
 *  @return FR_OK or FR_ERR_NOMEM.  Free with fr_min_cut_free, also on error. */
fr_status fr_min_cut_open(struct fr_min_cut *cut, int32_t n_nodes, int32_t edges,
                          struct fr_error *err);
void fr_min_cut_free(struct fr_min_cut *cut);

void fr_min_cut_clear(struct fr_min_cut *cut);
/** Add to cost_v; INFINITY keeps y_v = 0. */
void fr_min_cut_cost(struct fr_min_cut *cut, int32_t v, double cost);
void fr_min_cut_edge_add(struct fr_min_cut *cut, int32_t v, int32_t w, double capacity);

/** @param[out] side  y, [n_nodes]: of the cheapest the one with the fewest on side 1
 *  @return the sum there, never above 0, that of all on side 0 */
double fr_min_cut_solve(struct fr_min_cut *cut, bool *side);

#endif
