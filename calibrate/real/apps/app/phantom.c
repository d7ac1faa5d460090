/* Phantom parallelism of an FFN (Seal et al. 2025, sections III and IV): rank j of p holds, a layer,
 *
 *      L_j (m/p x n/p)   C_j (k x n/p)   D_ij (m/p x k) for i != j   b_j (m/p)
 *
 *      forward   g_j = C_j y_j, all-gather of g, z_j = L_j y_j + sum_(i != j) D_ij g_i,
 *                y_j = relu(z_j + b_j)                                              Eq. 11
 *      backward  delta_j = dy_j where y_j > 0                                  Eqs. 14 to 16
 *                db_j = row sums, dL_j = delta_j y_j^T, dD_ij = delta_j g_i^T  Eqs. 18, 19, 21
 *                h_ij = D_ij^T delta_j, reduce-scatter of h: dg_j = sum_(i != j) h_ji
 *                dC_j = dg_j y_j^T, dy_j = L_j^T delta_j + C_j^T dg_j         Eqs. 20, 17
 *
 * A rank's block, layer by layer: L_j, C_j, the D_ij by ascending i, b_j. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/random.h"

struct layer {
    int in, out; /* of this rank */
    void *l, *c, *d, *b, *dl, *dc, *dd, *db;
    void *x, *ghosts; /* in x batch; p k x batch */
};

struct state {
    int n_layers, batch, p, ghost;
    struct layer *layers;
    void *output, *target, *mine, *back; /* mine: k x batch; back: p k x batch */
    void *dy, *dx;                       /* widest x batch */
};

static fr_status check(const struct fr_real_case *run, struct fr_error *err) {
    struct fr_real_layer *layers = NULL;
    int n = 0;
    double p = (double)run->plan->tp, k = (double)run->plan->ghost;
    FR_TRY(fr_ffn_check(run, err));
    if (run->plan->dp != 1)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "the program phantom has no data axis; expected dp 1");
    fr_status status = fr_real_layers(run->workload, &layers, &n, err);
    for (int i = 0; status == FR_OK && i < n; i++) {
        double narrower = (double)(layers[i].inputs < layers[i].outputs ? layers[i].inputs
                                                                        : layers[i].outputs);
        status =
            fr_real_divides("a layer's width", layers[i].outputs, "tp", run->plan->tp, err);
        if (status == FR_OK)
            status =
                fr_real_divides("a layer's inputs", layers[i].inputs, "tp", run->plan->tp, err);
        /* One rank has nobody to send ghosts to, and then no width is too large. */
        if (status == FR_OK && (k < 1 || (p > 1 && !(k < narrower / p * (1 - 1 / p)))))
            status = fr_fail(err, FR_ERR_INPUT, NULL,
                             "ghost %g must be at least 1 and below (n/p)(1 - 1/p) = %g (seed "
                             "000, Eq. 8)",
                             k, narrower / p * (1 - 1 / p));
    }
    free(layers);
    return status;
}

static int64_t layer_size(const struct fr_real_layer *l, int64_t p, int64_t k) {
    int64_t in = l->inputs / p, out = l->outputs / p;
    return out * in + k * in + (p - 1) * out * k + out;
}

static int64_t n_parameters(const struct fr_real *real) {
    struct fr_real_layer *layers = NULL;
    int n = 0;
    int64_t sum = 0;
    if (fr_real_layers(real->run->workload, &layers, &n, NULL) != FR_OK) return 0;
    for (int i = 0; i < n; i++)
        sum += layer_size(&layers[i], real->run->plan->tp, real->run->plan->ghost);
    free(layers);
    return sum;
}

/* Block (i, j) of a layer's local matrices is part of the stream that tensor's W would be; the
 * others have streams of their own.  Deviations: z_j is a sum of p parts of equal variance. */
