/** @file
 *  A phantom product (Seal et al. 2025, sections III and IV): rank j of p holds
 *
 *      L_j (m/p x n/p)   C_j (k x n/p)   D_ij (m/p x k) for i != j
 *
 *      forward   g_j = C_j x_j, all-gather of g, z_j = L_j x_j + sum_(i != j) D_ij g_i       Eq. 11
 *      backward  h_ij = D_ij^T delta_j, reduce-scatter of h: dg_j = sum_(i != j) h_ji
 *                dx_j = L_j^T delta_j + C_j^T dg_j                                  Eq. 17
 *                dL_j = delta_j x_j^T, dD_ij = delta_j g_i^T, dC_j = dg_j x_j^T
 *                                                                     Eqs. 18, 19, 20, 21
 *
 *  A rank's matrices lie in one block: L_j, C_j, the D_ij by ascending i. */
#ifndef FR_REAL_APPS_MESH_GHOST_NEURONS_H
#define FR_REAL_APPS_MESH_GHOST_NEURONS_H

#include "real/apps/mesh/unit.h"

struct fr_ghost_neurons {
    int p, rank, k; /**< ranks, this one; ghost neurons of each */
    int in, out;    /**< n/p, m/p */
    int columns;    /**< of x */
};

/** FR_OK, or FR_ERR_INPUT where n x m cannot hold so many. */
fr_status fr_ghost_neurons_check(int64_t n, int64_t m, int p, int k, struct fr_error *err);
/** Values of the block; of the ghost neurons of a rank. */
int64_t fr_ghost_neurons_parameters(const struct fr_ghost_neurons *g);
int64_t fr_ghost_neurons_values(const struct fr_ghost_neurons *g);
/** Random parameters: L_j is part of the stream that the whole product would be; C and D have the next two. */
void fr_ghost_neurons_fill(const struct fr_kernels *k, const struct fr_ghost_neurons *g,
                           uint64_t seed, uint64_t stream, void *w);
/** z := product of x.  @param local  buffer for a rank's ghost neurons  @param all  saves those of all */
fr_status fr_ghost_neurons_forward(struct fr_real *real, const struct fr_ghost_neurons *g,
                                   const void *w, const void *x, void *local, void *all,
                                   void *z);
/** dx := gradient from delta.  @param scratch  for ghost neurons of all ranks  @param dghosts  saves dg_j */
fr_status fr_ghost_neurons_input(struct fr_real *real, const struct fr_ghost_neurons *g,
                                 const void *w, const void *delta, void *scratch, void *dghosts,
                                 void *dx);
/** @p dw := gradients of the block, or with @p adds they are added. */
void fr_ghost_neurons_weight(struct fr_real *real, const struct fr_ghost_neurons *g, bool adds,
                             const void *x, const void *delta, const void *all,
                             const void *dghosts, void *dw);
/** As struct fr_unit_kind has it, of gradients @p dw. */
int fr_ghost_neurons_matrices(const struct fr_real *real, const struct fr_ghost_neurons *g,
                              void *dw, struct fr_unit_matrix *out, int capacity);

#endif
