/* A transformer's layer, however it is divided (real/apps/mesh/layer.h): its sublayers in a row, what a forward
 * pass keeps, what is made again, and what waits for the weights' gradients.
 *
 * Recomputed: `selective` the attention's core, whose softmax is not kept; `full` all of it, collectives
 * too, from the input alone.  Where weights' gradients come later what they need is kept from the
 * backward pass to then.
 *
 * Beside the stream x the layers of a decoder pass on e, what the encoder made: h x T of each, below each other.
 * The first one's stream begins with e, as the price has no second embedding; the last one passes on the
 * stream alone.  Gradients of e are added up on the way back. */
#include <string.h>

#include "real/apps/mesh/layer.h"

/* Layers of a decoder pass on two matrices. */
static fr_status check_crossing(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const struct fr_plan_compression *c = &plan->compression;
    if (run->workload->transformer.cross_layers == 0) return FR_OK;
    if (!plan->method->megatron || plan->sequence_parallel)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "cross-attention is run with method tensor, without sequence_parallel");
    if (plan->pp > 1 && (plan->chunks > 1 || c->scope != FR_SCOPE_NONE || c->forward_rank > 0))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "stages of an encoder and a decoder are run with one chunk each and "
                       "messages that go whole");
    return FR_OK;
}

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    const struct fr_transformer *t = &u->run->workload->transformer;
    const struct fr_plan *plan = u->run->plan;
    const char *lacks =
        t->gated                  ? "gated MLPs are not trained here"
        : t->experts              ? "mixtures of experts are not trained here"
        : t->kv_heads != t->heads ? "grouped key-value heads are not trained here"
        : t->qk_norms             ? "norms of queries and keys are not trained here"
        : !t->norm_biases         ? "RMSNorm is not trained here; \"norm\": \"layer\" is"
        : !t->biases              ? "products without biases are not trained here"
        : t->predicted            ? "further tokens are not predicted here"
        : t->kv_latent            ? "latent attention is not trained here"
        : t->both_ways            ? "attention in both directions is not trained here"
        : t->masked_head          ? "a head for masked words is not trained here"
        : t->pattern[0]           ? "hybrids of one block a layer are not trained here"
        : t->lora_rank            ? "adapters beside frozen weights are not trained here"
                                  : NULL;
    if (lacks) return fr_fail(err, FR_ERR_INPUT, NULL, "%s", lacks);
    FR_TRY(check_crossing(u->run, err));
    FR_TRY(fr_real_divides("the number of heads", t->heads, "tp", u->grid.p, err));
    FR_TRY(fr_real_divides("the MLP's width", t->ffn, "tp", u->mlp.p, err));
    if (plan->method->uses_ghost) {
        int64_t q = t->heads * t->head_dim;
        if (plan->phantom_parts != FR_PHANTOM_MLP)
            FR_TRY(fr_ghost_neurons_check(t->hidden, q, u->tp, u->ghost, err));
        if (plan->phantom_parts != FR_PHANTOM_ATTENTION)
            FR_TRY(fr_ghost_neurons_check(t->hidden, t->ffn, u->tp, u->ghost, err));
        return fr_real_divides("hidden", t->hidden, "tp", u->tp, err);
    }
    if (plan->method->branches && !plan->common_subgrid)
        return fr_real_divides("micro_batch", plan->micro_batch, "tp", plan->tp, err);
    if (!u->block.rows) return FR_OK;
    FR_TRY(fr_real_divides("hidden", t->hidden, "tp", u->grid.p, err));
    return fr_real_divides("hidden", t->hidden, "tp", u->mlp.p, err);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static int64_t parameters(const struct fr_unit *u) {
    int64_t n[2];
    fr_layer_sizes(u, n);
    return n[0] + n[1];
}
static int64_t common(const struct fr_unit *u) {
    int64_t n[2];
    fr_layer_sizes(u, n);
    return n[0];
}

/* Norms: of this rank's tokens both; of phantom the one of whole values, of which each rank has the part of its heads
 * or of its columns of the MLP. */
