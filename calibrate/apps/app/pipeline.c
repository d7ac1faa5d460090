/* 1F1B over stages of a transformer, with real messages (seed 001, Optimus-CC): pp stages, dp
 * replicas, tp 1.  A stage runs its slots in the order of the plan's schedule; activations and
 * gradients go to the neighbours as MPI messages, sent without waiting.
 *
 *      backward messages   all, or those of the epilogue, as P Q^T (lowrank.h); with lazy error
 *                          propagation what a message lost is added to the next micro-batch's
 *      gradients           one all-reduce over dp after the last backward pass; of the first
 *                          `stages` stages the matrices go as P, then Q (with error feedback)
 *      embedding           tied between first and last stage: all-reduced with the other gradients
 *                          over dp and then between the two ends, or fused, once over 2 dp ranks
 *
 * A stage's block: its layers; positions (first); final norm (last); embedding V x h (first and
 * last; V padded to a multiple of 128, as models/transformer.h has it). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/apps/block.h"
#include "calibrate/apps/ffn.h"
#include "calibrate/apps/lowrank.h"
#include "calibrate/apps/random.h"
#include "models/transformer.h"

enum { FORWARD_TAG = 1, BACKWARD_TAG = 2, STREAM_TOKENS = 3, STREAM_EMBEDDING = 4 };
enum { STREAM_POSITIONS = 5, STREAM_CODEC = 6 };

struct micro { /* what one micro-batch keeps from its forward to its backward pass */
    struct fr_block_saved *layer; /* [n_layers] */
    void *top;                    /* output of the last layer; sent on, or fed to the logits */
    MPI_Request sent;
};

struct state {
    struct fr_block_sizes sizes;
    int stages, stage, n_layers, n_micro, vocabulary;
    bool first, last;
    int *tokens;           /* [n_micro][T + 1 a sample]: inputs, and targets one later */
    int *inputs, *targets; /* [T] of one micro-batch */
    struct fr_block *w, *g;
    void *embedding, *d_embedding, *positions, *d_positions, *gain, *d_gain, *bias, *d_bias;
    int64_t n_embedding;
    struct micro *micro;
    struct fr_block_room room;
    void *gradient, *logits, *normed, *mean, *inverse; /* h T; V T; h T; T */
    void *d_normed;
    MPI_Comm ends, both; /* first and last stage of a replica; of all replicas */
    struct fr_slot *slots;
    struct fr_lowrank codec; /* of messages to the stage before */
    void *packet[2];         /* factors on their way out; in */
    MPI_Request sent_back;
    struct fr_lowrank *matrix; /* codecs of gradients, [n_matrices] */
    int n_matrices;
    void *factors; /* all P of a stage, then all Q with what goes uncompressed */
    int64_t n_factors;
    double loss;
};

/* ---- check ----------------------------------------------------------------------------------- */

static fr_status check_model(const struct fr_transformer *t, struct fr_error *err) {
    const char *lacks =
        t->layers == 0            ? "the model is no transformer"
        : t->gated                ? "gated MLPs are not trained here"
        : t->kv_heads != t->heads ? "grouped key-value heads are not trained here"
        : t->qk_norms             ? "norms of queries and keys are not trained here"
        : !t->norm_biases         ? "RMSNorm is not trained here; \"norm\": \"layer\" is"
        : !t->biases              ? "products without biases are not trained here"
                                  : NULL;
    return lacks ? fr_fail(err, FR_ERR_INPUT, NULL, "%s", lacks) : FR_OK;
}

static int64_t micro_batches(const struct fr_real_case *run) {
    return fr_real_batch(run) / run->plan->dp / fr_plan_micro_batch(run->plan);
}

