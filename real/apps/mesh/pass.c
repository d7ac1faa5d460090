/* A forward pass of a chunk, and the two parts of its backward pass; and all of an iteration. */
#include <string.h>

#include "real/apps/mesh/task.h"

static fr_status forward(struct fr_real *real, struct fr_mesh_state *mesh,
                         const struct fr_slot *slot, struct fr_error *err) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    struct fr_mesh_micro *micro = &c->micro[slot->micro];
    FR_TRY(fr_mesh_gather_parameters(real, err));
    if (c->first)
        micro->kept[0].x = mesh->task->inputs(real, mesh, slot->micro);
    else
        FR_TRY(fr_mesh_receive(real, mesh, c, slot->micro, micro->kept[0].x, err));
    FR_MPI_TRY(MPI_Wait(&micro->sent, MPI_STATUS_IGNORE)); /* of the iteration before */
    for (int i = 0; i < c->n_units; i++) {
        void *next = i + 1 < c->n_units ? micro->kept[i + 1].x : micro->top;
        FR_TRY(c->unit[i].kind->forward(real, &c->unit[i], &micro->kept[i], next, err));
    }
    return c->last ? FR_OK : fr_mesh_send(real, mesh, c, slot->micro, err);
}

/* The gradient of the chunk's output. */
static fr_status begin_backward(struct fr_real *real, struct fr_mesh_state *mesh,
                                struct fr_mesh_chunk *c, int m, void **dy,
                                struct fr_error *err) {
    *dy = mesh->d[0];
    if (c->last) return mesh->task->loss(real, mesh, c, m, dy, err);
    return fr_mesh_receive_gradient(real, mesh, c, m, *dy, err);
}

/* The first unit's goes to the outbox, unless nobody asks for it or a part of it is copied there. */
static fr_status backward(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_slot *slot, struct fr_error *err) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    struct fr_mesh_micro *micro = &c->micro[slot->micro];
    void *dy, *outgoing = NULL;
    int at = -1;
    FR_TRY(fr_mesh_gather_parameters(real, err));
    FR_TRY(begin_backward(real, mesh, c, slot->micro, &dy, err));
    if (!c->first) FR_TRY(fr_mesh_outgoing(real, mesh, &at, &outgoing, err));
    for (int i = c->n_units - 1; i >= 0; i--) {
        struct fr_unit *u = &c->unit[i];
        void *dx = mesh->d[dy == mesh->d[0]];
        if (i == 0 && outgoing && mesh->cut != FR_MESH_COLUMNS) dx = outgoing;
        FR_TRY(u->kind->input(real, u, &micro->kept[i], dy, dx, err));
        if (!mesh->splits) {
            u->kind->weight(real, u, &micro->kept[i]);
            FR_TRY(fr_mesh_send_buckets(real, mesh, c, slot - mesh->slots, i, err));
        }
        dy = dx;
    }
    return c->first ? FR_OK : fr_mesh_send_gradient(real, mesh, c, slot->micro, at, dy, err);
}

static fr_status weight(struct fr_real *real, struct fr_mesh_state *mesh,
                        const struct fr_slot *slot, struct fr_error *err) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    for (int i = c->n_units - 1; i >= 0; i--) {
        c->unit[i].kind->weight(real, &c->unit[i], &c->micro[slot->micro].kept[i]);
        FR_TRY(fr_mesh_send_buckets(real, mesh, c, slot - mesh->slots, i, err));
    }
    return FR_OK;
}

static fr_status run_slot(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_slot *slot, struct fr_error *err) {
    if (slot->kind == FR_SLOT_FORWARD) return forward(real, mesh, slot, err);
    if (slot->kind == FR_SLOT_BACKWARD) FR_TRY(backward(real, mesh, slot, err));
    if (slot->kind == FR_SLOT_WEIGHT) FR_TRY(weight(real, mesh, slot, err));
    bool made = !mesh->splits || slot->kind == FR_SLOT_WEIGHT; /* all of its gradients */
    return made ? fr_mesh_scatter_gradients(real, mesh, err) : FR_OK;
}

static void begin(struct fr_real *real, struct fr_unit *u) {
    u->biases = u->weights = false;
    if (!u->kind->adds) return;
    size_t common = (size_t)(u->kind->common ? u->kind->common(u) : u->n), n = (size_t)u->n;
    FR_COMPUTE(real, memset(u->g, 0, common * real->k->size_B));
    FR_COMPUTE(real, memset(u->own_g, 0, (n - common) * real->k->size_B));
}

fr_status fr_mesh_gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct fr_mesh_state *mesh = real->state;
    mesh->loss = 0;
    fr_mesh_begin_share(real, mesh);
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++) begin(real, &mesh->chunk[c].unit[i]);
    for (int64_t i = 0; i < mesh->n_slots; i++)
        FR_TRY(run_slot(real, mesh, &mesh->slots[i], err));
    *loss = mesh->loss;
    FR_TRY(fr_mesh_end_buckets(real, mesh, err));
    fr_mesh_put_share(real, mesh);
    FR_TRY(fr_mesh_add_partials(real, mesh, err));
    return fr_mesh_reduce(real, mesh, err);
}
