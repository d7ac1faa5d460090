/* A transformer's layer (calibrate/real/apps/block.h) of a rank with 1/tp of its heads and of its MLP's
 * width f; q values of all heads.
 *
 *      tensor  forward   all-reduce of h T values after attention, and after the MLP
 *              backward  likewise, of the gradients before them
 *      grid    forward   all-gathers of q T, h T, f T, h T values, as they are made
 *              backward  all-reduces of their gradients
 *
 * Recomputed: `selective` the attention's core, whose softmax is not kept; `full` all of it, collectives
 * too, from the input alone.  Where weights' gradients come later what they need is kept from the
 * backward pass to then.
 *
 * A rank's block is that of struct fr_block; norms, and biases after the all-reduces, are on every
 * rank alike.  kept->d is the gradient of the output, kept->more what struct fr_block_deferred has. */
#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/mesh/unit.h"

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    const struct fr_transformer *t = &u->run->workload->transformer;
    const struct fr_plan *plan = u->run->plan;
    const char *lacks =
        plan->method->uses_ghost || plan->method->branches
            ? "transformers are divided by methods tensor and grid here"
        : t->gated                ? "gated MLPs are not trained here"
        : t->experts              ? "mixtures of experts are not trained here"
        : t->cross_layers         ? "cross-attention is not trained here"
        : t->kv_heads != t->heads ? "grouped key-value heads are not trained here"
        : t->qk_norms             ? "norms of queries and keys are not trained here"
        : !t->norm_biases         ? "RMSNorm is not trained here; \"norm\": \"layer\" is"
        : !t->biases              ? "products without biases are not trained here"
                                  : NULL;
    if (lacks) return fr_fail(err, FR_ERR_INPUT, NULL, "%s", lacks);
    FR_TRY(fr_real_divides("the number of heads", t->heads, "tp", u->tp, err));
    if (plan->method->grids) FR_TRY(fr_real_divides("hidden", t->hidden, "tp", u->tp, err));
    return fr_real_divides("the MLP's width", t->ffn, "tp", u->tp, err);
}

static int64_t parameters(const struct fr_unit *u) { return fr_block_parameters(&u->block); }

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

static fr_recompute again(const struct fr_unit *u) { return u->run->plan->recompute; }

/* Is nothing kept but the input? */
static bool keeps_input(const struct fr_unit *u) {
    return again(u) == FR_RECOMPUTE_FULL && !u->splits;
}

/* Values of the parts of the room: what a backward pass has; what is deferred, and what is saved, where
 * weights' gradients follow at once; a softmax, and an output, that are made again. */
enum { BACKWARD, DEFERRED, SAVED, SOFTMAX, OUTPUT, PARTS };
static void parts_of(const struct fr_unit *u, int64_t n[PARTS]) {
    bool full = again(u) == FR_RECOMPUTE_FULL;
    n[BACKWARD] = fr_block_room_size(&u->block);
    n[DEFERRED] = fr_block_deferred_size(&u->block);
    n[SAVED] = keeps_input(u) ? fr_block_saved_size(&u->block, false) : 0;
    n[SOFTMAX] = again(u) != FR_RECOMPUTE_NONE ? fr_block_softmax_size(&u->block) : 0;
    n[OUTPUT] = full ? (int64_t)u->out * u->columns : 0;
}

static int64_t room(const struct fr_unit *u) {
    int64_t n[PARTS], sum = 0;
    parts_of(u, n);
    for (int i = 0; i < PARTS; i++) sum += n[i];
    return sum;
}

static void *part_at(const struct fr_real *real, const struct fr_unit *u, int part) {
    int64_t n[PARTS], before = 0;
    parts_of(u, n);
    for (int i = 0; i < part; i++) before += n[i];
    return fr_at(real->k, u->room, (size_t)before);
}

/* What is saved; what is deferred, and the gradient of the output, where they must last. */
static void keeps(const struct fr_unit *u, int64_t n[3]) {
    bool softmax = again(u) == FR_RECOMPUTE_NONE;
    n[0] = keeps_input(u) ? 0 : fr_block_saved_size(&u->block, softmax);
    n[1] = u->splits ? fr_block_deferred_size(&u->block) : 0;
    n[2] = u->splits ? (int64_t)u->out * u->columns : 0;
}

static struct fr_block_saved saved(const struct fr_real *real, const struct fr_unit *u,
                                   const struct fr_unit_kept *kept) {
    void *softmax = again(u) == FR_RECOMPUTE_NONE ? NULL : part_at(real, u, SOFTMAX);
    const void *base = keeps_input(u) ? part_at(real, u, SAVED) : kept->own[0];
    return fr_block_saved_at(real->k, &u->block, base, softmax);
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                         void *next, struct fr_error *err) {
    const struct fr_block w = weights(real, u);
    const struct fr_block_saved s = saved(real, u, kept);
    return fr_block_forward(real, &u->block, &w, &s, kept->x, next, err);
}

/* What the forward pass made and did not keep. */
static fr_status recompute(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                           const struct fr_block_saved *s, struct fr_error *err) {
    if (again(u) == FR_RECOMPUTE_FULL)
        return forward(real, u, kept, part_at(real, u, OUTPUT), err);
    if (again(u) == FR_RECOMPUTE_SELECTIVE) fr_block_attend(real, &u->block, s);
    return FR_OK;
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_kept *kept,
                       void *dy, void *dx, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int values = u->out * u->columns;
    kept->d = u->splits ? kept->own[2] : dy;
    kept->more = u->splits ? kept->own[1] : part_at(real, u, DEFERRED);
    if (u->splits) FR_COMPUTE(real, k->copy(1, values, dy, values, kept->d, values));
    const struct fr_block w = weights(real, u), g = gradients(real, u);
    const struct fr_block_saved s = saved(real, u, kept);
    const struct fr_block_deferred d = fr_block_deferred_at(k, &u->block, kept->more);
    const struct fr_block_room r = fr_block_room_at(k, &u->block, part_at(real, u, BACKWARD));
    FR_TRY(recompute(real, u, kept, &s, err));
    return fr_block_input(real, &u->block, &w, &g, &s, &d, &r, kept->x, dy, dx, err);
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_kept *kept) {
    const struct fr_block g = gradients(real, u);
    const struct fr_block_saved s = saved(real, u, kept);
    const struct fr_block_deferred d = fr_block_deferred_at(real->k, &u->block, kept->more);
    fr_block_weight(real, &u->block, &g, &s, &d, kept->d);
}

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
    .fill = fill,
    .room = room,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = matrices,
};
