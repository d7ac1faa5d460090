/* 1.5D integrated model and data parallelism of an MLP (Gholami et al. 2017): a layer's grid is P_r x P_c,
 * rank r at row r mod P_r, column r / P_r; rows divide the outputs, columns the samples.
 *
 *      forward   y_r = relu(W_r x + b_r), all-gather of y over P_r          W x
 *      backward  dW_r = dz_r x^T, all-reduce of it with db_r over P_c       dz x^T
 *                partial dx = W_r^T dz_r, all-reduce of it over P_r         W^T dz
 *
 * Between layers of different grids (P_r' divides P_r, or the other way round) the samples a rank
 * holds change: to fewer samples it keeps a part of what it has, to more it gathers the
 * parts of its neighbours, min(P_r) apart; backward the same the other way.
 *
 * A rank's block, layer by layer: W_r (outputs/P_r x inputs), b_r. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/ffn.h"
#include "real/apps/random.h"

struct layer {
    int in, out, rows, row0;
    int64_t tp, dp;
    int columns, column0; /* samples, and the first of them */
    MPI_Comm model, data; /* over P_r and P_c */
    MPI_Comm neighbours; /* between the layer before and this one; null where grids are equal */
    void *w, *b, *dw, *db;
    void *x, *y; /* in x columns; rows x columns */
};

struct state {
    int n_layers;
    struct layer *layers;
    void *output, *target; /* out x columns of the last layer */
    void *dy, *dx, *other; /* widest x the most samples of a rank */
};

static int64_t layer_tp(const struct fr_real_case *run, int entry) {
    return run->plan->layer_tp ? run->plan->layer_tp[entry] : run->plan->tp;
}

/* The P_r of each written-out layer, from its entry of the workload. */
static fr_status make_layers(const struct fr_real_case *run, struct fr_real_layer **layers,
                             int64_t **tp, int *n, struct fr_error *err) {
    FR_TRY(fr_real_layers(run->workload, false, layers, n, err));
    *tp = fr_calloc((size_t)*n, sizeof **tp);
    if (!*tp) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d layers", *n);
    for (int i = 0, at = 0; i < run->workload->n_layers; i++)
        for (double r = 0; r < run->workload->layers[i].repeat; r++)
            (*tp)[at++] = layer_tp(run, i);
    return FR_OK;
}

static fr_status check_layer(const struct fr_real_case *run, const struct fr_real_layer *layer,
                             int64_t tp, int64_t before, struct fr_error *err) {
    int64_t ranks = fr_plan_ranks(run->plan);
    FR_TRY(fr_real_divides("the number of ranks", ranks, "a layer's P_r", tp, err));
    FR_TRY(fr_real_divides("a layer's width", layer->outputs, "P_r", tp, err));
    FR_TRY(fr_real_divides("the global batch", fr_real_batch(run), "P_c", ranks / tp, err));
    if (before % tp != 0 && tp % before != 0)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "neighbouring layers' P_r, %lld and %lld, must divide one another",
                       (long long)before, (long long)tp);
    return FR_OK;
}

static fr_status check(const struct fr_real_case *run, struct fr_error *err) {
    struct fr_real_layer *layers = NULL;
    int64_t *tp = NULL;
    int n = 0;
    FR_TRY(fr_ffn_check(run, err));
    if (run->plan->layer_tp && run->plan->n_layer_tp != run->workload->n_layers)
        return fr_fail(err, FR_ERR_INPUT, NULL, "layer_tp lists %d layers, the model has %d",
                       run->plan->n_layer_tp, run->workload->n_layers);
    fr_status status = make_layers(run, &layers, &tp, &n, err);
    for (int i = 0; status == FR_OK && i < n; i++)
        status = check_layer(run, &layers[i], tp[i], tp[i ? i - 1 : 0], err);
    free(layers);
    free(tp);
    return status;
}

static int64_t n_parameters(const struct fr_real *real) {
    struct fr_real_layer *layers = NULL;
    int64_t *tp = NULL, sum = 0;
    int n = 0;
    if (make_layers(real->run, &layers, &tp, &n, NULL) == FR_OK)
        for (int i = 0; i < n; i++) sum += layers[i].outputs / tp[i] * (layers[i].inputs + 1);
    free(layers);
    free(tp);
    return sum;
}