static fr_status check_compression(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan_compression *c = &run->plan->compression;
    const struct fr_transformer *t = &run->workload->transformer;
    int64_t tokens = fr_plan_micro_batch(run->plan) * t->sequence;
    int64_t narrow = tokens < t->hidden ? tokens : t->hidden;
    if (!fr_plan_compresses(run->plan)) return FR_OK;
    if (strcmp(c->codec->name, "powersgd") != 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "codec %s is not run here; powersgd is",
                       c->codec->name);
    if (c->scope != FR_SCOPE_NONE && c->backward_rank > narrow)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "backward rank %" PRId64 " is above the messages' %" PRId64,
                       c->backward_rank, narrow);
    if (c->gradient_stages > 0 && c->gradient_rank > t->hidden)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "gradient rank %" PRId64 " is above hidden = %" PRId64, c->gradient_rank,
                       t->hidden);
    return FR_OK;
}

static bool splits(const struct fr_plan *plan) {
    struct fr_schedule_args args = {(int32_t)plan->pp, 1, 1, plan->order};
    return fr_schedule_splits(plan->schedule, &args);
}

static fr_status check(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const struct fr_transformer *t = &run->workload->transformer;
    FR_TRY(check_model(t, err));
    const char *lacks = plan->tp != 1             ? "tp"
                        : plan->chunks != 1       ? "chunks"
                        : splits(plan)            ? "schedule"
                        : plan->duplex            ? "p2p"
                        : plan->recompute         ? "recompute"
                        : plan->bucket_B > 0      ? "overlap"
                        : plan->sequence_parallel ? "sequence_parallel"
                                                  : NULL;
    if (lacks)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "\"%s\" must have its default; the program runs pp x dp", lacks);
    FR_TRY(fr_real_divides("the global batch", fr_real_batch(run), "dp", plan->dp, err));
    FR_TRY(fr_real_divides("a replica's batch", fr_real_batch(run) / plan->dp, "micro_batch",
                           fr_plan_micro_batch(plan), err));
    if (!t->tied && plan->pp == 1)
        return fr_fail(
            err, FR_ERR_INPUT, NULL,
            "one stage with an embedding and logits of their own is not trained here");
    if (plan->pp > t->layers)
        return fr_fail(err, FR_ERR_INPUT, NULL, "%" PRId64 " stages of %" PRId64 " layers",
                       plan->pp, t->layers);
    struct fr_schedule_args args = {(int32_t)plan->pp, (int32_t)micro_batches(run), 1,
                                    plan->order};
    const char *why = plan->schedule->refuses(&args);
    if (why)
        return fr_fail(err, FR_ERR_INPUT, NULL, "schedule %s: %s", plan->schedule->name, why);
    return check_compression(run, err);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static struct fr_block_sizes sizes_of(const struct fr_real_case *run) {
    const struct fr_transformer *t = &run->workload->transformer;
    return (struct fr_block_sizes){.hidden = (int)t->hidden,
                                   .heads = (int)t->heads,
                                   .head_dim = (int)t->head_dim,
                                   .ffn = (int)t->ffn,
                                   .sequence = (int)t->sequence,
                                   .samples = (int)fr_plan_micro_batch(run->plan),
                                   .causal = true};
}

static int layers_of(const struct fr_real_case *run, int64_t stage) {
    const struct fr_plan *plan = run->plan;
    if (plan->stage_layers) return (int)plan->stage_layers[stage];
    int64_t layers = run->workload->transformer.layers;
    return (int)(layers / plan->pp + (stage < layers % plan->pp));
}

static int64_t n_parameters(const struct fr_real *real) {
    const struct fr_transformer *t = &real->run->workload->transformer;
    struct fr_block_sizes z = sizes_of(real->run);
    int64_t stage = real->pp_rank, last = real->run->plan->pp - 1;
    int64_t embedding = fr_transformer_padded_vocabulary(t, 1) * t->hidden;
    int64_t sum = layers_of(real->run, stage) * fr_block_parameters(&z);
    if (stage == 0 && t->positions) sum += t->sequence * t->hidden;
    if (stage == last) sum += 2 * t->hidden;
    if (stage == 0) sum += embedding;
    /* A matrix of its own where untied, else a copy. */
    if (stage == last && last > 0) sum += embedding;
    return sum;
}