static int64_t partial(const struct fr_unit *u, int part) {
    const struct fr_plan *plan = u->run->plan;
    int64_t h = u->block.hidden;
    if (!plan->method->uses_ghost && !u->block.parted) return 0;
    if (plan->layer_tp) return 2 * h; /* a norm in each part */
    if (part > 0) return 0;
    if (!plan->method->uses_ghost) return 4 * h;
    return plan->phantom_parts == FR_PHANTOM_ALL ? 0 : 2 * h;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static fr_recompute again(const struct fr_unit *u) { return u->run->plan->recompute; }

/* Is nothing kept but the input? */
static bool keeps_input(const struct fr_unit *u) {
    return again(u) == FR_RECOMPUTE_FULL && !u->splits;
}

/* Values that all sublayers save, with the softmax or without; defer; and a softmax of all. */
static int64_t saved_of(const struct fr_unit *u, bool softmax) {
    int kind[FR_SUBLAYERS], n = fr_sublayers_of(u, kind);
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        struct fr_sublayer s = fr_sublayer_of(u, kind[i]);
        struct fr_sublayer_saved saved;
        sum += fr_sublayer_saved(NULL, &s, NULL, softmax, &saved);
    }
    return sum;
}
static int64_t deferred_of(const struct fr_unit *u) {
    int kind[FR_SUBLAYERS], n = fr_sublayers_of(u, kind);
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        struct fr_sublayer s = fr_sublayer_of(u, kind[i]);
        struct fr_sublayer_deferred deferred;
        sum += fr_sublayer_deferred(NULL, &s, NULL, &deferred);
    }
    return sum;
}
static int64_t pass_of(const struct fr_unit *u) {
    int kind[FR_SUBLAYERS], n = fr_sublayers_of(u, kind);
    int64_t most = 0;
    for (int i = 0; i < n; i++) {
        struct fr_sublayer s = fr_sublayer_of(u, kind[i]);
        struct fr_sublayer_scratch scratch;
        int64_t one = fr_sublayer_scratch(NULL, &s, NULL, &scratch);
        most = one > most ? one : most;
    }
    return most;
}
static int64_t stream_values(const struct fr_unit *u) {
    return (int64_t)u->block.hidden * u->columns;
}

/* Do tokens move to the MLP and, which is the same question, back behind it? */
static bool moves(const struct fr_unit *u) { return u->grid.p != u->mlp.p && !u->block.parted; }
static bool moves_on(const struct fr_unit *u) { return moves(u) && u->mlp.p != u->to.p; }
static int64_t most_moved(const struct fr_unit *u) {
    int a = u->grid.columns.n, m = u->mlp.columns.n;
    return moves(u) ? (int64_t)u->block.hidden * (a > m ? a : m) : 0;
}

/* Values of the parts of the scratch memory: a pass's data and the gradient of e; deferred
 * data, and saved data where weights' gradients follow at once; a softmax and an output that
 * are recomputed; of tokens between grids those before they move, gathered ones, and the output's gradient. */
enum { PASS, ENCODED, DEFERRED, SAVED, SOFTMAX, OUTPUT, MOVED, GATHERED, BEHIND, PARTS };
static void parts_of(const struct fr_unit *u, int64_t n[PARTS]) {
    n[PASS] = pass_of(u);
    n[ENCODED] = u->crosses ? stream_values(u) : 0;
    n[DEFERRED] = deferred_of(u);
    n[SAVED] = keeps_input(u) ? saved_of(u, false) : 0;
    n[SOFTMAX] = again(u) != FR_RECOMPUTE_NONE ? saved_of(u, true) - saved_of(u, false) : 0;
    n[OUTPUT] = again(u) == FR_RECOMPUTE_FULL ? fr_unit_leaves(u) : 0;
    n[MOVED] = n[GATHERED] = most_moved(u);
    n[BEHIND] = moves_on(u) ? most_moved(u) : 0;
}

static int64_t scratch(const struct fr_unit *u) {
    int64_t n[PARTS], sum = 0;
    parts_of(u, n);
    for (int i = 0; i < PARTS; i++) sum += n[i];
    return sum;
}

static void *part_at(const struct fr_real *real, const struct fr_unit *u, int part) {
    int64_t n[PARTS], before = 0;
    parts_of(u, n);
    for (int i = 0; i < part; i++) before += n[i];
    return fr_at(real->k, u->scratch, (size_t)before);
}

