/* Phantom parallelism of a fully connected layer (real/apps/mesh/ghosts.h):
 *
 *      forward   z_j as there, y_j = relu(z_j + b_j)
 *      backward  delta_j = dy_j where y_j > 0, db_j = row sums                 Eqs. 14 to 16
 *
 * A rank's block: that of the product, b_j. */
#include "real/apps/ffn.h"
#include "real/apps/mesh/ghosts.h"

static struct fr_ghosts product_of(const struct fr_unit *u) {
    return (struct fr_ghosts){.p = u->tp,
                              .rank = u->tp_rank,
                              .k = u->ghost,
                              .in = u->in,
                              .out = u->out,
                              .columns = u->columns};
}

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    return fr_ghosts_check(u->layer.inputs, u->layer.outputs, u->tp, u->ghost, err);
}

static size_t b_at(const struct fr_unit *u) {
    const struct fr_ghosts g = product_of(u);
    return (size_t)fr_ghosts_parameters(&g);
}

static int64_t parameters(const struct fr_unit *u) { return (int64_t)b_at(u) + u->out; }

static void fill(const struct fr_real *real, struct fr_unit *u) {
    const struct fr_ghosts g = product_of(u);
    fr_ghosts_fill(real->k, &g, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * u->index),
                   u->w);
}

static size_t ghosts(const struct fr_unit *u) { return (size_t)u->ghost * (size_t)u->columns; }

/* A bias' gradients; the ghosts' gradients of all ranks; ghosts of this rank, or their gradients where
 * these need not last. */
static int64_t room(const struct fr_unit *u) {
    return u->out + (int64_t)((size_t)(u->tp + 1) * ghosts(u));
}
static void *all_room(const struct fr_real *real, const struct fr_unit *u) {
    return fr_at(real->k, u->room, (size_t)u->out);
}
static void *mine_room(const struct fr_real *real, const struct fr_unit *u) {
    return fr_at(real->k, all_room(real, u), (size_t)u->tp * ghosts(u));
}

/* Ghosts of all ranks; delta and dg where they must last. */
static void keeps(const struct fr_unit *u, int64_t n[3]) {
    n[0] = (int64_t)((size_t)u->tp * ghosts(u));
    n[1] = u->splits ? (int64_t)u->out * u->columns : 0;
    n[2] = u->splits ? (int64_t)ghosts(u) : 0;
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                         void *next, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct fr_ghosts g = product_of(u);
    kept->y = next;
    FR_TRY(fr_ghosts_forward(real, &g, u->w, kept->x, mine_room(real, u), kept->own[0], next,
                             err));
    FR_COMPUTE(real, k->bias_relu(u->out, u->columns, fr_at(k, u->w, b_at(u)), next));
    return FR_OK;
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                       void *dy, void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct fr_ghosts g = product_of(u);
    int values = u->out * u->columns;
    kept->d = u->splits ? kept->own[1] : dy;
    kept->more = u->splits ? kept->own[2] : mine_room(real, u);
    if (u->splits) FR_COMPUTE(real, k->copy(1, values, dy, values, kept->d, values));
    fr_unit_relu_backward(real, u, u->out, kept->y, kept->d, fr_at(k, u->g, b_at(u)), u->room);
    return fr_ghosts_input(real, &g, u->w, kept->d, all_room(real, u), kept->more, dx, err);
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_kept *kept) {
    const struct fr_ghosts g = product_of(u);
    fr_ghosts_weight(real, &g, u->weights, kept->x, kept->d, kept->own[0], kept->more, u->g);
    u->weights = true;
}

static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int room) {
    const struct fr_ghosts g = product_of(u);
    return fr_ghosts_matrices(real, &g, u->g, out, room);
}

const struct fr_unit_kind fr_unit_phantom = {
    .name = "phantom",
    .divided = true,
    .check = check,
    .parameters = parameters,
    .fill = fill,
    .room = room,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = matrices,
};
