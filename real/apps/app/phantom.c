/* Phantom parallelism (real/apps/mesh/unit/phantom.c), on the skeleton that runs any
 * plan. */
#include "real/apps/mesh/mesh.h"

const struct fr_real_app fr_real_phantom = {
    .name = "phantom",
    .summary = "FFN training, activations compressed to ghost neurons before the all-gather",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 11 and 14 to 21, Table II",
    .check = fr_mesh_check,
    .n_parameters = fr_mesh_parameters,
    .open = fr_mesh_open,
    .gradients = fr_mesh_gradients,
    .close = fr_mesh_close,
};