/* Saved data; deferred data, and the gradient of the output, where they must last. */
static void keeps(const struct fr_unit *u, int64_t n[3]) {
    n[0] = keeps_input(u) ? 0 : saved_of(u, again(u) == FR_RECOMPUTE_NONE);
    n[1] = u->splits ? deferred_of(u) : 0;
    n[2] = !u->splits ? 0 : moves_on(u) ? most_moved(u) : fr_unit_leaves(u);
}

/* e, or its gradient, behind the stream; the first layer's is the stream itself. */
static void *encoded(const struct fr_real *real, const struct fr_unit *u, int features,
                     const void *x) {
    return fr_at(real->k, x, features > u->block.hidden ? (size_t)stream_values(u) : 0);
}

/* Passes of all sublayers, each buffer behind that of the sublayer before.  @return how many */
static int open_passes(struct fr_real *real, const struct fr_unit *u,
                       const struct fr_unit_saved *stored,
                       struct fr_sublayer_pass pass[FR_SUBLAYERS]) {
    int kind[FR_SUBLAYERS], n = fr_sublayers_of(u, kind);
    bool all = again(u) == FR_RECOMPUTE_NONE;
    void *saved = keeps_input(u) ? part_at(real, u, SAVED) : stored->own[0],
         *deferred = stored->more, *softmax = all ? NULL : part_at(real, u, SOFTMAX);
    struct fr_sublayer_weights w[FR_SUBLAYERS], g[FR_SUBLAYERS];
    fr_layer_weights(real, u, false, w);
    fr_layer_weights(real, u, true, g);
    for (int i = 0; i < n; i++) {
        struct fr_sublayer_pass *p = &pass[i];
        *p = (struct fr_sublayer_pass){.real = real,
                                       .u = u,
                                       .s = fr_sublayer_of(u, kind[i]),
                                       .w = w[kind[i]],
                                       .g = g[kind[i]],
                                       .saved.p = softmax,
                                       .e = encoded(real, u, u->in, stored->x)};
        int64_t values = fr_sublayer_saved(real->k, &p->s, saved, all, &p->saved);
        saved = fr_at(real->k, saved, (size_t)values);
        if (softmax && kind[i] != FR_SUBLAYER_MLP)
            softmax = fr_at(real->k, softmax, (size_t)fr_block_softmax_size(&p->s.z));
        fr_sublayer_scratch(real->k, &p->s, u->scratch, &p->scratch);
        if (!deferred) continue;
        values = fr_sublayer_deferred(real->k, &p->s, deferred, &p->deferred);
        deferred = fr_at(real->k, deferred, (size_t)values);
    }
    return n;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void copy(struct fr_real *real, const struct fr_unit *u, const void *from, void *to) {
    FR_COMPUTE(real, memmove(to, from, (size_t)stream_values(u) * real->k->size_B));
}

/* The stream between two grids. */
static fr_status move(struct fr_real *real, const struct fr_unit *u, MPI_Comm neighbours,
                      const struct fr_unit_grid *from, const void *x,
                      const struct fr_unit_grid *to, void *y) {
    return fr_redistribute(real, neighbours, u->block.hidden, from->columns, x, to->columns,
                           part_at(real, u, GATHERED), y);
}

/* Sublayer @p i reads x and writes y, which may be on another grid. */
static fr_status forward_one(struct fr_real *real, const struct fr_unit *u,
                             const struct fr_sublayer_pass *pass, bool last, const void *x,
                             void *y) {
    bool on = last ? moves_on(u) : moves(u);
    void *made = on ? part_at(real, u, MOVED) : y;
    FR_TRY(fr_sublayer_forward(pass, x, made));
    if (!on) return FR_OK;
    return last ? move(real, u, u->leaving, &u->mlp, made, &u->to, y)
                : move(real, u, u->inside, &u->grid, made, &u->mlp, y);
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *stored,
                         void *next) {
    struct fr_sublayer_pass pass[FR_SUBLAYERS];
    int n = open_passes(real, u, stored, pass);
    for (int i = 0; i < n; i++)
        FR_TRY(forward_one(real, u, &pass[i], i + 1 == n, i ? pass[i].saved.x : stored->x,
                           i + 1 < n ? pass[i + 1].saved.x : next));
    if (u->crosses && u->out > u->block.hidden)
        copy(real, u, pass[0].e, encoded(real, u, u->out, next));
    return FR_OK;
}

/* Recompute what the forward pass made and did not save. */
static fr_status recompute(struct fr_real *real, struct fr_unit *u,
                           struct fr_unit_saved *stored, const struct fr_sublayer_pass *pass,
                           int n) {
    if (again(u) == FR_RECOMPUTE_FULL)
        return forward(real, u, stored, part_at(real, u, OUTPUT));
    for (int i = 0; again(u) == FR_RECOMPUTE_SELECTIVE && i < n; i++)
        FR_TRY(fr_sublayer_attend(&pass[i]));
    return FR_OK;
}

/* The gradient of e comes in behind that of the stream, but to the last layer, and leaves behind it, but from the
 * first, where both are of one. */
static void begin_encoded(struct fr_real *real, const struct fr_unit *u, const void *dy,
                          void *de) {
    if (!u->crosses) return;
    if (u->out > u->block.hidden)
        copy(real, u, encoded(real, u, u->out, dy), de);
    else
        FR_COMPUTE(real, memset(de, 0, (size_t)stream_values(u) * real->k->size_B));
}

/* stored->d := the gradient of the last sublayer's output, on its grid, until weights' gradients are made. */
static fr_status begin_gradient(struct fr_real *real, const struct fr_unit *u,
                                struct fr_unit_saved *stored, void *dy) {
    int values = (int)fr_unit_leaves(u);
    stored->d = u->splits ? stored->own[2] : moves_on(u) ? part_at(real, u, BEHIND) : dy;
    if (moves_on(u)) return move(real, u, u->leaving, &u->to, dy, &u->mlp, stored->d);
    if (u->splits) FR_COMPUTE(real, real->k->copy(1, values, dy, values, stored->d, values));
    return FR_OK;
}

/* Sublayer @p i makes dx from dy, on the grid of what it read. */
static fr_status input_one(struct fr_real *real, const struct fr_unit *u,
                           const struct fr_sublayer_pass *pass, bool first, const void *x,
                           const void *dy, void *dx) {
    bool back = !first && moves(u);
    void *made = back ? part_at(real, u, MOVED) : dx;
    FR_TRY(fr_sublayer_input(pass, x, dy, made));
    return back ? move(real, u, u->inside, &u->mlp, made, &u->grid, dx) : FR_OK;
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *stored,
                       void *dy, void *dx) {
    struct fr_sublayer_pass pass[FR_SUBLAYERS];
    bool first = u->in == u->block.hidden;
    void *de = first ? part_at(real, u, ENCODED) : encoded(real, u, u->in, dx);
    stored->more = u->splits ? stored->own[1] : part_at(real, u, DEFERRED);
    int n = open_passes(real, u, stored, pass);
    FR_TRY(recompute(real, u, stored, pass, n));
    FR_TRY(begin_gradient(real, u, stored, dy));
    begin_encoded(real, u, dy, de);
    for (int i = n - 1; i >= 0; i--) {
        pass[i].de = de;
        FR_TRY(input_one(real, u, &pass[i], i == 0, i ? pass[i].saved.x : stored->x,
                         i + 1 < n ? pass[i + 1].deferred.dx : stored->d,
                         i ? pass[i].deferred.dx : dx));
    }
    if (u->crosses && first) FR_COMPUTE(real, real->k->add((size_t)stream_values(u), de, dx));
    return FR_OK;
}

static void weight(struct fr_real *real, struct fr_unit *u,
                   const struct fr_unit_saved *stored) {
    struct fr_sublayer_pass pass[FR_SUBLAYERS];
    int n = open_passes(real, u, stored, pass);
    for (int i = n - 1; i >= 0; i--)
        fr_sublayer_weight(&pass[i], i + 1 < n ? pass[i + 1].deferred.dx : stored->d);
}

const struct fr_unit_kind fr_unit_block = {
    .name = "block",
    .adds = true,
    .check = check,
    .parameters = parameters,
    .partial = partial,
    .common = common,
    .fill = fr_layer_fill,
    .scratch = scratch,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = fr_layer_matrices,
};