/* Pointers into the blocks, in the order of the header comment. */
static fr_status place(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct fr_transformer *t = &real->run->workload->transformer;
    uint64_t seed = real->run->seed;
    size_t at = 0, layer = (size_t)fr_block_parameters(&s->sizes), h = (size_t)t->hidden;
    int64_t before = 0;
    s->w = calloc((size_t)s->n_layers, sizeof *s->w);
    s->g = calloc((size_t)s->n_layers, sizeof *s->g);
    if (!s->w || !s->g) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d layers", s->n_layers);
    for (int i = 0; i < s->stage; i++) before += layers_of(real->run, i);
    for (int i = 0; i < s->n_layers; i++, at += layer) {
        s->w[i] = fr_block_at(k, &s->sizes, fr_at(k, real->parameters, at));
        s->g[i] = fr_block_at(k, &s->sizes, fr_at(k, real->gradients, at));
        fr_block_fill(k, &s->sizes, seed, (uint64_t)(FR_STREAM_LAYER + 64 * (before + i)),
                      &s->w[i]);
    }
    if (s->first && t->positions) {
        s->positions = fr_at(k, real->parameters, at);
        s->d_positions = fr_at(k, real->gradients, at);
        fr_fill_normal(k, seed, STREAM_POSITIONS, 0, t->hidden, 0, t->sequence, t->sequence,
                       0.1, s->positions);
        at += h * (size_t)t->sequence;
    }
    if (s->last) {
        s->gain = fr_at(k, real->parameters, at);
        s->d_gain = fr_at(k, real->gradients, at);
        s->bias = fr_at(k, s->gain, h);
        s->d_bias = fr_at(k, s->d_gain, h);
        for (size_t i = 0; i < h; i++) k->set(s->gain, i, 1);
        at += 2 * h;
    }
    if (!s->first && !s->last) return FR_OK;
    s->n_embedding = (int64_t)s->vocabulary * t->hidden;
    s->embedding = fr_at(k, real->parameters, at);
    s->d_embedding = fr_at(k, real->gradients, at);
    uint64_t stream = !s->first && !t->tied ? STREAM_EMBEDDING + 1000 : STREAM_EMBEDDING;
    fr_fill_normal(k, seed, stream, 0, s->vocabulary, 0, t->hidden, t->hidden,
                   1 / sqrt((double)t->hidden), s->embedding);
    return FR_OK;
}

/* ---- open ------------------------------------------------------------------------------------ */

