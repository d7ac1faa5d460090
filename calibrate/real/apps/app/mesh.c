/* Any plan of a feed-forward network: a method's layers on tp ranks, stages of them in the order of a
 * schedule, replicas, and codecs on messages and gradients (calibrate/real/apps/mesh/mesh.h). */
#include "calibrate/real/apps/mesh/mesh.h"

static fr_status run_slot(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_slot *slot, struct fr_error *err) {
    if (slot->kind == FR_SLOT_FORWARD) return fr_mesh_forward(real, mesh, slot, err);
    if (slot->kind == FR_SLOT_BACKWARD) return fr_mesh_backward(real, mesh, slot, err);
    fr_mesh_weight(real, mesh, slot);
    return FR_OK;
}

static fr_status gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct fr_mesh_state *mesh = real->state;
    mesh->loss = 0;
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++)
            mesh->chunk[c].unit[i].biases = mesh->chunk[c].unit[i].weights = false;
    for (int64_t i = 0; i < mesh->n_slots; i++)
        FR_TRY(run_slot(real, mesh, &mesh->slots[i], err));
    *loss = mesh->loss;
    return fr_mesh_reduce(real, mesh, err);
}

const struct fr_real_app fr_real_mesh = {
    .name = "mesh",
    .summary = "FFN training under any plan: a method x stages x replicas, compressed or not",
    .source = "Seal et al. 2025, Gholami et al. 2017 and Song et al. 2023, as the programs of "
              "their own",
    .check = fr_mesh_check,
    .n_parameters = fr_mesh_parameters,
    .open = fr_mesh_open,
    .gradients = gradients,
    .close = fr_mesh_close,
};
