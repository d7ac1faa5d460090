/** @file
 *  One rank of a sub-grid: what the program subgraph (real/apps/app/subgraph.c) keeps, and its
 *  parts.
 *
 *      subgrid_layers.c     layers of the workload, and what the program refuses
 *      subgrid_open.c       places, parameters, buffers, data
 *      subgrid_exchange.c   the segmented collectives where branches split and join
 *
 *  Rank r sits in sub-grid r / dp at place r mod dp, where r is the program's number of an MPI
 *  rank: the plan's placement says which (linear: the same; round-robin: the paper's
 *  topology-aware order).
 *
 *  A rank's block, layer by layer: for each of its branches W (rows x inputs), then their biases.
 *  With cSub the common layers' parameters of other sub-grids exist and are never touched.
 */
#ifndef FR_REAL_APPS_SUBGRID_H
#define FR_REAL_APPS_SUBGRID_H

#include "real/apps/app.h"

struct fr_subgrid_layer {
    int branches; /* of this rank; 1 for a common layer */
    int first;    /* the first of them */
    int in, out;  /* of one branch */
    int tokens;   /* of this rank's samples */
    bool common, attention, relu, bias;
    bool shared; /* its input is one for all branches */
    fr_joint joint_in, joint_out;
    void *w, *b, *dw, *db;
    void *x, *y, *p; /* branches in x tokens (or in x tokens where shared); out; softmax */
};

struct fr_subgrid {
    int n_layers, g, dp, subgrid, place, batch, positions; /* batch: of a group */
    bool c_sub, gather_all;
    struct fr_subgrid_layer *layers;
    MPI_Comm group, grid, everyone; /* of equal place; of equal sub-grid */
    void *target, *buffer[2];       /* target of the last layer; packed messages */
    void *dy, *dx, *dp_scores;
    int64_t widest; /* values of the largest activation */
};

/** Layers of the workload in order; the two entries of an attention, scores and their weighted
 *  sum, are one layer here.  @param[out] layers  freed by the caller, also on error. */
fr_status fr_subgrid_layers(const struct fr_real_case *run, struct fr_subgrid_layer **layers,
                            int *n, struct fr_error *err);
fr_status fr_subgrid_check(const struct fr_real_case *run, struct fr_error *err);
/** Parameters of this rank, of one layer and of all. */
int64_t fr_subgrid_layer_parameters(const struct fr_subgrid_layer *l);
int64_t fr_subgrid_parameters(const struct fr_real *real);

/** Make real->state, a struct fr_subgrid; fr_subgrid_close in any case. */
fr_status fr_subgrid_open(struct fr_real *real, struct fr_error *err);
void fr_subgrid_close(struct fr_real *real);

/** Does this rank compute layer @p l?  Of cSub the first sub-grid alone has the common ones. */
static inline bool fr_subgrid_works(const struct fr_subgrid *s,
                                    const struct fr_subgrid_layer *l) {
    return !l->common || !s->c_sub || s->subgrid == 0;
}

/** From common layers to branches: x (values x t tokens of a rank's own samples, or all of them on
 *  the first sub-grid) becomes y, all rows or 1/g of them for all samples of the group. */
fr_status fr_subgrid_spread(struct fr_real *real, struct fr_subgrid *s, bool slices, int values,
                            int t, const void *x, void *y, struct fr_error *err);
/** And back: y (values x g t tokens summed over the group, or 1/g of the rows) becomes x. */
fr_status fr_subgrid_collect(struct fr_real *real, struct fr_subgrid *s, bool slices,
                             int values, int t, void *y, void *x, struct fr_error *err);

#endif
