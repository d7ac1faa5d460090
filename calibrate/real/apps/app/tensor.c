/* Tensor parallelism of an FFN as Seal et al. 2025 has it (Eqs. 3 to 5, Table II): the rows of every
 * weight matrix over p ranks, activations whole on every rank between layers.
 *
 *      forward   broadcast of the input x (n b), z_j = W_j x + b_j, y_j = relu(z_j),
 *                all-gather of y_j (n/p b from each)
 *      backward  reduce-scatter of dy (n b), dz_j = dy_j where y_j > 0, dW_j = dz_j x^T,
 *                partial dx = W_j^T dz_j, all-reduce of it (n b)
 *
 * The broadcast sends what all ranks have, and after the all-reduce every rank holds all of dx,
 * so that the reduce-scatter below it sums p equal copies: dx is scaled by 1/p, in its product.
 * Both are what that pipeline does and pays for (each collective's adjoint is the other's);
 * the lean division, all-gather forward and all-reduce backward, is the program grid.
 *
 * A rank's block, layer by layer: W_j (outputs/p x inputs), b_j (outputs/p). */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/real/apps/ffn.h"
#include "calibrate/real/apps/random.h"

struct layer {
    int in, out, rows; /* rows of this rank */
    void *w, *b, *dw, *db;
    void *x, *y; /* in x b, whole; rows x b */
};

struct state {
    int n_layers, batch;
    struct layer *layers;
    void *output, *target, *dx, *dy; /* out x b; out x b; widest x b; widest rows x b */
};

static fr_status check(const struct fr_real_case *run, struct fr_error *err) {
    struct fr_real_layer *layers = NULL;
    int n = 0;
    FR_TRY(fr_ffn_check(run, err));
    fr_status status = fr_real_layers(run->workload, &layers, &n, err);
    for (int i = 0; status == FR_OK && i < n; i++)
        status =
            fr_real_divides("a layer's width", layers[i].outputs, "tp", run->plan->tp, err);
    free(layers);
    if (status == FR_OK && run->plan->dp != 1)
        status = fr_fail(err, FR_ERR_INPUT, NULL,
                         "the program tensor has no data axis; expected dp 1");
    return status;
}

static int64_t n_parameters(const struct fr_real *real) {
    struct fr_real_layer *layers = NULL;
    int n = 0;
    int64_t sum = 0;
    if (fr_real_layers(real->run->workload, &layers, &n, NULL) != FR_OK) return 0;
    for (int i = 0; i < n; i++)
        sum += layers[i].outputs / real->run->plan->tp * (layers[i].inputs + 1);
    free(layers);
    return sum;
}

static void place_layer(struct fr_real *real, const struct fr_real_layer *from, int i,
                        size_t *offset, struct layer *l) {
    const struct fr_kernels *k = real->k;
    l->in = (int)from->inputs;
    l->out = (int)from->outputs;
    l->rows = l->out / (int)real->run->plan->tp;
    size_t weights = (size_t)l->rows * (size_t)l->in;
    l->w = fr_at(k, real->parameters, *offset);
    l->dw = fr_at(k, real->gradients, *offset);
    l->b = fr_at(k, l->w, weights);
    l->db = fr_at(k, l->dw, weights);
    *offset += weights + (size_t)l->rows;
    fr_fill_normal(k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * i),
                   (int64_t)real->tp_rank * l->rows, l->rows, 0, l->in, l->in,
                   fr_ffn_deviation(l->in), l->w);
}

