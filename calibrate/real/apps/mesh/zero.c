/* Replicas that divide gradients and parameters too (zero 2 and 3): after every micro-batch a reduce-scatter
 * takes its gradients to who updates them, and with zero 3 all parameters are gathered for every pass from
 * those that have them.  A rank's gradients are those of one micro-batch, its share of the sum is apart.
 *
 * Of a stage at once, where PyTorch and Megatron go layer by layer: the bytes are the same, and nothing runs
 * beside them. */
#include <string.h>

#include "calibrate/real/apps/mesh/mesh.h"

static int64_t share_of(const struct fr_real *real) {
    return fr_division_share(&real->division);
}

static bool divides(const struct fr_real *real, int64_t least) {
    return fr_real_divided(real) && real->run->plan->zero >= least;
}

int64_t fr_mesh_share(const struct fr_real *real) {
    return divides(real, 2) ? share_of(real) : 0;
}

void fr_mesh_begin_share(struct fr_real *real, struct fr_mesh_state *mesh) {
    size_t n = (size_t)fr_mesh_share(real);
    if (n > 0) FR_COMPUTE(real, memset(mesh->share, 0, n * real->k->size_B));
}

fr_status fr_mesh_gather_parameters(struct fr_real *real, struct fr_error *err) {
    if (!divides(real, 3)) return FR_OK;
    return fr_real_all_gather(real, real->dp, MPI_IN_PLACE, share_of(real), real->parameters,
                              err);
}

fr_status fr_mesh_scatter_gradients(struct fr_real *real, struct fr_mesh_state *mesh,
                                    struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    size_t n = (size_t)fr_mesh_share(real);
    if (n == 0) return FR_OK;
    FR_TRY(fr_real_reduce_scatter(real, real->dp, real->gradients, mesh->scattered, (int64_t)n,
                                  err));
    FR_COMPUTE(real, k->add(n, mesh->scattered, mesh->share));
    FR_COMPUTE(real,
               memset(real->gradients, 0, n * (size_t)real->division.replicas * k->size_B));
    return FR_OK;
}

void fr_mesh_put_share(struct fr_real *real, const struct fr_mesh_state *mesh) {
    size_t n = (size_t)fr_mesh_share(real), at = n * (size_t)real->dp_rank;
    if (n > 0)
        FR_COMPUTE(real, memcpy(fr_at(real->k, real->gradients, at), mesh->share,
                                n * real->k->size_B));
}