static fr_status join(struct fr_real *real, bool in, int colour, MPI_Comm *comm,
                      struct fr_error *err) {
    FR_MPI_TRY(MPI_Comm_split(real->world, in ? colour : MPI_UNDEFINED, real->rank, comm));
    if (in) FR_MPI_TRY(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
    return FR_OK;
}

static int random_token(const struct state *s, uint64_t seed, int64_t sample, int position) {
    uint64_t at = (uint64_t)(sample * (s->sizes.sequence + 1) + position);
    return (int)(fr_random_at(seed, STREAM_TOKENS, at) % (uint64_t)s->vocabulary);
}

static fr_status open_buffers(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int64_t t = fr_block_tokens(&s->sizes), values = t * s->sizes.hidden;
    bool whole = fr_block_room_alloc(k, &s->sizes, &s->room);
    s->micro = calloc((size_t)s->n_micro, sizeof *s->micro);
    s->inputs = calloc((size_t)t, sizeof *s->inputs);
    s->targets = calloc((size_t)t, sizeof *s->targets);
    s->slots = calloc(3 * (size_t)s->n_micro, sizeof *s->slots);
    s->gradient = fr_real_alloc(k, values);
    if (s->last) {
        s->logits = fr_real_alloc(k, (int64_t)s->vocabulary * t);
        s->normed = fr_real_alloc(k, values);
        s->d_normed = fr_real_alloc(k, values);
        s->mean = fr_real_alloc(k, t);
        s->inverse = fr_real_alloc(k, t);
        whole = whole && s->logits && s->normed && s->d_normed && s->mean && s->inverse;
    }
    whole = whole && s->micro && s->inputs && s->targets && s->slots && s->gradient;
    for (int m = 0; whole && m < s->n_micro; m++) {
        s->micro[m].sent = MPI_REQUEST_NULL;
        s->micro[m].layer = calloc((size_t)s->n_layers, sizeof *s->micro[m].layer);
        s->micro[m].top = fr_real_alloc(k, values);
        whole = s->micro[m].layer && s->micro[m].top;
        for (int i = 0; whole && i < s->n_layers; i++)
            whole = fr_block_alloc(k, &s->sizes, &s->micro[m].layer[i]);
    }
    return whole ? FR_OK
                 : fr_fail(err, FR_ERR_NOMEM, NULL, "activations of %d micro-batches",
                           s->n_micro);
}

/* Weight matrices of layer @p l: offset from its gradients, rows and columns. */
struct shape {
    void *at;
    int m, n;
};
static void matrices_of(const struct state *s, int l, struct shape out[4]) {
    int h = s->sizes.hidden, q = s->sizes.heads * s->sizes.head_dim, f = s->sizes.ffn;
    out[0] = (struct shape){s->g[l].qkv, 3 * q, h};
    out[1] = (struct shape){s->g[l].out, h, q};
    out[2] = (struct shape){s->g[l].up, f, h};
    out[3] = (struct shape){s->g[l].down, h, f};
}

static fr_status open_codecs(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_plan_compression *c = &real->run->plan->compression;
    const struct fr_kernels *k = real->k;
    uint64_t seed = real->run->seed;
    int64_t uncompressed = real->n_parameters;
    bool whole = true;
    if (c->scope != FR_SCOPE_NONE && s->stages > 1) {
        whole = fr_lowrank_open(k, s->sizes.hidden, fr_block_tokens(&s->sizes),
                                (int)c->backward_rank, c->lazy_error, seed,
                                (uint64_t)(STREAM_CODEC + 10 * s->stage), &s->codec);
        real->residual = s->codec.error;
        s->packet[0] = fr_real_alloc(k, fr_lowrank_size(&s->codec));
        s->packet[1] = fr_real_alloc(k, fr_lowrank_size(&s->codec));
        whole = whole && s->packet[0] && s->packet[1];
    }
    if (s->stage < c->gradient_stages && real->run->plan->dp > 1) {
        s->matrix = calloc((size_t)(4 * s->n_layers), sizeof *s->matrix);
        for (int l = 0; whole && s->matrix && l < s->n_layers; l++) {
            struct shape shape[4];
            matrices_of(s, l, shape);
            for (int i = 0; whole && i < 4; i++) {
                struct fr_lowrank *codec = &s->matrix[s->n_matrices++];
                whole =
                    fr_lowrank_open(k, shape[i].m, shape[i].n, (int)c->gradient_rank, true,
                                    seed, (uint64_t)(1000 + 64 * s->stage + 4 * l + i), codec);
                s->n_factors += fr_lowrank_size(codec);
                uncompressed -= (int64_t)shape[i].m * shape[i].n;
            }
        }
        s->factors = fr_real_alloc(k, s->n_factors + uncompressed);
        whole = whole && s->matrix && s->factors;
    }
    return whole ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "codecs");
}