static fr_status begin(struct fr_real *real, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    struct fr_real_layer *layers = NULL;
    struct state *s = fr_calloc(1, sizeof *s);
    size_t offset = 0;
    int widest = 0, widest_rows = 0;
    real->state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the program's state");
    FR_TRY(fr_real_layers(real->run->workload, &layers, &s->n_layers, err));
    s->layers = fr_calloc((size_t)s->n_layers, sizeof *s->layers);
    s->batch = (int)fr_real_batch(real->run);
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        place_layer(real, &layers[i], i, &offset, l);
        if (i > 0) l->x = fr_real_alloc(k, (int64_t)l->in * s->batch);
        l->y = fr_real_alloc(k, (int64_t)l->rows * s->batch);
        if (l->in > widest) widest = l->in;
        if (l->out > widest) widest = l->out;
        if (l->rows > widest_rows) widest_rows = l->rows;
        if (!l->y || (i > 0 && !l->x)) widest = -1;
    }
    free(layers);
    if (!s->layers || widest < 0) return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    const struct layer *last = &s->layers[s->n_layers - 1];
    const struct fr_real_buffer all[] = {{&s->output, (int64_t)last->out * s->batch},
                                         {&s->dx, (int64_t)widest * s->batch},
                                         {&s->dy, (int64_t)widest_rows * s->batch}};
    if (!fr_real_alloc_all(k, all, sizeof all / sizeof *all))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    struct fr_ffn_part part = {0, s->layers[0].in, 0, last->out, 0, s->batch, s->batch};
    return fr_ffn_data(k, real->run->seed, s->layers[0].in, last->out, &part, &s->layers[0].x,
                       &s->target, err);
}

static fr_status forward(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = s->batch;
    for (int i = 0; i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        void *next = i + 1 < s->n_layers ? s->layers[i + 1].x : s->output;
        if (real->n_ranks > 1)
            FR_TRY(fr_real_broadcast(real, real->tp, l->x, (int64_t)l->in * b, err));
        FR_COMPUTE(real, k->gemm(false, false, l->rows, b, l->in, 1, l->w, l->in, l->x, b, 0,
                                 l->y, b));
        FR_COMPUTE(real, k->bias_relu(l->rows, b, l->b, l->y));
        FR_TRY(fr_real_all_gather(real, real->tp, l->y, (int64_t)l->rows * b, next, err));
    }
    return FR_OK;
}

static fr_status backward(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = s->batch;
    double share = 1.0 / real->n_ranks;
    for (int i = s->n_layers - 1; i >= 0; i--) {
        struct layer *l = &s->layers[i];
        FR_TRY(fr_real_reduce_scatter(real, real->tp, s->dx, s->dy, (int64_t)l->rows * b, err));
        FR_COMPUTE(real, k->relu_backward(l->rows, b, l->y, s->dy, l->db));
        FR_COMPUTE(real, k->gemm(false, true, l->rows, l->in, b, 1, s->dy, b, l->x, b, 0, l->dw,
                                 l->in));
        FR_COMPUTE(real, k->gemm(true, false, l->in, b, l->rows, share, l->w, l->in, s->dy, b,
                                 0, s->dx, b));
        if (real->n_ranks > 1)
            FR_TRY(fr_real_all_reduce(real, real->tp, s->dx, (int64_t)l->in * b, err));
    }
    return FR_OK;
}

static fr_status gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct state *s = real->state;
    size_t n = (size_t)s->layers[s->n_layers - 1].out * (size_t)s->batch;
    FR_TRY(forward(real, s, err)); /* every rank compares all outputs */
    fr_ffn_loss(real, n, 1.0 / (double)n / real->n_ranks, s->output, s->target, s->dx, loss);
    return backward(real, s, err);
}

static void end(struct fr_real *real) {
    struct state *s = real->state;
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        free(s->layers[i].x);
        free(s->layers[i].y);
    }
    free(s->layers);
    free(s->output);
    free(s->target);
    free(s->dx);
    free(s->dy);
    free(s);
}

const struct fr_real_app fr_real_tensor = {
    .name = "tensor",
    .summary = "FFN training, rows of every matrix over tp ranks",
    .source = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
              "and Inferencing, 2025, Eqs. 3 to 5 and Table II",
    .check = check,
    .n_parameters = n_parameters,
    .open = begin,
    .gradients = gradients,
    .close = end,
};
