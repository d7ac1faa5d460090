/* A decoder's layer (real/apps/block.h, crossing.h): heads, cross-attention, MLP.
 *
 * Beside the stream x the layers of a decoder pass on e, what the encoder made: h x T of each, below each other.
 * The first one's stream begins with e, as the price has no second embedding; the last one passes on the
 * stream alone.  Gradients of e are added up on the way back.
 *
 * A rank's block: that of struct fr_block, then that of struct fr_crossing. */
#include <string.h>

#include "real/apps/attention/crossing.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/layer.h"

enum { STREAM_CROSSING = 32 };

static int64_t parameters(const struct fr_unit *u) {
    return fr_block_parameters(&u->block) + fr_crossing_parameters(&u->block);
}

struct pair {
    struct fr_block block;
    struct fr_crossing crossing;
};

static struct pair at_pair(const struct fr_real *real, const struct fr_unit *u,
                           const void *base) {
    size_t after = (size_t)fr_block_parameters(&u->block);
    return (struct pair){fr_block_at(real->k, &u->block, base),
                         fr_crossing_at(real->k, &u->block, fr_at(real->k, base, after))};
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    struct pair w = at_pair(real, u, u->w);
    uint64_t stream = (uint64_t)(FR_STREAM_LAYER + 64 * u->index);
    fr_block_fill(real->k, &u->block, real->run->seed, stream, &w.block);
    fr_crossing_fill(real->k, &u->block, real->run->seed, stream + STREAM_CROSSING,
                     &w.crossing);
}

static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int room) {
    const struct pair g = at_pair(real, u, u->g);
    int h = u->block.hidden, q = u->block.heads * u->block.head_dim, f = u->block.ffn;
    const struct fr_unit_matrix all[] = {{g.block.qkv, 3 * q, h},    {g.block.out, h, q},
                                         {g.block.up, f, h},         {g.block.down, h, f},
                                         {g.crossing.qkv, 3 * q, h}, {g.crossing.out, h, q}};
    int n = (int)(sizeof all / sizeof *all);
    for (int i = 0; i < n && i < room; i++) out[i] = all[i];
    return n;
}

/* ---- buffers: the block's, then the crossing's ---------------------------------------------------- */

static int64_t pass_room(const struct fr_unit *u) {
    return fr_block_room_size(&u->block) + fr_crossing_room_size(&u->block);
}
static int64_t deferred_size(const struct fr_unit *u) {
    return fr_block_deferred_size(&u->block) + fr_crossing_deferred_size(&u->block);
}
static int64_t saved_size(const struct fr_unit *u, bool softmax) {
    return fr_block_saved_size(&u->block, softmax) + fr_crossing_saved_size(&u->block, softmax);
}
static int64_t softmax_size(const struct fr_unit *u) {
    return 2 * fr_block_softmax_size(&u->block);
}

struct buffers {
    struct pair w, g;
    struct fr_block_saved saved;
    struct fr_block_deferred deferred;
    struct fr_block_room room;
    struct fr_crossing_saved crossed;
    struct fr_crossing_deferred later;
    struct fr_crossing_room across;
};