static fr_status split(struct fr_real *real, int64_t colour, MPI_Comm *comm,
                       struct fr_error *err) {
    FR_MPI_TRY(MPI_Comm_split(real->world, (int)colour, real->rank, comm));
    FR_MPI_TRY(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
    return FR_OK;
}

/* Ranks that hold neighbouring samples of one larger part: equal remainder by the smaller P_r
 * within a block of the larger one. */
static int64_t neighbours_colour(int64_t rank, int64_t a, int64_t b) {
    int64_t small = a < b ? a : b, large = a < b ? b : a;
    return rank / large * small + rank % small;
}

static fr_status place_layer(struct fr_real *real, const struct fr_real_layer *from, int64_t tp,
                             int64_t before, int i, size_t *offset, struct layer *l,
                             struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int64_t batch = fr_real_batch(real->run), rank = real->rank;
    l->model = l->data = l->neighbours = MPI_COMM_NULL;
    l->tp = tp;
    l->dp = real->n_ranks / tp;
    l->in = (int)from->inputs;
    l->out = (int)from->outputs;
    l->rows = (int)(from->outputs / tp);
    l->row0 = (int)(rank % tp) * l->rows;
    l->columns = (int)(batch / l->dp);
    l->column0 = (int)(rank / tp) * l->columns;
    FR_TRY(split(real, rank / tp, &l->model, err));
    FR_TRY(split(real, rank % tp, &l->data, err));
    if (tp != before)
        FR_TRY(split(real, neighbours_colour(rank, tp, before), &l->neighbours, err));
    size_t weights = (size_t)l->rows * (size_t)l->in;
    l->w = fr_at(k, real->parameters, *offset);
    l->dw = fr_at(k, real->gradients, *offset);
    l->b = fr_at(k, l->w, weights);
    l->db = fr_at(k, l->dw, weights);
    *offset += weights + (size_t)l->rows;
    fr_fill_normal(k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * i), l->row0, l->rows,
                   0, l->in, l->in, fr_ffn_deviation(l->in), l->w);
    if (i > 0) l->x = fr_real_alloc(k, (int64_t)l->in * l->columns);
    l->y = fr_real_alloc(k, (int64_t)l->rows * l->columns);
    if (!l->y || (i > 0 && !l->x)) return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    return FR_OK;
}

static fr_status open_layers(struct fr_real *real, struct state *s,
                             const struct fr_real_layer *layers, const int64_t *tp,
                             struct fr_error *err) {
    size_t offset = 0;
    int64_t most = 0;
    s->layers = fr_calloc((size_t)s->n_layers, sizeof *s->layers);
    if (!s->layers) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d layers", s->n_layers);
    for (int i = 0; i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        FR_TRY(place_layer(real, &layers[i], tp[i], tp[i ? i - 1 : 0], i, &offset, l, err));
        /* The inputs of this layer may pass through with the samples of the layer before. */
        int64_t columns = l->columns, earlier = i ? s->layers[i - 1].columns : columns;
        int64_t widest = l->in > l->out ? l->in : l->out;
        int64_t values = widest * (columns > earlier ? columns : earlier);
        if (values > most) most = values;
    }
    const struct layer *first = &s->layers[0], *last = &s->layers[s->n_layers - 1];
    const struct fr_real_buffer all[] = {{&s->output, (int64_t)last->out * last->columns},
                                         {&s->dy, most},
                                         {&s->dx, most},
                                         {&s->other, most}};
    if (!fr_real_alloc_all(real->k, all, sizeof all / sizeof *all))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "activations");
    int64_t batch = fr_real_batch(real->run);
    struct fr_ffn_part in = {0, first->in, 0, 0, first->column0, first->columns, batch};
    struct fr_ffn_part out = {0, 0, 0, last->out, last->column0, last->columns, batch};
    void *none = NULL;
    fr_status status = fr_ffn_data(real->k, real->run->seed, first->in, last->out, &in,
                                   &s->layers[0].x, &none, err);
    free(none);
    none = NULL;
    if (status == FR_OK)
        status = fr_ffn_data(real->k, real->run->seed, first->in, last->out, &out, &none,
                             &s->target, err);
    free(none);
    return status;
}

static fr_status begin(struct fr_real *real, struct fr_error *err) {
    struct fr_real_layer *layers = NULL;
    int64_t *tp = NULL;
    struct state *s = fr_calloc(1, sizeof *s);
    real->state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the program's state");
    fr_status status = make_layers(real->run, &layers, &tp, &s->n_layers, err);
    if (status == FR_OK) status = open_layers(real, s, layers, tp, err);
    free(layers);
    free(tp);
    return status;
}

/* values x from.columns of layer @p from become values x to.columns of layer @p to: a part, or
 * gathered from the neighbours; @p shared is the layer that knows them. */