static fr_status begin(struct fr_real *real, struct fr_error *err) {
    const struct fr_plan *plan = real->run->plan;
    const struct fr_transformer *t = &real->run->workload->transformer;
    struct state *s = calloc(1, sizeof *s);
    real->state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the program's state");
    s->ends = s->both = MPI_COMM_NULL;
    s->sent_back = MPI_REQUEST_NULL;
    s->sizes = sizes_of(real->run);
    s->stages = (int)plan->pp;
    s->stage = real->pp_rank;
    s->first = s->stage == 0;
    s->last = s->stage == s->stages - 1;
    s->n_layers = layers_of(real->run, s->stage);
    s->n_micro = (int)micro_batches(real->run);
    s->vocabulary = (int)fr_transformer_padded_vocabulary(t, 1);
    struct fr_schedule_args args = {s->stages, s->n_micro, 1, plan->order};
    FR_TRY(open_buffers(real, s, err));
    plan->schedule->order(&args, s->stage, s->slots);
    FR_TRY(place(real, s, err));
    FR_TRY(join(real, s->first || s->last, real->dp_rank, &s->ends, err));
    FR_TRY(join(real, s->first || s->last, 0, &s->both, err));
    return open_codecs(real, s, err);
}

/* ---- messages -------------------------------------------------------------------------------- */

static fr_status send_values(struct fr_real *real, const void *values, int64_t n, int to,
                             int tag, MPI_Request *request, struct fr_error *err) {
    double start_s = fr_now_s();
    FR_MPI_TRY(MPI_Wait(request, MPI_STATUS_IGNORE));
    FR_MPI_TRY(MPI_Isend(values, (int)n, real->k->mpi, to, tag, real->pp, request));
    real->phases.collective_s += fr_now_s() - start_s;
    return FR_OK;
}

/* Waiting for a message that is not there yet is waiting; taking it in is communication. */
static fr_status receive(struct fr_real *real, void *values, int64_t n, int from, int tag,
                         struct fr_error *err) {
    double start_s = fr_now_s();
    MPI_Status status;
    FR_MPI_TRY(MPI_Probe(from, tag, real->pp, &status));
    double there_s = fr_now_s();
    FR_MPI_TRY(MPI_Recv(values, (int)n, real->k->mpi, from, tag, real->pp, MPI_STATUS_IGNORE));
    real->phases.wait_s += there_s - start_s;
    real->phases.collective_s += fr_now_s() - there_s;
    return FR_OK;
}

/* Does the message of @p micro across the boundary above stage @p below go compressed?  As
 * models/pipeline.h has it: those that the last warm-up passes of that stage answer. */
