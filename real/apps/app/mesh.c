/* Any plan of a feed-forward network or a transformer: layers divided over tp ranks, stages of them in
 * the order of a schedule, replicas, and codecs on messages and gradients (real/apps/mesh/mesh.h). */
#include "real/apps/mesh/mesh.h"

const struct fr_real_app fr_real_mesh = {
    .name = "mesh",
    .summary = "training under any plan: a method x stages x replicas, compressed or not",
    .source = "Seal et al. 2025, Gholami et al. 2017 and Song et al. 2023, as the programs of "
              "their own",
    .check = fr_mesh_check,
    .n_parameters = fr_mesh_parameters,
    .open = fr_mesh_open,
    .gradients = fr_mesh_gradients,
    .close = fr_mesh_close,
};
