/* Transformers (real/apps/mesh/unit/block.c) over stages, replicas and tp ranks, on the
 * skeleton that runs any plan. */
#include "real/apps/mesh/mesh.h"

const struct fr_real_app fr_real_pipeline = {
    .name = "pipeline",
    .summary = "transformer training over pipeline stages, replicas and tensor-parallel ranks, "
               "messages and gradients compressed",
    .source = "Song et al., Optimus-CC: Efficient Large NLP Model Training with 3D Parallelism "
              "Aware Communication Compression, 2023, sections 5 to 8",
    .check = fr_mesh_check,
    .n_parameters = fr_mesh_parameters,
    .open = fr_mesh_open,
    .gradients = fr_mesh_gradients,
    .close = fr_mesh_close,
};
