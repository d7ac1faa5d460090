/* 1F1B over stages of a transformer, with real messages (Song et al. 2023, Optimus-CC): pp stages, dp
 * replicas, tp 1.  A stage runs its slots in the order of the plan's schedule; activations and
 * gradients go to the neighbours as MPI messages, sent without waiting. */
#include <string.h>

#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/random.h"
#include "calibrate/real/apps/stage.h"

enum { STREAM_TOKENS = 3 };

static int random_token(const struct fr_rank_stage *s, uint64_t seed, int64_t sample,
                        int position) {
    uint64_t at = (uint64_t)(sample * (s->sizes.sequence + 1) + position);
    return (int)(fr_random_at(seed, STREAM_TOKENS, at) % (uint64_t)s->vocabulary);
}

static void take_tokens(const struct fr_real *real, struct fr_rank_stage *s, int micro) {
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

static void embed(const struct fr_real *real, const struct fr_rank_stage *s, void *x) {
    int t = fr_block_tokens(&s->sizes), h = s->sizes.hidden, q = s->sizes.sequence;
    real->k->embed(h, t, q, s->inputs, s->embedding, s->positions, x);
}

static fr_status forward(struct fr_real *real, struct fr_rank_stage *s, int m,
                         struct fr_error *err) {
    struct fr_rank_stage_micro *micro = &s->micro[m];
    void *x = micro->layer[0].x;
    if (s->first) {
        FR_COMPUTE(real, take_tokens(real, s, m));
        FR_COMPUTE(real, embed(real, s, x));
    } else
        FR_TRY(fr_rank_stage_receive(real, s, x, err));
    FR_MPI_TRY(MPI_Wait(&micro->sent, MPI_STATUS_IGNORE)); /* of the iteration before */
    for (int i = 0; i < s->n_layers; i++)
        fr_block_forward(real, &s->sizes, &s->w[i], &micro->layer[i],
                         i + 1 < s->n_layers ? micro->layer[i + 1].x : micro->top);
    if (s->last) return FR_OK;
    return fr_rank_stage_send(real, s, m, err);
}

/* Norm, logits, cross-entropy, and back to the gradient of the last layer's output. */
static void head(struct fr_real *real, struct fr_rank_stage *s, int m, void *dy) {
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

static fr_status backward(struct fr_real *real, struct fr_rank_stage *s, int m,
                          struct fr_error *err) {
    struct fr_rank_stage_micro *micro = &s->micro[m];
    void *d = s->gradient;
    double start_s = fr_real_clock_s(real);
    FR_MPI_TRY(MPI_Wait(&s->sent_back, MPI_STATUS_IGNORE)); /* it is sent from this buffer */
    real->phases.collective_s += fr_real_clock_s(real) - start_s;
    if (s->last)
        head(real, s, m, d);
    else
        FR_TRY(fr_rank_stage_receive_gradient(real, s, m, d, err));
    for (int i = s->n_layers - 1; i >= 0; i--)
        fr_block_backward(real, &s->sizes, &s->w[i], &s->g[i], &micro->layer[i], &s->room, d);
    if (!s->first) return fr_rank_stage_send_gradient(real, s, m, d, err);
    FR_COMPUTE(real, take_tokens(real, s, m));
    FR_COMPUTE(real, real->k->embed_backward(s->sizes.hidden, fr_block_tokens(&s->sizes),
                                             s->sizes.sequence, s->inputs, d, s->d_embedding,
                                             s->d_positions));
    return FR_OK;
}

static fr_status gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct fr_rank_stage *s = real->state;
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
    return fr_rank_stage_reduce(real, s, err);
}

const struct fr_real_app fr_real_pipeline = {
    .name = "pipeline",
    .summary = "transformer training over pipeline stages and replicas, messages and gradients "
               "compressed",
    .source = "Song et al., Optimus-CC: Efficient Large NLP Model Training with 3D Parallelism "
              "Aware Communication Compression, 2023, sections 5 to 8",
    .check = fr_rank_stage_check,
    .n_parameters = fr_rank_stage_parameters,
    .open = fr_rank_stage_open,
    .gradients = gradients,
    .close = fr_rank_stage_close,
};
