/* A transformer's layer (real/apps/block.h) of a rank with 1/tp of its heads and of its MLP's
 * width f; q values of all heads.
 *
 *      tensor  forward   all-reduce of h T values after attention, and after the MLP
 *              backward  likewise, of the gradients before them
 *      in parts          reduce-scatters and all-gathers of h T values in place of these (sequence parallel),
 *              backward  with two all-gathers more
 *      grid    forward   all-gathers of q T, h T, f T, h T values, as they are made
 *              backward  all-reduces of their gradients
 *
 * A rank's block is that of struct fr_block; norms, and biases after the all-reduces, are on every
 * rank alike. */
#include "real/apps/ffn.h"
#include "real/apps/mesh/layer.h"

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    FR_TRY(fr_layer_check(u, err));
    return u->block.rows ? fr_real_divides("hidden", u->block.hidden, "tp", u->tp, err) : FR_OK;
}

static int64_t parameters(const struct fr_unit *u) { return fr_block_parameters(&u->block); }

/* Norms, of this rank's tokens. */
static int64_t partial(const struct fr_unit *u) {
    return fr_block_parted(&u->block) ? 4 * (int64_t)u->block.hidden : 0;
}

static struct fr_block weights(const struct fr_real *real, const struct fr_unit *u) {
    return fr_block_at(real->k, &u->block, u->w);
}
static struct fr_block gradients(const struct fr_real *real, const struct fr_unit *u) {
    return fr_block_at(real->k, &u->block, u->g);
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    struct fr_block w = weights(real, u);
    fr_block_fill(real->k, &u->block, real->run->seed,
                  (uint64_t)(FR_STREAM_LAYER + 64 * u->index), &w);
}

/* ---- its way ----------------------------------------------------------------------------------- */

static int64_t pass_room(const struct fr_unit *u) { return fr_block_room_size(&u->block); }
static int64_t deferred_size(const struct fr_unit *u) {
    return fr_block_deferred_size(&u->block);
}
static int64_t saved_size(const struct fr_unit *u, bool softmax) {
    return fr_block_saved_size(&u->block, softmax);
}
static int64_t softmax_size(const struct fr_unit *u) {
    return fr_block_softmax_size(&u->block);
}

static struct fr_block_saved saved_at(const struct fr_real *real, const struct fr_unit *u,
                                      const struct fr_layer_at *at) {
    return fr_block_saved_at(real->k, &u->block, at->saved, at->softmax);
}

static fr_status make(struct fr_real *real, const struct fr_unit *u,
                      const struct fr_layer_at *at, const void *x, void *y,
                      struct fr_error *err) {
    const struct fr_block w = weights(real, u);
    const struct fr_block_saved s = saved_at(real, u, at);
    const struct fr_block_room r = fr_block_room_at(real->k, &u->block, at->room);
    return fr_block_forward(real, &u->block, &w, &s, &r, x, y, err);
}

static fr_status attend(struct fr_real *real, const struct fr_unit *u,
                        const struct fr_layer_at *at, struct fr_error *err) {
    const struct fr_block_saved s = saved_at(real, u, at);
    const struct fr_block_room r = fr_block_room_at(real->k, &u->block, at->room);
    return fr_block_attend(real, &u->block, &s, &r, err);
}

static fr_status make_input(struct fr_real *real, const struct fr_unit *u,
                            const struct fr_layer_at *at, const void *x, const void *dy,
                            void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct fr_block w = weights(real, u), g = gradients(real, u);
    const struct fr_block_saved s = saved_at(real, u, at);
    const struct fr_block_deferred d = fr_block_deferred_at(k, &u->block, at->deferred);
    const struct fr_block_room r = fr_block_room_at(k, &u->block, at->room);
    return fr_block_input(real, &u->block, &w, &g, &s, &d, &r, x, dy, dx, err);
}

static void make_weight(struct fr_real *real, const struct fr_unit *u,
                        const struct fr_layer_at *at, const void *x, const void *dy) {
    (void)x;
    const struct fr_block g = gradients(real, u);
    const struct fr_block_saved s = saved_at(real, u, at);
    const struct fr_block_deferred d = fr_block_deferred_at(real->k, &u->block, at->deferred);
    fr_block_weight(real, &u->block, &g, &s, &d, d.dx1, dy);
}

static const struct fr_layer_way way = {.room = pass_room,
                                        .deferred = deferred_size,
                                        .saved = saved_size,
                                        .softmax = softmax_size,
                                        .forward = make,
                                        .attend = attend,
                                        .input = make_input,
                                        .weight = make_weight};

/* ---- the unit ---------------------------------------------------------------------------------- */

static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int room) {
    const struct fr_block g = gradients(real, u);
    const struct fr_block_sizes *z = &u->block;
    int h = z->hidden, q = z->heads * z->head_dim, f = z->ffn, o = fr_block_out(z);
    const struct fr_unit_matrix all[] = {{g.qkv, 3 * q, h},
                                         {g.out, o, fr_block_in(z, q)},
                                         {g.up, f, h},
                                         {g.down, o, fr_block_in(z, f)}};
    int n = (int)(sizeof all / sizeof *all);
    for (int i = 0; i < n && i < room; i++) out[i] = all[i];
    return n;
}

const struct fr_unit_kind fr_unit_block = {
    .name = "block",
    .adds = true,
    .check = check,
    .parameters = parameters,
    .partial = partial,
    .fill = fill,
    .room = fr_layer_room,
    .keeps = fr_layer_keeps,
    .forward = fr_layer_forward,
    .input = fr_layer_input,
    .weight = fr_layer_weight,
    .matrices = matrices,
    .way = &way,
};