static void place_layer(struct fr_real *real, const struct state *s,
                        const struct fr_real_layer *from, int i, size_t *offset,
                        struct layer *l) {
    const struct fr_kernels *k = real->k;
    uint64_t seed = real->run->seed, stream = (uint64_t)(FR_STREAM_LAYER + 64 * i);
    int64_t j = real->tp_rank;
    int p = s->p, g = s->ghost;
    l->in = (int)from->inputs / p;
    l->out = (int)from->outputs / p;
    size_t local = (size_t)l->out * (size_t)l->in, compressor = (size_t)g * (size_t)l->in,
           decompressor = (size_t)l->out * (size_t)g;
    l->l = fr_at(k, real->parameters, *offset);
    l->dl = fr_at(k, real->gradients, *offset);
    l->c = fr_at(k, l->l, local);
    l->dc = fr_at(k, l->dl, local);
    l->d = fr_at(k, l->c, compressor);
    l->dd = fr_at(k, l->dc, compressor);
    l->b = fr_at(k, l->d, (size_t)(p - 1) * decompressor);
    l->db = fr_at(k, l->dd, (size_t)(p - 1) * decompressor);
    *offset += (size_t)layer_size(from, p, g);
    fr_fill_normal(k, seed, stream, j * l->out, l->out, j * l->in, l->in, from->inputs,
                   fr_ffn_deviation((double)from->inputs), l->l);
    fr_fill_normal(k, seed, stream + 1, j * g, g, 0, l->in, l->in, 1 / sqrt((double)l->in),
                   l->c);
    for (int64_t from_rank = 0, slot = 0; from_rank < p; from_rank++) {
        if (from_rank == j) continue;
        fr_fill_normal(k, seed, stream + 2, (from_rank * p + j) * l->out, l->out, 0, g, g,
                       fr_ffn_deviation((double)p * g),
                       fr_at(k, l->d, (size_t)slot++ * decompressor));
    }
}

static fr_status begin(struct fr_real *real, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    struct fr_real_layer *layers = NULL;
    struct state *s = fr_calloc(1, sizeof *s);
    size_t offset = 0;
    int widest = 0;
    bool whole = true;
    real->state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the program's state");
    FR_TRY(fr_real_layers(real->run->workload, &layers, &s->n_layers, err));
    s->p = (int)real->run->plan->tp;
    s->ghost = (int)real->run->plan->ghost;
    s->batch = (int)fr_real_batch(real->run);
    s->layers = fr_calloc((size_t)s->n_layers, sizeof *s->layers);
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        place_layer(real, s, &layers[i], i, &offset, l);
        if (i > 0) l->x = fr_real_alloc(k, (int64_t)l->in * s->batch);
        l->ghosts = fr_real_alloc(k, (int64_t)s->p * s->ghost * s->batch);
        if (l->in > widest) widest = l->in;
        if (l->out > widest) widest = l->out;
        whole = whole && l->ghosts && (i == 0 || l->x);
    }
    int64_t n_in = layers[0].inputs, n_out = layers[s->n_layers - 1].outputs;
    free(layers);
    if (!s->layers || !whole) return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    const struct layer *first = &s->layers[0], *last = &s->layers[s->n_layers - 1];
    const struct fr_real_buffer all[] = {{&s->output, (int64_t)last->out * s->batch},
                                         {&s->mine, (int64_t)s->ghost * s->batch},
                                         {&s->back, (int64_t)s->p * s->ghost * s->batch},
                                         {&s->dy, (int64_t)widest * s->batch},
                                         {&s->dx, (int64_t)widest * s->batch}};
    if (!fr_real_alloc_all(k, all, sizeof all / sizeof *all))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    struct fr_ffn_part part = {(int64_t)real->tp_rank * first->in,
                               first->in,
                               (int64_t)real->tp_rank * last->out,
                               last->out,
                               0,
                               s->batch,
                               s->batch};
    return fr_ffn_data(k, real->run->seed, n_in, n_out, &part, &s->layers[0].x, &s->target,
                       err);
}

static void *decompressor(const struct fr_real *real, const struct state *s,
                          const struct layer *l, void *block, int from) {
    int slot = from < real->tp_rank ? from : from - 1;
    return fr_at(real->k, block, (size_t)slot * (size_t)l->out * (size_t)s->ghost);
}

static void *ghosts_of(const struct fr_real *real, const struct state *s, void *all, int i) {
    return fr_at(real->k, all, (size_t)i * (size_t)s->ghost * (size_t)s->batch);
}