static bool compressed(const struct fr_real *real, const struct state *s, int below,
                       int micro) {
    fr_scope scope = real->run->plan->compression.scope;
    if (scope != FR_SCOPE_EPILOGUE) return scope == FR_SCOPE_ALL;
    return micro >= s->n_micro - (s->stages - 1 - below);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void take_tokens(const struct fr_real *real, struct state *s, int micro) {
    const struct fr_plan *plan = real->run->plan;
    int64_t per_replica = fr_real_batch(real->run) / plan->dp;
    for (int j = 0; j < s->sizes.samples; j++)
        for (int i = 0; i < s->sizes.sequence; i++) {
            int64_t sample =
                real->dp_rank * per_replica + (int64_t)micro * s->sizes.samples + j;
            int at = j * s->sizes.sequence + i;
            s->inputs[at] = random_token(s, real->run->seed, sample, i);
            s->targets[at] = random_token(s, real->run->seed, sample, i + 1);
        }
}

static void embed(const struct fr_real *real, const struct state *s, void *x) {
    int t = fr_block_tokens(&s->sizes), h = s->sizes.hidden, q = s->sizes.sequence;
    real->k->embed(h, t, q, s->inputs, s->embedding, s->positions, x);
}

static fr_status forward(struct fr_real *real, struct state *s, int m, struct fr_error *err) {
    struct micro *micro = &s->micro[m];
    int64_t values = (int64_t)s->sizes.hidden * fr_block_tokens(&s->sizes);
    void *x = micro->layer[0].x;
    if (s->first) {
        FR_COMPUTE(real, take_tokens(real, s, m));
        FR_COMPUTE(real, embed(real, s, x));
    } else
        FR_TRY(receive(real, x, values, s->stage - 1, FORWARD_TAG, err));
    FR_MPI_TRY(MPI_Wait(&micro->sent, MPI_STATUS_IGNORE)); /* of the iteration before */
    for (int i = 0; i < s->n_layers; i++)
        fr_block_forward(real, &s->sizes, &s->w[i], &micro->layer[i],
                         i + 1 < s->n_layers ? micro->layer[i + 1].x : micro->top);
    if (s->last) return FR_OK;
    return send_values(real, micro->top, values, s->stage + 1, FORWARD_TAG, &micro->sent, err);
}

/* Norm, logits, cross-entropy, and back to the gradient of the last layer's output. */
static void head(struct fr_real *real, struct state *s, int m, void *dy) {
    const struct fr_kernels *k = real->k;
    int t = fr_block_tokens(&s->sizes), h = s->sizes.hidden, v = s->vocabulary;
    const void *top = s->micro[m].top;
    double scale = 1.0 / ((double)fr_real_batch(real->run) * s->sizes.sequence), loss = 0;
    FR_COMPUTE(real, take_tokens(real, s, m));
    FR_COMPUTE(real, k->norm(h, t, top, s->gain, s->bias, s->mean, s->inverse, s->normed));
    FR_COMPUTE(real, k->gemm(false, false, v, t, h, 1, s->embedding, h, s->normed, t, 0,
                             s->logits, t));
    FR_COMPUTE(real, loss = k->cross_entropy(v, t, s->targets, scale, s->logits));
    s->loss += loss * scale;
    FR_COMPUTE(real, k->gemm(false, true, v, h, t, 1, s->logits, t, s->normed, t, 1,
                             s->d_embedding, h));
    FR_COMPUTE(real, k->gemm(true, false, h, t, v, 1, s->embedding, h, s->logits, t, 0,
                             s->d_normed, t));
    FR_COMPUTE(real, k->norm_backward(h, t, top, s->gain, s->mean, s->inverse, s->d_normed, dy,
                                      s->d_gain, s->d_bias));
}

static fr_status receive_gradient(struct fr_real *real, struct state *s, int m, void *dy,
                                  struct fr_error *err) {
    int64_t values = (int64_t)s->sizes.hidden * fr_block_tokens(&s->sizes);
    if (!compressed(real, s, s->stage, m))
        return receive(real, dy, values, s->stage + 1, BACKWARD_TAG, err);
    FR_TRY(receive(real, s->packet[1], fr_lowrank_size(&s->codec), s->stage + 1, BACKWARD_TAG,
                   err));
    fr_lowrank_decode(real, &s->codec, s->packet[1], 1, dy);
    return FR_OK;
}

static fr_status send_gradient(struct fr_real *real, struct state *s, int m, void *dx,
                               struct fr_error *err) {
    int64_t values = (int64_t)s->sizes.hidden * fr_block_tokens(&s->sizes), n;
    if (!compressed(real, s, s->stage - 1, m))
        return send_values(real, dx, values, s->stage - 1, BACKWARD_TAG, &s->sent_back, err);
    fr_lowrank_encode(real, &s->codec, dx);
    FR_MPI_TRY(MPI_Wait(&s->sent_back, MPI_STATUS_IGNORE));
    n = fr_lowrank_size(&s->codec);
    FR_COMPUTE(real, real->k->copy(1, (int)n, s->codec.factors, (int)n, s->packet[0], (int)n));
    return send_values(real, s->packet[0], n, s->stage - 1, BACKWARD_TAG, &s->sent_back, err);
}

static fr_status backward(struct fr_real *real, struct state *s, int m, struct fr_error *err) {
    struct micro *micro = &s->micro[m];
    void *d = s->gradient;
    double start_s = fr_now_s();
    FR_MPI_TRY(MPI_Wait(&s->sent_back, MPI_STATUS_IGNORE)); /* it is sent from this buffer */
    real->phases.collective_s += fr_now_s() - start_s;
    if (s->last)
        head(real, s, m, d);
    else
        FR_TRY(receive_gradient(real, s, m, d, err));
    for (int i = s->n_layers - 1; i >= 0; i--)
        fr_block_backward(real, &s->sizes, &s->w[i], &s->g[i], &micro->layer[i], &s->room, d);
    if (!s->first) return send_gradient(real, s, m, d, err);
    FR_COMPUTE(real, take_tokens(real, s, m));
    FR_COMPUTE(real, real->k->embed_backward(s->sizes.hidden, fr_block_tokens(&s->sizes),
                                             s->sizes.sequence, s->inputs, d, s->d_embedding,
                                             s->d_positions));
    return FR_OK;
}

/* ---- gradients over replicas ----------------------------------------------------------------- */

/* Copy the gradients from @p from on that are in no matrix between the block and @p packed. */
static void pack_rest(const struct fr_real *real, const struct state *s, int64_t n, bool out,
                      void *packed) {
    const struct fr_kernels *k = real->k;
    char *at = real->gradients, *end = (char *)real->gradients + (size_t)n * k->size_B;
    char *to = packed;
    for (int l = 0; l <= s->n_layers; l++) {
        struct shape shape[4];
        int count = l < s->n_layers ? 4 : 0;
        if (count) matrices_of(s, l, shape);
        for (int i = 0; i <= count; i++) {
            char *stop = i < count ? shape[i].at : l == s->n_layers ? end : at;
            size_t size_B = (size_t)(stop - at);
            if (out)
                memcpy(at, to, size_B);
            else
                memcpy(to, at, size_B);
            to += size_B;
            at = stop;
            if (i < count) at += (size_t)shape[i].m * (size_t)shape[i].n * k->size_B;
        }
    }
}

/* P of all matrices in one all-reduce, then Q of all with the rest in another.  What a rank keeps
 * as its error is its own M - P Q^T with its own Q: then the sum over ranks of what was decoded
 * and kept is exactly the sum of M.  (PowerSGD keeps M less the mean; ours is a derivation.) */
static fr_status reduce_compressed(struct fr_real *real, struct state *s, int64_t n,
                                   struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    double share = 1.0 / (double)real->run->plan->dp;
    int64_t n_p = 0, n_q = 0, rest = n;
    for (int i = 0; i < s->n_matrices; i++) {
        struct shape shape[4];
        struct fr_lowrank *c = &s->matrix[i];
        matrices_of(s, i / 4, shape);
        fr_lowrank_add_error(real, c, shape[i % 4].at);
        fr_lowrank_project(real, c, shape[i % 4].at);
        int size = c->rank * c->m;
        FR_COMPUTE(real,
                   k->copy(1, size, c->factors, size, fr_at(k, s->factors, (size_t)n_p), size));
        n_p += size;
        rest -= (int64_t)c->m * c->n;
    }
    FR_TRY(fr_real_all_reduce(real, real->dp, s->factors, n_p, err));
    for (int i = 0, at = 0; i < s->n_matrices; i++) {
        struct shape shape[4];
        struct fr_lowrank *c = &s->matrix[i];
        int size = c->rank * c->m, q = c->rank * c->n;
        matrices_of(s, i / 4, shape);
        FR_COMPUTE(real,
                   k->copy(1, size, fr_at(k, s->factors, (size_t)at), size, c->factors, size));
        at += size;
        fr_lowrank_back_project(real, c, shape[i % 4].at);
        fr_lowrank_keep_error(real, c, shape[i % 4].at);
        n_q += q;
    }
    for (int i = 0, at = 0; i < s->n_matrices; i++) {
        struct fr_lowrank *c = &s->matrix[i];
        int q = c->rank * c->n;
        FR_COMPUTE(real, k->copy(1, q, fr_at(k, c->factors, (size_t)(c->rank * c->m)), q,
                                 fr_at(k, s->factors, (size_t)at), q));
        at += q;
    }
    FR_COMPUTE(real, pack_rest(real, s, n, false, fr_at(k, s->factors, (size_t)n_q)));
    FR_TRY(fr_real_all_reduce(real, real->dp, s->factors, n_q + rest, err));
    for (int i = 0, at = 0; i < s->n_matrices; i++) {
        struct shape shape[4];
        struct fr_lowrank *c = &s->matrix[i];
        int q = c->rank * c->n;
        matrices_of(s, i / 4, shape);
        FR_COMPUTE(real, k->scale((size_t)q, share, fr_at(k, s->factors, (size_t)at),
                                  fr_at(k, c->factors, (size_t)(c->rank * c->m))));
        /* Gradients are sums over replicas, Q's mean is what the next iteration starts from. */
        fr_lowrank_decode(real, c, c->factors, 1 / share, shape[i % 4].at);
        at += q;
    }
    FR_COMPUTE(real, pack_rest(real, s, n, true, fr_at(k, s->factors, (size_t)n_q)));
    return FR_OK;
}

static fr_status reduce(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_plan *plan = real->run->plan;
    bool tied = real->run->workload->transformer.tied && s->stages > 1 && s->n_embedding > 0;
    bool fused = plan->compression.fused_embedding && tied;
    int64_t n = real->n_parameters - (fused ? s->n_embedding : 0);
    if (plan->dp > 1) {
        if (s->n_matrices)
            FR_TRY(reduce_compressed(real, s, n, err));
        else
            FR_TRY(fr_real_all_reduce(real, real->dp, real->gradients, n, err));
    }
    if (!tied) return FR_OK;
    return fr_real_all_reduce(real, fused ? s->both : s->ends, s->d_embedding, s->n_embedding,
                              err);
}

static fr_status gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct state *s = real->state;
    size_t size_B = (size_t)real->n_parameters * real->k->size_B;
    s->loss = 0;
    FR_COMPUTE(real, memset(real->gradients, 0, size_B));
    for (int i = 0; i < 2 * s->n_micro; i++) {
        int m = s->slots[i].micro;
        if (s->slots[i].kind == FR_SLOT_FORWARD)
            FR_TRY(forward(real, s, m, err));
        else
            FR_TRY(backward(real, s, m, err));
    }
    *loss = s->loss;
    return reduce(real, s, err);
}

