/* The last norm and the logits of a rank's part of the vocabulary (real/apps/mesh/words.h).  Each
 * makes a part of its input's gradient: an all-reduce of h T values over tp.  Where values are divided they
 * are gathered before the norm, and after it backward the gradient is reduced and scattered; of the norm's
 * own gradients each rank has a part.  Where tokens are in parts (sequence parallel) a rank norms its own; the
 * normed are gathered, backward once more, and their gradients reduced and scattered.
 *
 * From layers on another grid tokens move before the norm, and their gradients back (real/apps/redistribute.h).
 *
 * A rank's block: gain, bias; its part of the table, unless it is the embedding's. */
#include "real/apps/mesh/words.h"

static int64_t parameters(const struct fr_unit *u) {
    return 2 * u->block.hidden + (fr_words_apart(u->run) ? fr_words_size(u) : 0);
}

static void *bias(const struct fr_real *real, const struct fr_unit *u, const void *block) {
    return fr_at(real->k, block, (size_t)u->block.hidden);
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    int h = u->block.hidden;
    for (int i = 0; i < h; i++) real->k->set(u->w, (size_t)i, 1);
    if (!fr_words_apart(real->run)) return;
    u->table = fr_at(real->k, u->w, 2 * (size_t)h);
    u->d_table = fr_at(real->k, u->g, 2 * (size_t)h);
    fr_words_fill(real, u, true);
}

static int64_t values(const struct fr_unit *u) { return (int64_t)u->block.hidden * u->columns; }

static bool parted(const struct fr_unit *u) { return u->block.parted; }

static int64_t partial(const struct fr_unit *u, int part) {
    if (part > 0) return 0;
    return fr_words_divided(u) || parted(u) ? 2 * (int64_t)u->block.hidden : 0;
}

/* The normed's gradient; the whole input's, where a rank has a part of its values; of tokens in parts all of
 * them packed, and the rank's own. */
static int64_t scratch(const struct fr_unit *u) {
    int64_t moved = fr_words_move(u) ? values(u) + fr_words_moved(u) : 0;
    return (parted(u) ? 3 : fr_words_divided(u) ? 2 : 1) * values(u) + moved;
}
static void *scratch_at(const struct fr_real *real, const struct fr_unit *u, int part) {
    return fr_at(real->k, u->scratch, (size_t)(part * values(u)));
}

/* The normed; each token's mean, then 1 / sd; the whole input, where a rank has a part, or of tokens in parts
 * the normed of all. */
static void keeps(const struct fr_unit *u, int64_t n[3]) {
    n[0] = values(u);
    n[1] = 2 * (int64_t)u->columns;
    n[2] = fr_words_divided(u) || parted(u) || fr_words_move(u) ? values(u) : 0;
}

static const void *whole_x(const struct fr_unit *u, const struct fr_unit_saved *saved) {
    return fr_words_divided(u) || fr_words_move(u) ? saved->own[2] : saved->x;
}
static const void *whole_normed(const struct fr_unit *u, const struct fr_unit_saved *saved) {
    return parted(u) ? saved->own[2] : saved->own[0];
}

/* The normed of all tokens. */
static fr_status join(struct fr_real *real, const struct fr_unit *u,
                      const struct fr_unit_saved *saved) {
    if (!parted(u)) return FR_OK;
    const struct fr_token_parts parts = fr_unit_parts(u);
    return fr_parts_gather(real, &parts, saved->own[0], scratch_at(real, u, 1), saved->own[2]);
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                         void *next) {
    const struct fr_kernels *k = real->k;
    int t = u->columns, h = u->block.hidden;
    void *inverse = fr_at(k, saved->own[1], (size_t)t);
    if (fr_words_divided(u))
        FR_TRY(fr_real_all_gather(real, u->group, saved->x, (int64_t)u->in * t, saved->own[2]));
    if (fr_words_move(u))
        FR_TRY(fr_redistribute(real, u->entering, h, u->from.columns, saved->x, u->grid.columns,
                               scratch_at(real, u, 1), saved->own[2]));
    FR_COMPUTE(real, k->norm(h, fr_unit_own_tokens(u), whole_x(u, saved), u->w,
                             bias(real, u, u->w), saved->own[1], inverse, saved->own[0]));
    FR_TRY(join(real, u, saved));
    fr_multiply(real, u->words, t, h, u->table, whole_normed(u, saved), 0, next);
    return FR_OK;
}

/* *sum := the normed's gradient from dy, added up over ranks, of its own tokens.  The normed of all tokens are
 * gathered once more meanwhile, for the weights' gradient. */
static fr_status normed_back(struct fr_real *real, struct fr_unit *u,
                             struct fr_unit_saved *saved, const void *dy, void **sum) {
    int t = u->columns, h = u->block.hidden;
    MPI_Request gathered = MPI_REQUEST_NULL;
    const struct fr_token_parts parts = fr_unit_parts(u);
    void *packed = scratch_at(real, u, 1);
    *sum = parted(u) ? scratch_at(real, u, 2) : u->scratch;
    if (parted(u))
        FR_TRY(fr_parts_gather_begin(real, &parts, saved->own[0], packed, &gathered));
    fr_multiply_back(real, u->words, t, h, u->table, dy, 0, u->scratch);
    if (parted(u)) {
        FR_TRY(fr_parts_gather_end(real, &parts, packed, saved->own[2], &gathered));
        return fr_parts_scatter(real, &parts, u->scratch, packed, *sum);
    }
    if (u->tp == 1 || fr_words_divided(u)) return FR_OK;
    return fr_real_all_reduce(real, u->group, u->scratch, values(u));
}

/* dy lies where the logits did, and stays. */
static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx) {
    int t = u->columns, h = u->block.hidden;
    bool divided = fr_words_divided(u);
    bool move = fr_words_move(u);
    void *inverse = fr_at(real->k, saved->own[1], (size_t)t),
         *whole = divided || move ? scratch_at(real, u, 1) : dx, *sum;
    saved->d = dy;
    FR_TRY(normed_back(real, u, saved, dy, &sum));
    FR_COMPUTE(real, real->k->norm_backward(h, fr_unit_own_tokens(u), whole_x(u, saved), u->w,
                                            saved->own[1], inverse, sum, whole, u->g,
                                            bias(real, u, u->g)));
    if (move)
        return fr_redistribute(real, u->entering, h, u->grid.columns, whole, u->from.columns,
                               scratch_at(real, u, 2), dx);
    if (!divided) return FR_OK;
    return fr_real_reduce_scatter(real, u->group, whole, dx, (int64_t)u->in * t);
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_saved *saved) {
    int t = u->columns, h = u->block.hidden;
    fr_add_outer(real, u->words, t, h, saved->d, whole_normed(u, saved), 1, u->d_table);
}

const struct fr_unit_kind fr_unit_logits = {
    .name = "logits",
    .adds = true,
    .parameters = parameters,
    .partial = partial,
    .fill = fill,
    .scratch = scratch,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = fr_words_matrices,
};
