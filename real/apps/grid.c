/* 1.5D integrated model and data parallelism of an MLP (Gholami et al. 2017): a layer's grid is P_r x P_c,
 * rank r at row r mod P_r, column r / P_r; rows divide the outputs, columns the samples.
 *
 *      forward   y_r = relu(W_r x + b_r), all-gather of y over P_r          W x
 *      backward  dW_r = dz_r x^T, all-reduce of it with db_r over P_c       dz x^T
 *                partial dx = W_r^T dz_r, all-reduce of it over P_r         W^T dz
 *
 * Between layers of different grids (P_r' divides P_r, or the other way round) the samples of
 * a rank change.  For fewer samples it keeps a part of its own.  For more it gathers the parts
 * of its neighbours, min(P_r) apart.  Backward it is the same the other way.
 *
 * A rank's block, layer by layer: W_r (outputs/P_r x inputs), b_r. */
#include <stdlib.h>

#include "base/alloc.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/rows.h"
#include "real/apps/redistribute.h"

struct layer {
    struct fr_unit u; /* its rows on this rank, of a group of P_r */
    struct fr_unit_saved saved;
    int column0;         /* the first of its samples */
    MPI_Comm data;       /* over P_c */
    MPI_Comm neighbours; /* between the layer before and this one; null where grids are equal */
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

static fr_status place_layer(struct fr_real *real, const struct fr_real_layer *from, int64_t tp,
                             int64_t before, int i, size_t *offset, struct layer *l) {
    const struct fr_kernels *k = real->k;
    int64_t rank = real->rank, columns = fr_real_batch(real->run) / (real->n_ranks / tp);
    l->data = l->neighbours = MPI_COMM_NULL;
    l->u = (struct fr_unit){.layer = *from,
                            .index = i,
                            .tp = (int)tp,
                            .tp_rank = (int)(rank % tp),
                            .group = MPI_COMM_NULL,
                            .in = (int)from->inputs,
                            .out = (int)from->outputs,
                            .rows = (int)(from->outputs / tp),
                            .columns = (int)columns,
                            .w = fr_at(k, real->parameters, *offset),
                            .g = fr_at(k, real->gradients, *offset)};
    l->u.n = fr_rows_parameters(&l->u);
    l->column0 = (int)(rank / tp * columns);
    *offset += (size_t)l->u.n;
    FR_TRY(fr_real_split(real, rank / tp, rank, &l->u.group));
    FR_TRY(fr_real_split(real, rank % tp, rank, &l->data));
    if (tp != before)
        FR_TRY(fr_real_split(real, fr_redistribute_colour(rank, tp, before), rank,
                             &l->neighbours));
    fr_rows_fill(real, &l->u);
    if (i > 0) l->saved.x = fr_real_alloc(k, l->u.in * columns);
    l->saved.own[0] = fr_real_alloc(k, l->u.rows * columns);
    if (!l->saved.own[0] || (i > 0 && !l->saved.x))
        return fr_fail(real->err, FR_ERR_NOMEM, NULL, "activations");
    return FR_OK;
}

static fr_status open_layers(struct fr_real *real, struct state *s,
                             const struct fr_real_layer *layers, const int64_t *tp) {
    size_t offset = 0;
    int64_t most = 0;
    s->layers = fr_calloc((size_t)s->n_layers, sizeof *s->layers);
    if (!s->layers) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "%d layers", s->n_layers);
    for (int i = 0; i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        FR_TRY(place_layer(real, &layers[i], tp[i], tp[i ? i - 1 : 0], i, &offset, l));
        /* The inputs of this layer may pass through with the samples of the layer before. */
        int64_t columns = l->u.columns, earlier = i ? s->layers[i - 1].u.columns : columns;
        int64_t widest = l->u.in > l->u.out ? l->u.in : l->u.out;
        int64_t values = widest * (columns > earlier ? columns : earlier);
        if (values > most) most = values;
    }
    const struct layer *first = &s->layers[0], *last = &s->layers[s->n_layers - 1];
    const struct fr_real_buffer all[] = {{&s->output, (int64_t)last->u.out * last->u.columns},
                                         {&s->dy, most},
                                         {&s->dx, most},
                                         {&s->other, most}};
    if (!fr_real_alloc_all(real->k, all, sizeof all / sizeof *all))
        return fr_fail(real->err, FR_ERR_NOMEM, NULL, "activations");
    int64_t batch = fr_real_batch(real->run);
    struct fr_ffn_part in = {0, first->u.in, 0, 0, first->column0, first->u.columns, batch};
    struct fr_ffn_part out = {0, 0, 0, last->u.out, last->column0, last->u.columns, batch};
    void *none = NULL;
    fr_status status = fr_ffn_data(real->k, real->run->seed, first->u.in, last->u.out, &in,
                                   &s->layers[0].saved.x, &none, real->err);
    free(none);
    none = NULL;
    if (status == FR_OK)
        status = fr_ffn_data(real->k, real->run->seed, first->u.in, last->u.out, &out, &none,
                             &s->target, real->err);
    free(none);
    return status;
}

