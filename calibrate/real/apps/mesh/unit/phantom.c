/* Phantom parallelism of a fully connected layer (Seal et al. 2025, sections III and IV): rank j of p
 * holds
 *
 *      L_j (m/p x n/p)   C_j (k x n/p)   D_ij (m/p x k) for i != j   b_j (m/p)
 *
 *      forward   g_j = C_j y_j, all-gather of g, z_j = L_j y_j + sum_(i != j) D_ij g_i,
 *                y_j = relu(z_j + b_j)                                              Eq. 11
 *      backward  delta_j = dy_j where y_j > 0, db_j = row sums                 Eqs. 14 to 16
 *                h_ij = D_ij^T delta_j, reduce-scatter of h: dg_j = sum_(i != j) h_ji
 *                dy_j = L_j^T delta_j + C_j^T dg_j                                  Eq. 17
 *                dL_j = delta_j y_j^T, dD_ij = delta_j g_i^T, dC_j = dg_j y_j^T
 *                                                                     Eqs. 18, 19, 20, 21
 *
 * A rank's block: L_j, C_j, the D_ij by ascending i, b_j. */
#include <math.h>
#include <string.h>

#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/mesh/unit.h"
#include "calibrate/real/apps/random.h"

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    double p = u->tp, k = u->ghost;
    double narrower = fmin((double)u->layer.inputs, (double)u->layer.outputs);
    FR_TRY(fr_real_divides("a layer's width", u->layer.outputs, "tp", u->tp, err));
    FR_TRY(fr_real_divides("a layer's inputs", u->layer.inputs, "tp", u->tp, err));
    /* One rank has nobody to send ghosts to, and then no width is too large. */
    if (k >= 1 && (p == 1 || k < narrower / p * (1 - 1 / p))) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, NULL,
                   "ghost %g must be at least 1 and below (n/p)(1 - 1/p) = %g (seed "
                   "000, Eq. 8)",
                   k, narrower / p * (1 - 1 / p));
}

/* Values before C, before the first D, before b. */
static size_t c_at(const struct fr_unit *u) { return (size_t)u->out * (size_t)u->in; }
static size_t d_at(const struct fr_unit *u) {
    return c_at(u) + (size_t)u->ghost * (size_t)u->in;
}
static size_t b_at(const struct fr_unit *u) {
    return d_at(u) + (size_t)(u->tp - 1) * (size_t)u->out * (size_t)u->ghost;
}

static int64_t parameters(const struct fr_unit *u) { return (int64_t)b_at(u) + u->out; }

/* That for the ghosts of rank @p from, another one. */
static void *decompressor(const struct fr_real *real, const struct fr_unit *u,
                          const void *block, int from) {
    int slot = from < u->tp_rank ? from : from - 1;
    return fr_at(real->k, block, d_at(u) + (size_t)slot * (size_t)u->out * (size_t)u->ghost);
}

/* Block (i, j) of a layer's local matrices is part of the stream that tensor's W would be; the
 * others have streams of their own.  Deviations: z_j is a sum of p parts of equal variance. */
