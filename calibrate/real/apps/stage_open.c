/* A stage's parameters, buffers and codecs. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/random.h"
#include "calibrate/real/apps/stage.h"
#include "models/work/transformer.h"

enum { STREAM_EMBEDDING = 4, STREAM_POSITIONS = 5, STREAM_CODEC = 6 };

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

int64_t fr_rank_stage_parameters(const struct fr_real *real) {
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
static fr_status place(struct fr_real *real, struct fr_rank_stage *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    const struct fr_transformer *t = &real->run->workload->transformer;
    uint64_t seed = real->run->seed;
    size_t at = 0, layer = (size_t)fr_block_parameters(&s->sizes), h = (size_t)t->hidden;
    int64_t before = 0;
    s->w = fr_calloc((size_t)s->n_layers, sizeof *s->w);
    s->g = fr_calloc((size_t)s->n_layers, sizeof *s->g);
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

static fr_status open_buffers(struct fr_real *real, struct fr_rank_stage *s,
                              struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int64_t t = fr_block_tokens(&s->sizes), values = t * s->sizes.hidden;
    bool whole = fr_block_room_alloc(k, &s->sizes, &s->room);
    s->micro = fr_calloc((size_t)s->n_micro, sizeof *s->micro);
    s->inputs = fr_calloc((size_t)t, sizeof *s->inputs);
    s->targets = fr_calloc((size_t)t, sizeof *s->targets);
    s->slots = fr_calloc(3 * (size_t)s->n_micro, sizeof *s->slots);
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
        s->micro[m].layer = fr_calloc((size_t)s->n_layers, sizeof *s->micro[m].layer);
        s->micro[m].top = fr_real_alloc(k, values);
        whole = s->micro[m].layer && s->micro[m].top;
        for (int i = 0; whole && i < s->n_layers; i++)
            whole = fr_block_alloc(k, &s->sizes, &s->micro[m].layer[i]);
    }
    return whole ? FR_OK
                 : fr_fail(err, FR_ERR_NOMEM, NULL, "activations of %d micro-batches",
                           s->n_micro);
}

static fr_status open_codecs(struct fr_real *real, struct fr_rank_stage *s,
                             struct fr_error *err) {
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
        s->matrix = fr_calloc((size_t)(4 * s->n_layers), sizeof *s->matrix);
        for (int l = 0; whole && s->matrix && l < s->n_layers; l++) {
            struct fr_rank_stage_matrix shape[4];
            fr_rank_stage_matrices(s, l, shape);
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

fr_status fr_rank_stage_open(struct fr_real *real, struct fr_error *err) {
    const struct fr_plan *plan = real->run->plan;
    const struct fr_transformer *t = &real->run->workload->transformer;
    struct fr_rank_stage *s = fr_calloc(1, sizeof *s);
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
    s->n_micro = (int)fr_rank_stage_micro_batches(real->run);
    s->vocabulary = (int)fr_transformer_padded_vocabulary(t, 1);
    struct fr_schedule_args args = {s->stages, s->n_micro, 1, plan->order};
    FR_TRY(open_buffers(real, s, err));
    plan->schedule->order(&args, s->stage, s->slots);
    FR_TRY(place(real, s, err));
    FR_TRY(join(real, s->first || s->last, real->dp_rank, &s->ends, err));
    FR_TRY(join(real, s->first || s->last, 0, &s->both, err));
    return open_codecs(real, s, err);
}

void fr_rank_stage_close(struct fr_real *real) {
    struct fr_rank_stage *s = real->state;
    for (int m = 0; s->micro && m < s->n_micro; m++) {
        struct fr_rank_stage_micro *micro = &s->micro[m];
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