static fr_status begin(struct fr_real *real) {
    struct fr_real_layer *layers = NULL;
    int64_t *tp = NULL;
    struct state *s = fr_calloc(1, sizeof *s);
    real->state = s;
    if (!s) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "the program's state");
    fr_status status = make_layers(real->run, &layers, &tp, &s->n_layers, real->err);
    if (status == FR_OK) status = open_layers(real, s, layers, tp);
    free(layers);
    free(tp);
    return status;
}

/* values x the columns of layer @p from become values x the columns of layer @p to: a part, or
 * gathered from the neighbours; @p shared is the layer that knows them. */
static fr_status redistribute(struct fr_real *real, struct state *s, const struct layer *shared,
                              const struct layer *from, const struct layer *to, int values,
                              const void *x, void *y) {
    const struct fr_real_columns has = {from->column0, from->u.columns},
                                 needs = {to->column0, to->u.columns};
    return fr_redistribute(real, shared->neighbours, values, has, x, needs, s->other, y);
}

static fr_status forward(struct fr_real *real, struct state *s) {
    for (int i = 0; i < s->n_layers; i++) {
        struct layer *l = &s->layers[i], *next = i + 1 < s->n_layers ? l + 1 : NULL;
        bool moves = next && next->neighbours != MPI_COMM_NULL;
        void *whole = !next ? s->output : moves ? s->dx : next->saved.x;
        if (moves && l->u.tp == 1) whole = l->saved.own[0]; /* it lasts */
        FR_TRY(fr_rows_forward(real, &l->u, &l->saved, whole));
        if (moves) FR_TRY(redistribute(real, s, next, l, next, l->u.out, whole, next->saved.x));
    }
    return FR_OK;
}

static fr_status backward_layer(struct fr_real *real, struct state *s, struct layer *l) {
    l->u.biases = l->u.weights = false;
    l->saved.d = fr_rows_of(real, &l->u, s->dy);
    FR_TRY(fr_rows_input(real, &l->u, &l->saved, 1, s->dx));
    fr_rows_weight(real, &l->u, &l->saved);
    if (l->u.tp == real->n_ranks) return FR_OK;
    return fr_real_all_reduce(real, l->data, l->u.g, l->u.n);
}

static fr_status gradients(struct fr_real *real, double *loss) {
    struct state *s = real->state;
    const struct fr_unit *last = &s->layers[s->n_layers - 1].u;
    double mean = 1.0 / ((double)last->out * (double)fr_real_batch(real->run));
    FR_TRY(forward(real, s));
    fr_ffn_loss(real, (size_t)last->rows * (size_t)last->columns, mean,
                fr_rows_of(real, last, s->output), fr_rows_of(real, last, s->target),
                fr_rows_of(real, last, s->dy), loss);
    for (int i = s->n_layers - 1; i >= 0; i--) {
        struct layer *l = &s->layers[i];
        FR_TRY(backward_layer(real, s, l));
        if (l->neighbours != MPI_COMM_NULL) { /* dy is free again: its layer is done */
            FR_TRY(redistribute(real, s, l, l, l - 1, l->u.in, s->dx, s->dy));
            continue;
        }
        void *dx = s->dx;
        s->dx = s->dy;
        s->dy = dx;
    }
    return FR_OK;
}

static void end(struct fr_real *real) {
    struct state *s = real->state;
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        struct layer *l = &s->layers[i];
        MPI_Comm *comms[] = {&l->u.group, &l->data, &l->neighbours};
        for (int c = 0; c < 3; c++)
            if (l->saved.own[0] && *comms[c] != MPI_COMM_NULL) MPI_Comm_free(comms[c]);
        free(l->saved.x);
        free(l->saved.own[0]);
    }
    void *const owned[] = {s->layers, s->output, s->target, s->dy, s->dx, s->other, s};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
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