static void fill(const struct fr_real *real, struct fr_unit *u) {
    const struct fr_kernels *k = real->k;
    uint64_t seed = real->run->seed, stream = (uint64_t)(FR_STREAM_LAYER + 64 * u->index);
    int64_t j = u->tp_rank, in = u->in, out = u->out, g = u->ghost, p = u->tp;
    fr_fill_normal(k, seed, stream, j * out, out, j * in, in, u->layer.inputs,
                   fr_ffn_deviation((double)u->layer.inputs), u->w);
    fr_fill_normal(k, seed, stream + 1, j * g, g, 0, in, in, 1 / sqrt((double)in),
                   fr_at(k, u->w, c_at(u)));
    for (int from = 0; from < p; from++)
        if (from != j)
            fr_fill_normal(k, seed, stream + 2, (from * p + j) * out, out, 0, g, g,
                           fr_ffn_deviation((double)(p * g)),
                           decompressor(real, u, u->w, from));
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

static void *ghosts_of(const struct fr_real *real, const struct fr_unit *u, void *all, int i) {
    return fr_at(real->k, all, (size_t)i * ghosts(u));
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                         void *next, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = u->columns, g = u->ghost;
    void *mine = mine_room(real, u), *c = fr_at(k, u->w, c_at(u));
    kept->y = next;
    FR_COMPUTE(real, k->gemm(false, false, g, b, u->in, 1, c, u->in, kept->x, b, 0, mine, b));
    FR_TRY(fr_real_all_gather(real, real->tp, mine, (int64_t)g * b, kept->own[0], err));
    FR_COMPUTE(real,
               k->gemm(false, false, u->out, b, u->in, 1, u->w, u->in, kept->x, b, 0, next, b));
    for (int from = 0; from < u->tp; from++)
        if (from != u->tp_rank)
            FR_COMPUTE(real,
                       k->gemm(false, false, u->out, b, g, 1, decompressor(real, u, u->w, from),
                               g, ghosts_of(real, u, kept->own[0], from), b, 1, next, b));
    FR_COMPUTE(real, k->bias_relu(u->out, b, fr_at(k, u->w, b_at(u)), next));
    return FR_OK;
}

static void ghost_gradients(struct fr_real *real, struct fr_unit *u, const void *delta) {
    const struct fr_kernels *k = real->k;
    int b = u->columns, g = u->ghost;
    for (int from = 0; from < u->tp; from++) {
        void *h = ghosts_of(real, u, all_room(real, u), from);
        if (from == u->tp_rank)
            FR_COMPUTE(real, memset(h, 0, ghosts(u) * k->size_B));
        else
            FR_COMPUTE(real, k->gemm(true, false, g, b, u->out, 1,
                                     decompressor(real, u, u->w, from), g, delta, b, 0, h, b));
    }
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                       void *dy, void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = u->columns, g = u->ghost, values = u->out * b;
    kept->d = u->splits ? kept->own[1] : dy;
    kept->more = u->splits ? kept->own[2] : mine_room(real, u);
    if (u->splits) FR_COMPUTE(real, k->copy(1, values, dy, values, kept->d, values));
    fr_unit_relu_backward(real, u, u->out, kept->y, kept->d, fr_at(k, u->g, b_at(u)), u->room);
    ghost_gradients(real, u, kept->d);
    FR_TRY(fr_real_reduce_scatter(real, real->tp, all_room(real, u), kept->more, (int64_t)g * b,
                                  err));
    FR_COMPUTE(real,
               k->gemm(true, false, u->in, b, u->out, 1, u->w, u->in, kept->d, b, 0, dx, b));
    FR_COMPUTE(real, k->gemm(true, false, u->in, b, g, 1, fr_at(k, u->w, c_at(u)), u->in,
                             kept->more, b, 1, dx, b));
    return FR_OK;
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_kept *kept) {
    const struct fr_kernels *k = real->k;
    int b = u->columns, g = u->ghost;
    FR_COMPUTE(real, k->gemm(false, true, u->out, u->in, b, 1, kept->d, b, kept->x, b,
                             u->weights, u->g, u->in));
    for (int from = 0; from < u->tp; from++)
        if (from != u->tp_rank)
            FR_COMPUTE(real, k->gemm(false, true, u->out, g, b, 1, kept->d, b,
                                     ghosts_of(real, u, kept->own[0], from), b, u->weights,
                                     decompressor(real, u, u->g, from), g));
    FR_COMPUTE(real, k->gemm(false, true, g, u->in, b, 1, kept->more, b, kept->x, b, u->weights,
                             fr_at(k, u->g, c_at(u)), u->in));
    u->weights = true;
}

static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int room) {
    if (room > 0) out[0] = (struct fr_unit_matrix){u->g, u->out, u->in};
    if (room > 1)
        out[1] = (struct fr_unit_matrix){fr_at(real->k, u->g, c_at(u)), u->ghost, u->in};
    for (int from = 0, i = 2; from < u->tp; from++)
        if (from != u->tp_rank && i < room)
            out[i++] =
                (struct fr_unit_matrix){decompressor(real, u, u->g, from), u->out, u->ghost};
    return u->tp + 1;
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