static fr_status redistribute(struct fr_real *real, struct state *s, const struct layer *shared,
                              const struct layer *from, const struct layer *to, int values,
                              const void *x, void *y, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    if (to->columns <= from->columns) {
        const void *part = fr_at(k, x, (size_t)(to->column0 - from->column0));
        FR_COMPUTE(real, k->copy(values, to->columns, part, from->columns, y, to->columns));
        return FR_OK;
    }
    FR_TRY(fr_real_all_gather(real, shared->neighbours, x, (int64_t)values * from->columns,
                              s->other, err));
    for (int part = 0; part < to->columns / from->columns; part++)
        FR_COMPUTE(
            real,
            k->copy(values, from->columns,
                    fr_at(k, s->other, (size_t)part * (size_t)values * (size_t)from->columns),
                    from->columns, fr_at(k, y, (size_t)(part * from->columns)), to->columns));
    return FR_OK;
}

static fr_status forward(struct fr_real *real, struct state *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    for (int i = 0; i < s->n_layers; i++) {
        struct layer *l = &s->layers[i], *next = i + 1 < s->n_layers ? l + 1 : NULL;
        bool moves = next && next->neighbours != MPI_COMM_NULL;
        void *whole = !next ? s->output : moves ? s->dx : next->x;
        int b = l->columns;
        FR_COMPUTE(real, k->gemm(false, false, l->rows, b, l->in, 1, l->w, l->in, l->x, b, 0,
                                 l->y, b));
        FR_COMPUTE(real, k->bias_relu(l->rows, b, l->b, l->y));
        if (l->tp > 1)
            FR_TRY(fr_real_all_gather(real, l->model, l->y, (int64_t)l->rows * b, whole, err));
        else
            FR_COMPUTE(real, k->copy(l->rows, b, l->y, b, whole, b));
        if (moves) FR_TRY(redistribute(real, s, next, l, next, l->out, whole, next->x, err));
    }
    return FR_OK;
}

static fr_status backward_layer(struct fr_real *real, struct state *s, struct layer *l,
                                struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    int b = l->columns;
    void *dz = fr_at(k, s->dy, (size_t)l->row0 * (size_t)b);
    FR_COMPUTE(real, k->relu_backward(l->rows, b, l->y, dz, l->db));
    FR_COMPUTE(real,
               k->gemm(false, true, l->rows, l->in, b, 1, dz, b, l->x, b, 0, l->dw, l->in));
    if (l->dp > 1)
        FR_TRY(fr_real_all_reduce(real, l->data, l->dw, (int64_t)l->rows * (l->in + 1), err));
    FR_COMPUTE(real,
               k->gemm(true, false, l->in, b, l->rows, 1, l->w, l->in, dz, b, 0, s->dx, b));
    if (l->tp > 1) FR_TRY(fr_real_all_reduce(real, l->model, s->dx, (int64_t)l->in * b, err));
    return FR_OK;
}

static fr_status gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct state *s = real->state;
    struct layer *last = &s->layers[s->n_layers - 1];
    double mean = 1.0 / ((double)last->out * (double)fr_real_batch(real->run));
    size_t first = (size_t)last->row0 * (size_t)last->columns;
    FR_TRY(forward(real, s, err));
    fr_ffn_loss(real, (size_t)last->rows * (size_t)last->columns, mean,
                fr_at(real->k, s->output, first), fr_at(real->k, s->target, first),
                fr_at(real->k, s->dy, first), loss);
    for (int i = s->n_layers - 1; i >= 0; i--) {
        struct layer *l = &s->layers[i];
        void *dx;
        FR_TRY(backward_layer(real, s, l, err));
        if (l->neighbours != MPI_COMM_NULL) { /* dy is free again: its layer is done */
            FR_TRY(redistribute(real, s, l, l, l - 1, l->in, s->dx, s->dy, err));
            continue;
        }
        dx = s->dx;
        s->dx = s->dy;
        s->dy = dx;
    }
    return FR_OK;
}

static void end(struct fr_real *real) {
    struct state *s = real->state;
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        MPI_Comm *comms[] = {&l->model, &l->data, &l->neighbours};
        for (int c = 0; c < 3; c++)
            if (l->y && *comms[c] != MPI_COMM_NULL) MPI_Comm_free(comms[c]);
        free(l->x);
        free(l->y);
    }
    free(s->layers);
    free(s->output);
    free(s->target);
    free(s->dy);
    free(s->dx);
    free(s->other);
    free(s);
}

const struct fr_real_app fr_real_grid = {
    .name = "grid",
    .summary = "MLP training on a P_r x P_c grid, or a grid per layer with redistribution",
    .source = "Gholami et al., Integrated Model and Data Parallelism in Training Neural "
              "Networks, 2017, Eq. 4",
    .check = check,
    .n_parameters = n_parameters,
    .open = begin,
    .gradients = gradients,
    .close = end,
};
