/* The programs that are one skeleton for any plan (real/apps/mesh/mesh.h), by the methods that they are known for; and the
 * table of all. */
#include "real/apps/mesh/mesh.h"

#define ON_THE_MESH                                                                            \
    .check = fr_mesh_check, .n_parameters = fr_mesh_parameters, .open = fr_mesh_open,          \
    .gradients = fr_mesh_gradients, .close = fr_mesh_close

const struct fr_real_app fr_real_tensor = {
    .name = "tensor",
    .summary = "FFN training, rows of every matrix over tp ranks",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 3 to 5 and Table II",
    ON_THE_MESH};

const struct fr_real_app fr_real_phantom = {
    .name = "phantom",
    .summary = "FFN training, activations compressed to ghost neurons before the all-gather",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 11 and 14 to 21, Table II",
    ON_THE_MESH};

const struct fr_real_app fr_real_pipeline = {
    .name = "pipeline",
    .summary = "transformer training over pipeline stages, replicas and tensor-parallel ranks, "
               "messages and gradients compressed",
    .source = "Song et al., Optimus-CC: Efficient Large NLP Model Training with 3D Parallelism "
              "Aware Communication Compression, 2023, sections 5 to 8",
    ON_THE_MESH};

const struct fr_real_app fr_real_mesh = {
    .name = "mesh",
    .summary = "training under any plan: a method x stages x replicas, compressed or not",
    .source = "Seal et al. 2025, Gholami et al. 2017 and Song et al. 2023, as the programs of "
              "their own",
    ON_THE_MESH};

const struct fr_real_app *const fr_real_apps[] = {
    &fr_real_tensor,   &fr_real_phantom, &fr_real_grid, &fr_real_pipeline,
    &fr_real_subgraph, &fr_real_mesh,    NULL};
