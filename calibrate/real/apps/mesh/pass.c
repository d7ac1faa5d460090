/* A forward pass of a chunk, and the two parts of its backward pass; and all of an iteration. */
#include "calibrate/real/apps/mesh/mesh.h"

/* The network's inputs, where they are. */
static void *inputs_of(const struct fr_real *real, const struct fr_mesh_state *mesh, int m) {
    size_t values = (size_t)mesh->chunk[0].unit[0].in * (size_t)mesh->columns;
    return fr_at(real->k, mesh->inputs, (size_t)m * values);
}

static fr_status forward(struct fr_real *real, struct fr_mesh_state *mesh,
                         const struct fr_slot *slot, struct fr_error *err) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    struct fr_mesh_micro *micro = &c->micro[slot->micro];
    if (c->first)
        micro->kept[0].x = inputs_of(real, mesh, slot->micro);
    else
        FR_TRY(fr_mesh_receive(real, mesh, c, slot->micro, micro->kept[0].x, err));
    FR_MPI_TRY(MPI_Wait(&micro->sent, MPI_STATUS_IGNORE)); /* of the iteration before */
    for (int i = 0; i < c->n_units; i++) {
        void *next = i + 1 < c->n_units ? micro->kept[i + 1].x : micro->top;
        FR_TRY(c->unit[i].kind->forward(real, &c->unit[i], &micro->kept[i], next, err));
    }
    return c->last ? FR_OK : fr_mesh_send(real, mesh, c, slot->micro, err);
}

/* The first unit's goes to the outbox, unless nobody asks for it. */
static fr_status backward(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_slot *slot, struct fr_error *err) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    struct fr_mesh_micro *micro = &c->micro[slot->micro];
    void *dy = mesh->d[0], *dx = mesh->d[1], *outgoing = NULL;
    int at = -1;
    if (c->last)
        fr_mesh_loss(real, mesh, c, slot->micro, dy);
    else
        FR_TRY(fr_mesh_receive_gradient(real, mesh, c, slot->micro, dy, err));
    if (!c->first) FR_TRY(fr_mesh_outgoing(real, mesh, &at, &outgoing, err));
    for (int i = c->n_units - 1; i >= 0; i--) {
        struct fr_unit *u = &c->unit[i];
        void *to = i == 0 && outgoing ? outgoing : dx;
        FR_TRY(u->kind->input(real, u, &micro->kept[i], dy, to, err));
        if (!mesh->splits) u->kind->weight(real, u, &micro->kept[i]);
        dx = dy;
        dy = to;
    }
    return c->first ? FR_OK : fr_mesh_send_gradient(real, mesh, c, slot->micro, at, err);
}

static void weight(struct fr_real *real, struct fr_mesh_state *mesh,
                   const struct fr_slot *slot) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    for (int i = c->n_units - 1; i >= 0; i--)
        c->unit[i].kind->weight(real, &c->unit[i], &c->micro[slot->micro].kept[i]);
}

static fr_status run_slot(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_slot *slot, struct fr_error *err) {
    if (slot->kind == FR_SLOT_FORWARD) return forward(real, mesh, slot, err);
    if (slot->kind == FR_SLOT_BACKWARD) return backward(real, mesh, slot, err);
    weight(real, mesh, slot);
    return FR_OK;
}

fr_status fr_mesh_gradients(struct fr_real *real, double *loss, struct fr_error *err) {
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
