/* Transformers predict words: cross-entropy of each token's logits against the next token, all of them
 * random.  Where tp ranks divide the vocabulary each makes a softmax of its part, and an all-gather of
 * three values a token (largest logit, sum of exponentials, the target's logit) joins them. */
#include "base/alloc.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/mesh.h"
#include "real/apps/random.h"

enum { STREAM_TOKENS = 3, SHARE = 3 };

/* Tokens of a sample that a rank has. */
static int64_t sequence_of(const struct fr_real *real) {
    return real->run->workload->transformer.sequence / real->run->plan->cp;
}

/* Sub-grids have parts of a micro-batch. */
int64_t fr_mesh_words_sample(const struct fr_real *real, const struct fr_mesh_state *mesh,
                             int64_t token) {
    int64_t micro = fr_mesh_micro_batch(real->run), m = token / mesh->columns,
            own = mesh->columns / sequence_of(real),
            part = real->run->plan->method->branches && !real->run->plan->common_subgrid
                       ? real->tp_rank
                       : 0;
    return m * micro + part * own + token % mesh->columns / sequence_of(real);
}

/* Replica of this rank's @p token, and which of the replica's it is.  On a grid of its own, ends have a column's tokens of
 * all replicas one after the other. */
static int64_t replica_of(const struct fr_real *real, const struct fr_mesh_state *mesh,
                          int64_t *token) {
    const struct fr_unit_grid *ends = mesh->ends_on;
    if (!real->run->plan->layer_tp) return real->dp_rank;
    int64_t m = *token / ends->columns.n, at = ends->columns.first + *token % ends->columns.n;
    *token = m * mesh->columns + at % mesh->columns;
    return at / mesh->columns;
}

/* The word of this rank's @p token, or one @p later; of sample i the first is sequence + 1 after that of
 * i - 1. */
static int word_at(const struct fr_real *real, const struct fr_mesh_state *mesh, int64_t token,
                   int later) {
    const struct fr_transformer *t = &real->run->workload->transformer;
    int64_t batch = fr_real_batch(real->run) / real->run->plan->dp, cp = real->run->plan->cp;
    int64_t replica = replica_of(real, mesh, &token), own = sequence_of(real),
            first = replica % cp * own,
            sample = replica / cp * batch + fr_mesh_words_sample(real, mesh, token);
    uint64_t at = (uint64_t)(sample * (t->sequence + 1) + first + token % own + later);
    return (int)(fr_random_at(real->run->seed, STREAM_TOKENS, at) % (uint64_t)t->vocabulary);
}

/* Words of all micro-batches, one after the other: the words, or those @p later. */
static fr_status make(const struct fr_real *real, const struct fr_mesh_state *mesh, int later,
                      void **out) {
    int64_t n = (int64_t)mesh->n_micro * mesh->ends_on->columns.n;
    int *words = fr_calloc((size_t)n, sizeof *words);
    *out = words;
    if (!words) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "words");
    for (int64_t i = 0; i < n; i++) words[i] = word_at(real, mesh, i, later);
    return FR_OK;
}

static fr_status open_words(struct fr_real *real, struct fr_mesh_state *mesh,
                            const struct fr_chain *chain) {
    const struct fr_mesh_chunk *tail = &mesh->chunk[mesh->n_chunks - 1];
    bool first = mesh->chunk[0].first;
    (void)chain;
    if (!first && !tail->last) return FR_OK;
    mesh->ends_on = first ? &mesh->chunk[0].unit[0].grid : &tail->unit[tail->n_units - 1].grid;
    int64_t share = (int64_t)SHARE * mesh->ends_on->columns.n * mesh->ends_on->p;
    if (first) FR_TRY(make(real, mesh, 0, &mesh->inputs));
    if (!tail->last) return FR_OK;
    mesh->shares = fr_real_alloc(real->k, share);
    if (!mesh->shares) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "a loss");
    return make(real, mesh, 1, &mesh->targets);
}

static void *inputs(const struct fr_real *real, const struct fr_mesh_state *mesh, int m) {
    (void)real;
    return (int *)mesh->inputs + (int64_t)m * mesh->ends_on->columns.n;
}

/* The gradient is put where the logits are.  Every rank knows the loss, and counts its share. */
static fr_status loss(struct fr_real *real, struct fr_mesh_state *mesh,
                      const struct fr_mesh_chunk *c, int m, void **dy) {
    const struct fr_kernels *k = real->k;
    const struct fr_unit *u = &c->unit[c->n_units - 1];
    int t = u->columns, first = u->tp_rank * u->words;
    const int *target = (const int *)mesh->targets + (int64_t)m * t;
    double scale = 1.0 / ((double)fr_real_batch(real->run) * u->block.sequence), sum = 0;
    void *logits = c->micro[m].top,
         *local = fr_at(k, mesh->shares, (size_t)u->tp_rank * SHARE * (size_t)t);
    FR_COMPUTE(real, k->softmax_part(u->words, t, first, target, logits, local));
    if (u->tp > 1)
        FR_TRY(fr_real_all_gather(real, u->group, MPI_IN_PLACE, SHARE * t, mesh->shares));
    FR_COMPUTE(real, sum = k->cross_entropy(u->words, t, first, target, scale, u->tp,
                                            u->tp_rank, mesh->shares, logits));
    mesh->loss += sum * scale / u->tp;
    *dy = logits;
    return FR_OK;
}

const struct fr_mesh_task fr_mesh_words = {.open = open_words, .inputs = inputs, .loss = loss};