static void end(struct fr_real *real) {
    struct state *s = real->state;
    for (int m = 0; s->micro && m < s->n_micro; m++) {
        struct micro *micro = &s->micro[m];
        if (micro->layer) MPI_Wait(&micro->sent, MPI_STATUS_IGNORE);
        for (int i = 0; micro->layer && i < s->n_layers; i++) fr_block_free(&micro->layer[i]);
        free(micro->layer);
        free(micro->top);
    }
    MPI_Wait(&s->sent_back, MPI_STATUS_IGNORE);
    if (s->ends != MPI_COMM_NULL) MPI_Comm_free(&s->ends);
    if (s->both != MPI_COMM_NULL) MPI_Comm_free(&s->both);
    for (int i = 0; i < s->n_matrices; i++) fr_lowrank_close(&s->matrix[i]);
    fr_lowrank_close(&s->codec);
    fr_block_room_free(&s->room);
    void *const owned[] = {s->micro,   s->inputs, s->targets,  s->slots,     s->gradient,
                           s->logits,  s->normed, s->d_normed, s->mean,      s->inverse,
                           s->w,       s->g,      s->matrix,   s->packet[0], s->packet[1],
                           s->factors, s};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

const struct fr_real_app fr_real_pipeline = {
    .name = "pipeline",
    .summary = "transformer training over pipeline stages and replicas, messages and gradients "
               "compressed",
    .source = "seed 001, sections 5 to 8",
    .check = check,
    .n_parameters = n_parameters,
    .open = begin,
    .gradients = gradients,
    .close = end,
};