static fr_status forward(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = s->batch, g = s->ghost;
    for (int i = 0; i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        void *y = i + 1 < s->n_layers ? s->layers[i + 1].x : s->output;
        FR_COMPUTE(real,
                   k->gemm(false, false, g, b, l->in, 1, l->c, l->in, l->x, b, 0, s->mine, b));
        FR_TRY(fr_real_all_gather(real, real->tp, s->mine, (int64_t)g * b, l->ghosts, err));
        FR_COMPUTE(real,
                   k->gemm(false, false, l->out, b, l->in, 1, l->l, l->in, l->x, b, 0, y, b));
        for (int from = 0; from < s->p; from++)
            if (from != real->tp_rank)
                FR_COMPUTE(real, k->gemm(false, false, l->out, b, g, 1,
                                         decompressor(real, s, l, l->d, from), g,
                                         ghosts_of(real, s, l->ghosts, from), b, 1, y, b));
        FR_COMPUTE(real, k->bias_relu(l->out, b, l->b, y));
    }
    return FR_OK;
}

static void decompressor_gradients(struct fr_real *real, struct state *s, struct layer *l,
                                   const void *delta) {
    const struct fr_kernels *k = real->k;
    int b = s->batch, g = s->ghost;
    for (int from = 0; from < s->p; from++) {
        void *h = ghosts_of(real, s, s->back, from);
        if (from == real->tp_rank) {
            FR_COMPUTE(real, memset(h, 0, (size_t)g * (size_t)b * k->size_B));
            continue;
        }
        FR_COMPUTE(real, k->gemm(false, true, l->out, g, b, 1, delta, b,
                                 ghosts_of(real, s, l->ghosts, from), b, 0,
                                 decompressor(real, s, l, l->dd, from), g));
        FR_COMPUTE(real, k->gemm(true, false, g, b, l->out, 1,
                                 decompressor(real, s, l, l->d, from), g, delta, b, 0, h, b));
    }
}

static fr_status backward(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = s->batch, g = s->ghost;
    for (int i = s->n_layers - 1; i >= 0; i--) {
        struct layer *l = &s->layers[i];
        const void *y = i + 1 < s->n_layers ? s->layers[i + 1].x : s->output;
        void *delta = s->dy, *dx = s->dx;
        FR_COMPUTE(real, k->relu_backward(l->out, b, y, delta, l->db));
        decompressor_gradients(real, s, l, delta);
        FR_TRY(fr_real_reduce_scatter(real, real->tp, s->back, s->mine, (int64_t)g * b, err));
        FR_COMPUTE(real, k->gemm(false, true, l->out, l->in, b, 1, delta, b, l->x, b, 0, l->dl,
                                 l->in));
        FR_COMPUTE(real,
                   k->gemm(false, true, g, l->in, b, 1, s->mine, b, l->x, b, 0, l->dc, l->in));
        FR_COMPUTE(real,
                   k->gemm(true, false, l->in, b, l->out, 1, l->l, l->in, delta, b, 0, dx, b));
        FR_COMPUTE(real,
                   k->gemm(true, false, l->in, b, g, 1, l->c, l->in, s->mine, b, 1, dx, b));
        s->dx = delta;
        s->dy = dx;
    }
    return FR_OK;
}

/* Eq. 14: each rank compares its part of the outputs with its part of the targets. */
static fr_status gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct state *s = real->state;
    size_t n = (size_t)s->layers[s->n_layers - 1].out * (size_t)s->batch;
    FR_TRY(forward(real, s, err));
    fr_ffn_loss(real, n, 1.0 / ((double)n * s->p), s->output, s->target, s->dy, loss);
    return backward(real, s, err);
}

static void end(struct fr_real *real) {
    struct state *s = real->state;
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        free(s->layers[i].x);
        free(s->layers[i].ghosts);
    }
    free(s->layers);
    free(s->output);
    free(s->target);
    free(s->mine);
    free(s->back);
    free(s->dy);
    free(s->dx);
    free(s);
}

const struct fr_real_app fr_real_phantom = {
    .name = "phantom",
    .summary = "FFN training, activations compressed to ghost neurons before the all-gather",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 11 and 14 to 21, Table II",
    .check = check,
    .n_parameters = n_parameters,
    .open = begin,
    .gradients = gradients,
    .close = end,
};
