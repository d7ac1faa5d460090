/* Tensor parallelism as Seal et al. 2025 have it (real/apps/mesh/unit/tensor.c), on the
 * skeleton that runs any plan. */
#include "real/apps/mesh/mesh.h"

const struct fr_real_app fr_real_tensor = {
    .name = "tensor",
    .summary = "FFN training, rows of every matrix over tp ranks",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 3 to 5 and Table II",
    .check = fr_mesh_check,
    .n_parameters = fr_mesh_parameters,
    .open = fr_mesh_open,
    .gradients = fr_mesh_gradients,
    .close = fr_mesh_close,
};
