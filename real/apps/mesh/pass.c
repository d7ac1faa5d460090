/* A forward pass of a chunk, and the two parts of its backward pass; and all of an iteration. */
#include <string.h>

#include "real/apps/mesh/mesh.h"

/* The stage's next chunk, whose first pass may come at once. */
static fr_status gather_chunk_after(struct fr_real *real, struct fr_mesh_state *mesh,
                                    const struct fr_mesh_chunk *c) {
    int64_t next = c - mesh->chunk + 1;
    return next < mesh->n_chunks ? fr_mesh_gather_ahead(real, mesh, &mesh->chunk[next]) : FR_OK;
}

fr_status fr_mesh_forward(struct fr_real *real, struct fr_mesh_state *mesh,
                          struct fr_mesh_chunk *c, int m) {
    struct fr_mesh_micro *micro = &c->micro[m];
    FR_TRY(fr_mesh_gather_ahead(real, mesh, c));
    if (c->first)
        micro->saved[0].x = mesh->task->inputs(real, mesh, m);
    else
        FR_TRY(fr_mesh_receive(real, mesh, c, m, micro->saved[0].x));
    FR_REAL_TRY(real, MPI_Wait(&micro->sent, MPI_STATUS_IGNORE)); /* of the iteration before */
    if (!c->ahead) FR_TRY(fr_mesh_gather_begin(real, mesh, c, 0));
    for (int i = 0; i < c->n_units; i++) {
        void *next = i + 1 < c->n_units ? micro->saved[i + 1].x : micro->top;
        FR_TRY(fr_mesh_gather_next(real, mesh, c, i, i + 1));
        if (i + 1 == c->n_units) FR_TRY(gather_chunk_after(real, mesh, c));
        FR_TRY(c->unit[i].kind->forward(real, &c->unit[i], &micro->saved[i], next));
    }
    c->whole = true;
    return c->last ? FR_OK : fr_mesh_send(real, mesh, c, m);
}

/* The gradient of the chunk's output. */
static fr_status begin_backward(struct fr_real *real, struct fr_mesh_state *mesh,
                                struct fr_mesh_chunk *c, int m, void **dy) {
    *dy = mesh->d[0];
    if (c->last) return mesh->task->loss(real, mesh, c, m, dy);
    return fr_mesh_receive_gradient(real, mesh, c, m, *dy);
}

/* A unit's gradients, added up by now: to replicas once all micro-batches are in, or to their owners. */
static fr_status send_made(struct fr_real *real, struct fr_mesh_state *mesh,
                           struct fr_mesh_chunk *c, const struct fr_slot *slot, int i) {
    c->unit[i].kind->weight(real, &c->unit[i], &c->micro[slot->micro].saved[i]);
    if (real->run->plan->zero >= 2) return fr_mesh_scatter_begin(real, mesh, c, i, 1);
    return fr_mesh_send_buckets(real, mesh, c, slot - mesh->slots, i);
}

/* The first unit's goes to the outbox, unless nobody asks for it or a part of it is copied there. */
static fr_status backward(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_slot *slot) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    struct fr_mesh_micro *micro = &c->micro[slot->micro];
    void *dy, *outgoing = NULL;
    int at = -1;
    FR_TRY(begin_backward(real, mesh, c, slot->micro, &dy));
    if (!c->first) FR_TRY(fr_mesh_outgoing(real, mesh, &at, &outgoing));
    FR_TRY(fr_mesh_gather_begin(real, mesh, c, c->n_units - 1));
    for (int i = c->n_units - 1; i >= 0; i--) {
        struct fr_unit *u = &c->unit[i];
        FR_TRY(fr_mesh_gather_next(real, mesh, c, i, i - 1));
        void *dx = mesh->d[dy == mesh->d[0]];
        if (i == 0 && outgoing && mesh->cut != FR_MESH_COLUMNS) dx = outgoing;
        FR_TRY(u->kind->input(real, u, &micro->saved[i], dy, dx));
        if (!mesh->splits) FR_TRY(send_made(real, mesh, c, slot, i));
        dy = dx;
    }
    if (real->run->plan->zero >= 2) FR_TRY(fr_mesh_scatter_end(real, mesh));
    return c->first ? FR_OK : fr_mesh_send_gradient(real, mesh, c, slot->micro, at, dy);
}

static fr_status weight(struct fr_real *real, struct fr_mesh_state *mesh,
                        const struct fr_slot *slot) {
    struct fr_mesh_chunk *c = &mesh->chunk[slot->chunk];
    for (int i = c->n_units - 1; i >= 0; i--) FR_TRY(send_made(real, mesh, c, slot, i));
    return real->run->plan->zero >= 2 ? fr_mesh_scatter_end(real, mesh) : FR_OK;
}

static fr_status run_slot(struct fr_real *real, struct fr_mesh_state *mesh,
                          const struct fr_slot *slot) {
    mesh->slot = slot - mesh->slots;
    if (slot->kind == FR_SLOT_FORWARD)
        return fr_mesh_forward(real, mesh, &mesh->chunk[slot->chunk], slot->micro);
    return slot->kind == FR_SLOT_BACKWARD ? backward(real, mesh, slot)
                                          : weight(real, mesh, slot);
}

static void begin(struct fr_real *real, struct fr_unit *u) {
    u->biases = u->weights = false;
    if (!u->kind->adds) return;
    size_t common = (size_t)(u->kind->common ? u->kind->common(u) : u->n), n = (size_t)u->n;
    FR_COMPUTE(real, memset(u->g, 0, common * real->k->size_B));
    FR_COMPUTE(real, memset(u->own_g, 0, (n - common) * real->k->size_B));
}

fr_status fr_mesh_gradients(struct fr_real *real, double *loss) {
    struct fr_mesh_state *mesh = real->state;
    mesh->loss = 0;
    fr_mesh_begin_share(real, mesh);
    for (int c = 0; c < mesh->n_chunks; c++)
        for (int i = 0; i < mesh->chunk[c].n_units; i++) begin(real, &mesh->chunk[c].unit[i]);
    for (int64_t i = 0; i < mesh->n_slots; i++) FR_TRY(run_slot(real, mesh, &mesh->slots[i]));
    *loss = mesh->loss;
    FR_TRY(fr_mesh_end_buckets(real, mesh));
    FR_TRY(fr_mesh_join_shares(real, mesh));
    fr_mesh_put_share(real, mesh);
    FR_TRY(fr_mesh_add_partials(real, mesh));
    for (int c = 0; c < mesh->n_chunks; c++)
        mesh->chunk[c].ahead = mesh->chunk[c].whole = false;
    return fr_mesh_reduce(real, mesh);
}
