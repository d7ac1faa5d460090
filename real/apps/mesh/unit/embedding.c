/* Words to activations (real/apps/mesh/words.h): each rank looks up its part of the
 * vocabulary.  An all-reduce of h T values over tp brings them together.  Where values or
 * tokens are divided it is a reduce-scatter; then their gradients are gathered.  x is the
 * words of the micro-batch, an int a token, and has no gradient.  To layers on another grid tokens move
 * (real/apps/redistribute.h).
 *
 * A rank's block: its part of the table; positions, h x s, which every rank has alike. */
#include <string.h>

#include "real/apps/mesh/words.h"
#include "real/apps/random.h"

enum { STREAM_POSITIONS = 5 };

static bool has_positions(const struct fr_unit *u) {
    return u->run->workload->transformer.positions;
}

static int64_t parameters(const struct fr_unit *u) {
    int64_t positions = (int64_t)u->block.hidden * u->block.sequence;
    return fr_words_size(u) + (has_positions(u) ? positions : 0);
}

/* In a block of parameters, or of gradients; NULL: none. */
static void *positions(const struct fr_real *real, const struct fr_unit *u, const void *block) {
    return has_positions(u) ? fr_at(real->k, block, (size_t)fr_words_size(u)) : NULL;
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    int s = u->block.sequence;
    u->table = u->w;
    u->d_table = u->g;
    fr_words_fill(real, u, false);
    if (has_positions(u))
        fr_fill_normal(real->k, real->run->seed, STREAM_POSITIONS, 0, u->block.hidden, 0, s, s,
                       0.1, positions(real, u, u->w));
}

static int64_t values(const struct fr_unit *u) { return (int64_t)u->block.hidden * u->columns; }

/* All values of the tokens, where a rank has a part; of tokens in parts once more, packed. */
static int64_t scratch(const struct fr_unit *u) {
    int64_t whole = u->block.parted       ? 2 * values(u)
                    : fr_words_divided(u) ? values(u)
                    : fr_words_move(u)    ? values(u) + fr_words_moved(u)
                                          : 0;
    return whole +
           (u->block.cp > 1 ? (int64_t)u->block.hidden * fr_block_sequence(&u->block) : 0);
}
/* Behind that, where ranks share samples: those of their positions that are the rank's own. */
static void *own_positions(const struct fr_real *real, const struct fr_unit *u) {
    int64_t own = (int64_t)u->block.hidden * fr_block_sequence(&u->block);
    return fr_at(real->k, u->scratch, (size_t)(scratch(u) - own));
}
static void *packed(const struct fr_real *real, const struct fr_unit *u) {
    return fr_at(real->k, u->scratch, (size_t)values(u));
}

static void keeps(const struct fr_unit *u, int64_t n[3]) {
    (void)u;
    n[0] = n[1] = n[2] = 0;
}

/* The rank's columns of all positions. */
static size_t first_position(const struct fr_real *real, const struct fr_unit *u) {
    return (size_t)(real->cp_rank * fr_block_sequence(&u->block));
}
static const void *take_positions(struct fr_real *real, const struct fr_unit *u,
                                  const void *all) {
    const struct fr_kernels *k = real->k;
    int s = fr_block_sequence(&u->block);
    if (!all || u->block.cp <= 1) return all;
    FR_COMPUTE(real, k->copy(u->block.hidden, s, fr_at(k, all, first_position(real, u)),
                             u->block.sequence, own_positions(real, u), s));
    return own_positions(real, u);
}
static void add_positions(struct fr_real *real, const struct fr_unit *u, void *all) {
    const struct fr_kernels *k = real->k;
    size_t s = (size_t)fr_block_sequence(&u->block), wide = (size_t)u->block.sequence;
    for (size_t i = 0; i < (size_t)u->block.hidden; i++)
        FR_COMPUTE(real, k->add(s, fr_at(k, own_positions(real, u), i * s),
                                fr_at(k, all, i * wide + first_position(real, u))));
}

/* The first rank adds the positions, once. */
static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                         void *next) {
    const void *learned =
        take_positions(real, u, u->tp_rank == 0 ? positions(real, u, u->w) : NULL);
    bool parted = u->block.parted;
    bool apart = fr_words_divided(u) || parted || fr_words_move(u);
    void *whole = apart ? u->scratch : next;
    FR_COMPUTE(real, real->k->embed(u->block.hidden, u->columns, fr_block_sequence(&u->block),
                                    u->tp_rank * u->words, u->words, saved->x, u->table,
                                    learned, whole));
    const struct fr_token_parts parts = fr_unit_parts(u);
    if (parted) return fr_parts_scatter(real, &parts, whole, packed(real, u), next);
    if (fr_words_divided(u))
        return fr_real_reduce_scatter(real, u->group, whole, next,
                                      (int64_t)u->out * u->columns);
    if (u->tp > 1) FR_TRY(fr_real_all_reduce(real, u->group, whole, values(u)));
    if (!fr_words_move(u)) return FR_OK;
    return fr_redistribute(real, u->leaving, u->block.hidden, u->grid.columns, whole,
                           u->to.columns, packed(real, u), next);
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx) {
    bool parted = u->block.parted;
    bool apart = fr_words_divided(u) || parted || fr_words_move(u);
    void *whole = apart ? u->scratch : dy;
    (void)dx;
    if (fr_words_move(u))
        FR_TRY(fr_redistribute(real, u->leaving, u->block.hidden, u->to.columns, dy,
                               u->grid.columns, packed(real, u), whole));
    const struct fr_token_parts parts = fr_unit_parts(u);
    if (parted) FR_TRY(fr_parts_gather(real, &parts, dy, packed(real, u), whole));
    if (fr_words_divided(u))
        FR_TRY(fr_real_all_gather(real, u->group, dy, (int64_t)u->out * u->columns, whole));
    void *all = positions(real, u, u->g), *d_positions = all;
    bool shares = all && u->block.cp > 1;
    int sequence = fr_block_sequence(&u->block);
    if (shares) {
        d_positions = own_positions(real, u);
        FR_COMPUTE(real, memset(d_positions, 0,
                                (size_t)(u->block.hidden * sequence) * real->k->size_B));
    }
    FR_COMPUTE(real, real->k->embed_backward(u->block.hidden, u->columns, sequence,
                                             u->tp_rank * u->words, u->words, saved->x, whole,
                                             u->d_table, d_positions));
    if (shares) add_positions(real, u, all);
    return FR_OK;
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_saved *saved) {
    (void)real, (void)u, (void)saved; /* all of it is done */
}

const struct fr_unit_kind fr_unit_embedding = {
    .name = "embedding",
    .adds = true,
    .parameters = parameters,
    .fill = fill,
    .scratch = scratch,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = fr_words_matrices,
};