static struct buffers buffers_of(const struct fr_real *real, const struct fr_unit *u,
                                 const struct fr_layer_at *at) {
    const struct fr_kernels *k = real->k;
    const struct fr_block_sizes *z = &u->block;
    size_t saved = (size_t)fr_block_saved_size(z, !at->softmax),
           softmax = (size_t)fr_block_softmax_size(z);
    void *second = at->softmax ? fr_at(k, at->softmax, softmax) : NULL;
    struct buffers b = {
        .w = at_pair(real, u, u->w),
        .g = at_pair(real, u, u->g),
        .saved = fr_block_saved_at(k, z, at->saved, at->softmax),
        .room = fr_block_room_at(k, z, at->room),
        .crossed = fr_crossing_saved_at(k, z, fr_at(k, at->saved, saved), second),
        .across = fr_crossing_room_at(k, z, fr_at(k, at->room, (size_t)fr_block_room_size(z)))};
    if (!at->deferred) return b;
    b.deferred = fr_block_deferred_at(k, z, at->deferred);
    b.later = fr_crossing_deferred_at(
        k, z, fr_at(k, at->deferred, (size_t)fr_block_deferred_size(z)));
    return b;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static size_t stream_values(const struct fr_unit *u) {
    return (size_t)u->block.hidden * (size_t)u->columns;
}

/* e, or its gradient, behind the stream; the first layer's is the stream itself. */
static void *encoded(const struct fr_real *real, const struct fr_unit *u, int features,
                     const void *x) {
    return fr_at(real->k, x, features > u->block.hidden ? stream_values(u) : 0);
}

static void copy(struct fr_real *real, const struct fr_unit *u, const void *from, void *to) {
    FR_COMPUTE(real, memmove(to, from, stream_values(u) * real->k->size_B));
}

static fr_status make(struct fr_real *real, const struct fr_unit *u,
                      const struct fr_layer_at *at, const void *x, void *y,
                      struct fr_error *err) {
    const struct buffers b = buffers_of(real, u, at);
    const struct fr_block_sizes *z = &u->block;
    const void *e = encoded(real, u, u->in, x);
    FR_TRY(fr_block_heads_forward(real, z, &b.w.block, &b.saved, &b.room, x, b.crossed.x, err));
    FR_TRY(
        fr_crossing_forward(real, z, &b.w.crossing, &b.crossed, &b.across, e, b.saved.x1, err));
    FR_TRY(fr_block_mlp_forward(real, z, &b.w.block, &b.saved, &b.room, y, err));
    if (u->out > z->hidden) copy(real, u, e, encoded(real, u, u->out, y));
    return FR_OK;
}

static fr_status attend(struct fr_real *real, const struct fr_unit *u,
                        const struct fr_layer_at *at, struct fr_error *err) {
    const struct buffers b = buffers_of(real, u, at);
    FR_TRY(fr_block_attend(real, &u->block, &b.saved, &b.room, err));
    return fr_crossing_attend(real, &u->block, &b.crossed, &b.across, err);
}

/* The gradient of e comes in behind that of the stream, but to the last layer, and leaves behind it, but from the
 * first, where both are of one. */
static fr_status make_input(struct fr_real *real, const struct fr_unit *u,
                            const struct fr_layer_at *at, const void *x, const void *dy,
                            void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct buffers b = buffers_of(real, u, at);
    const struct fr_block_sizes *z = &u->block;
    bool first = u->in == z->hidden;
    void *de = first ? b.across.de : encoded(real, u, u->in, dx);
    if (u->out > z->hidden)
        copy(real, u, encoded(real, u, u->out, dy), de);
    else
        FR_COMPUTE(real, memset(de, 0, stream_values(u) * k->size_B));
    FR_TRY(fr_block_mlp_input(real, z, &b.w.block, &b.g.block, &b.saved, &b.deferred, &b.room,
                              dy, err));
    FR_TRY(fr_crossing_input(real, z, &b.w.crossing, &b.g.crossing, &b.crossed, &b.later,
                             &b.across, b.deferred.dx1, de, err));
    FR_TRY(fr_block_heads_input(real, z, &b.w.block, &b.g.block, &b.saved, &b.deferred, &b.room,
                                x, b.later.dx, dx, err));
    if (first) FR_COMPUTE(real, k->add(stream_values(u), de, dx));
    return FR_OK;
}

static void make_weight(struct fr_real *real, const struct fr_unit *u,
                        const struct fr_layer_at *at, const void *x, const void *dy) {
    const struct buffers b = buffers_of(real, u, at);
    fr_block_weight(real, &u->block, &b.g.block, &b.saved, &b.deferred, b.later.dx, dy);
    fr_crossing_weight(real, &u->block, &b.g.crossing, &b.crossed, &b.later,
                       encoded(real, u, u->in, x), b.deferred.dx1);
}

static const struct fr_layer_way way = {.room = pass_room,
                                        .deferred = deferred_size,
                                        .saved = saved_size,
                                        .softmax = softmax_size,
                                        .forward = make,
                                        .attend = attend,
                                        .input = make_input,
                                        .weight = make_weight};

const struct fr_unit_kind fr_unit_cross_block = {
    .name = "cross_block",
    .adds = true,
    .check = fr_layer_check,
    .parameters = parameters,
    .fill = fill,
    .room = fr_layer_room,
    .keeps = fr_layer_keeps,
    .forward = fr_layer_forward,
    .input = fr_layer_input,
    .weight = fr_layer_weight,
    .matrices = matrices,
    .way = &way,
};
