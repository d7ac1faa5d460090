/* Data and sub-graph parallelism (Jain et al. 2021): a model of kind branches over g = tp sub-grids of
 * dp ranks.  Ranks of equal place exchange where branches split and join (subgrid.h).
 *
 *      common layers   b/g of a group's b samples on each rank, or all b on the first sub-grid
 *      branches        all b samples, 1/g of the branches
 *
 * Backward the same in reverse.  A fully connected layer adds its bias and takes relu, except
 * beside an attention, whose queries, keys and values are thirds of a branch's rows; an
 * attention has a real softmax.  Activations are features x tokens.
 *
 * Rank r sits in sub-grid r / dp at place r mod dp, where r is the program's number of an MPI
 * rank: the plan's placement says which (linear: the same; round-robin: the paper's
 * topology-aware order).
 *
 * A rank's block, layer by layer: for each of its branches W (rows x inputs), then their biases.
 * With cSub the common layers' parameters of other sub-grids exist and are never touched. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "real/apps/block.h"
#include "real/apps/ffn.h"
#include "real/apps/random.h"
#include "real/apps/subgrid.h"
#include "topology/placement.h"

struct layer {
    int branches; /* of this rank; 1 for a common layer */
    int first;    /* the first of them */
    int in, out;  /* of one branch */
    int tokens;   /* of this rank's samples */
    bool common, attention, relu;
    bool shared; /* its input is one for all branches */
    fr_joint joint_in, joint_out;
    void *w, *b, *dw, *db;
    void *x, *y, *p; /* branches in x tokens (or in x tokens where shared); out; softmax */
};

struct state {
    int n_layers, dp, place, batch, positions; /* batch: of a group */
    struct fr_subgrid grid;                    /* ranks of equal place */
    struct layer *layers;
    MPI_Comm replicas; /* of equal sub-grid */
    void *target;      /* of the last layer */
    void *dy, *dx, *dp_scores;
    int64_t widest; /* values of the largest activation */
};

/* Does this rank compute layer @p l?  Of cSub the first sub-grid alone has the common ones. */
static bool works(const struct state *s, const struct layer *l) {
    return !l->common || !s->grid.c_sub || s->grid.subgrid == 0;
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Of the workload in order; the two entries of an attention, scores and their weighted sum, are one
 * layer here. */
static fr_status make_layers(const struct fr_real_case *run, struct layer **layers, int *n,
                             struct fr_error *err) {
    const struct fr_workload *w = run->workload;
    int g = (int)run->plan->tp, repeats = w->n_layers ? (int)w->layers[0].repeat : 0;
    *n = 0;
    *layers = fr_calloc((size_t)(w->n_layers * repeats) + 1, sizeof **layers);
    if (!*layers) return fr_fail(err, FR_ERR_NOMEM, NULL, "%d layers", w->n_layers);
    for (int r = 0; r < repeats; r++)
        for (int i = 0; i < w->n_layers; i++) {
            const struct fr_layer *from = &w->layers[i];
            struct layer *l = &(*layers)[*n];
            int all = from->branches > 0 ? (int)from->branches : 1;
            if ((int)from->repeat != repeats)
                return fr_fail(err, FR_ERR_INPUT, NULL, "layers that repeat differently");
            l->common = from->branches <= 0;
            l->branches = l->common ? 1 : all / g;
            l->attention = from->weights <= 0;
            l->joint_in = from->joint_in;
            l->joint_out = from->joint_out;
            l->in = (int)from->inner;
            l->out = (int)from->rows / all;
            l->shared = from->joint_in == FR_JOINT_SPLIT;
            if (l->attention) { /* scores: inner is the dim; the sum beside it: rows are */
                if (++i >= w->n_layers)
                    return fr_fail(err, FR_ERR_INPUT, NULL, "half an attention");
                l->joint_out = w->layers[i].joint_out;
                l->out = l->in;
                l->in = 3 * l->out;
            }
            (*n)++;
        }
    for (int i = 0; i < *n; i++) {
        struct layer *l = &(*layers)[i];
        bool before = i > 0 && l[-1].attention, after = i + 1 < *n && l[1].attention;
        l->relu = !l->attention && !before && !after;
    }
    return FR_OK;
}

static fr_status check(const struct fr_real_case *run, struct fr_error *err) {
    const struct fr_plan *plan = run->plan;
    const struct fr_workload *w = run->workload;
    struct layer *layers = NULL;
    int n = 0;
    if (w->n_layers == 0)
        return fr_fail(err, FR_ERR_INPUT, NULL, "the model has no layers; expected branches");
    const char *key = plan->pp != 1              ? "pp"
                      : fr_plan_compresses(plan) ? "compression"
                      : plan->micro_batch && plan->micro_batch * plan->dp != fr_real_batch(run)
                          ? "micro_batch"
                      : plan->placement.row->searches ? "placement"
                                                      : NULL;
    if (key) return fr_fail(err, FR_ERR_INPUT, NULL, "\"%s\" is not run by this program", key);
    FR_TRY(fr_real_divides("the global batch", fr_real_batch(run), "dp", plan->dp, err));
    if (!plan->common_subgrid)
        FR_TRY(fr_real_divides("a group's samples", fr_real_batch(run) / plan->dp, "tp",
                               plan->tp, err));
    for (int i = 0; i < w->n_layers; i++)
        if (w->layers[i].branches > 0)
            FR_TRY(fr_real_divides("the number of branches", (int64_t)w->layers[i].branches,
                                   "tp", plan->tp, err));
    fr_status status = make_layers(run, &layers, &n, err);
    free(layers);
    return status;
}

static int64_t layer_parameters(const struct layer *l) {
    return l->attention ? 0 : (int64_t)l->branches * l->out * (l->in + 1);
}

static int64_t n_parameters(const struct fr_real *real) {
    struct layer *layers = NULL;
    int n = 0;
    int64_t sum = 0;
    if (make_layers(real->run, &layers, &n, NULL) == FR_OK)
        for (int i = 0; i < n; i++) sum += layer_parameters(&layers[i]);
    free(layers);
    return sum;
}

/* This rank's number in the program's numbering, from where the machine's ranks sit. */
static fr_status find_place(struct fr_real *real, struct state *s) {
    const struct fr_plan *plan = real->run->plan;
    int here = 1, most = 1, rank = real->rank;
    MPI_Comm node;
    FR_REAL_TRY(real, MPI_Comm_split_type(real->world, MPI_COMM_TYPE_SHARED, real->rank,
                                          MPI_INFO_NULL, &node));
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    FR_REAL_TRY(real, MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, real->world));
    struct fr_levels levels = {.count = 2};
    levels.level[0].ranks = most;
    levels.level[1].ranks = (int64_t)1 << 40;
    struct fr_mesh mesh = {.size = {plan->tp, 1, plan->dp},
                           .order = {FR_MESH_DP, FR_MESH_PP, FR_MESH_TP}};
    struct fr_placement_ask seating = {
        .levels = &levels, .mesh = &mesh, .choice = &plan->placement};
    int64_t *slot = fr_calloc((size_t)real->n_ranks, sizeof *slot);
    if (!slot) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "%d ranks", real->n_ranks);
    fr_status status = plan->placement.row->place(&seating, slot, real->err);
    for (int r = 0; status == FR_OK && r < real->n_ranks; r++)
        if (slot[r] == real->rank) rank = r;
    free(slot);
    s->grid.subgrid = rank / s->dp;
    s->place = rank % s->dp;
    return status;
}

static fr_status open_layer(struct fr_real *real, struct state *s, struct layer *l, int i,
                            size_t *offset) {
    const struct fr_kernels *k = real->k;
    size_t weights = (size_t)l->branches * (size_t)l->out * (size_t)l->in;
    l->first = l->common ? 0 : s->grid.subgrid * l->branches;
    l->tokens = s->batch * s->positions / (l->common && !s->grid.c_sub ? s->grid.g : 1);
    if (!l->attention) {
        l->w = fr_at(k, real->parameters, *offset);
        l->dw = fr_at(k, real->gradients, *offset);
        l->b = fr_at(k, l->w, weights);
        l->db = fr_at(k, l->dw, weights);
        *offset += (size_t)layer_parameters(l);
        fr_fill_normal(k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * i),
                       (int64_t)l->first * l->out, (int64_t)l->branches * l->out, 0, l->in,
                       l->in, sqrt(2.0 / l->in), l->w);
        /* Not zero, as where all inputs of a row are, relu would stand on its kink. */
        fr_fill_normal(k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * i + 1), 0, 1,
                       (int64_t)l->first * l->out, (int64_t)l->branches * l->out, 1 << 30, 0.1,
                       l->b);
    } else
        l->p = fr_real_alloc(k, (int64_t)l->branches * s->positions * l->tokens);
    int64_t in = (int64_t)l->in * (l->shared ? 1 : l->branches) * l->tokens;
    int64_t out = (int64_t)l->out * l->branches * l->tokens;
    if (in > s->widest) s->widest = in;
    if (out > s->widest) s->widest = out;
    l->x = fr_real_alloc(k, in);
    l->y = fr_real_alloc(k, out);
    if (!l->x || !l->y || (l->attention && !l->p))
        return fr_fail(real->err, FR_ERR_NOMEM, NULL, "activations");
    return FR_OK;
}

/* The samples that enter and leave: common layers stand first and last, or a branch does alone. */
static int64_t first_token(const struct state *s, const struct layer *l) {
    int64_t group = (int64_t)s->place * s->batch * s->positions;
    return group + (l->common && !s->grid.c_sub ? (int64_t)s->grid.subgrid * l->tokens : 0);
}

static fr_status open_data(struct fr_real *real, struct state *s) {
    const struct fr_kernels *k = real->k;
    struct layer *first = &s->layers[0], *last = &s->layers[s->n_layers - 1];
    int64_t all = fr_real_batch(real->run) * s->positions;
    struct fr_ffn_part part = {.sample = first_token(s, first),
                               .samples = first->tokens,
                               .all_samples = all,
                               .x_rows = first->in,
                               .t_rows = last->out};
    void *x = NULL;
    fr_status status =
        fr_ffn_data(k, real->run->seed, first->in, last->out, &part, &x, &s->target, real->err);
    if (status == FR_OK) k->copy(1, first->in * first->tokens, x, 0, first->x, 0);
    free(x);
    return status;
}

static fr_status begin(struct fr_real *real) {
    const struct fr_plan *plan = real->run->plan;
    struct state *s = fr_calloc(1, sizeof *s);
    size_t offset = 0;
    real->state = s;
    if (!s) return fr_fail(real->err, FR_ERR_NOMEM, NULL, "the program's state");
    s->grid.group = s->replicas = MPI_COMM_NULL;
    s->grid.g = (int)plan->tp;
    s->dp = (int)plan->dp;
    s->batch = (int)(fr_real_batch(real->run) / plan->dp);
    s->positions = (int)real->run->workload->layers[0].positions;
    s->grid.c_sub = plan->common_subgrid && s->grid.g > 1;
    s->grid.gather_all = plan->gather_all;
    FR_TRY(find_place(real, s));
    FR_TRY(fr_real_split(real, s->place, s->grid.subgrid, &s->grid.group));
    FR_TRY(fr_real_split(real, s->grid.subgrid, s->place, &s->replicas));
    FR_TRY(make_layers(real->run, &s->layers, &s->n_layers, real->err));
    if (!s->layers[0].common || !s->layers[s->n_layers - 1].common)
        return fr_fail(real->err, FR_ERR_INPUT, NULL,
                       "the first and the last layer must be common");
    for (int i = 0; i < s->n_layers; i++)
        FR_TRY(open_layer(real, s, &s->layers[i], i, &offset));
    const struct fr_real_buffer all[] = {
        {&s->grid.buffer, s->widest * (s->grid.gather_all ? s->grid.g : 1)},
        {&s->dy, s->widest},
        {&s->dx, s->widest},
        {&s->dp_scores, (int64_t)s->positions * s->positions}};
    if (!fr_real_alloc_all(real->k, all, sizeof all / sizeof *all))
        return fr_fail(real->err, FR_ERR_NOMEM, NULL, "activations");
    return open_data(real, s);
}

static void end(struct fr_real *real) {
    struct state *s = real->state;
    for (int i = 0; s->layers && i < s->n_layers; i++) {
        free(s->layers[i].x);
        free(s->layers[i].y);
        free(s->layers[i].p);
    }
    if (s->grid.group != MPI_COMM_NULL) MPI_Comm_free(&s->grid.group);
    if (s->replicas != MPI_COMM_NULL) MPI_Comm_free(&s->replicas);
    void *const owned[] = {s->layers, s->target, s->grid.buffer, s->dy, s->dx, s->dp_scores, s};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static struct fr_block_sizes attention_sizes(const struct state *s, const struct layer *l) {
    return (struct fr_block_sizes){.heads = 1,
                                   .head_dim = l->out,
                                   .sequence = s->positions,
                                   .samples = l->tokens / s->positions};
}

static void forward_layer(struct fr_real *real, const struct state *s, struct layer *l) {
    const struct fr_kernels *k = real->k;
    size_t t = (size_t)l->tokens, in = (size_t)l->in, out = (size_t)l->out;
    for (int i = 0; i < l->branches; i++) {
        const void *x = fr_at(k, l->x, l->shared ? 0 : (size_t)i * in * t);
        void *y = fr_at(k, l->y, (size_t)i * out * t);
        if (l->attention) {
            struct fr_block_sizes z = attention_sizes(s, l);
            size_t softmax = (size_t)i * (size_t)s->positions * t;
            fr_attention_forward(real, &z, x, fr_at(k, l->p, softmax), y);
            continue;
        }
        const void *b = fr_at(k, l->b, (size_t)i * out);
        fr_multiply(real, l->out, l->tokens, l->in, fr_at(k, l->w, (size_t)i * out * in), x, 0,
                    y);
        if (l->relu)
            FR_COMPUTE(real, k->bias_relu(l->out, l->tokens, b, y));
        else
            FR_COMPUTE(real, k->bias(l->out, l->tokens, b, y, y));
    }
}

/* dy of all branches becomes dx; where the input is shared, its sum over them. */
static void backward_layer(struct fr_real *real, const struct state *s, struct layer *l,
                           void *dy, void *dx) {
    const struct fr_kernels *k = real->k;
    size_t t = (size_t)l->tokens, in = (size_t)l->in, out = (size_t)l->out;
    for (int i = 0; i < l->branches; i++) {
        const void *x = fr_at(k, l->x, l->shared ? 0 : (size_t)i * in * t);
        void *d = fr_at(k, dy, (size_t)i * out * t);
        void *into = fr_at(k, dx, l->shared ? 0 : (size_t)i * in * t);
        if (l->attention) {
            struct fr_block_sizes z = attention_sizes(s, l);
            size_t softmax = (size_t)i * (size_t)s->positions * t;
            fr_attention_backward(real, &z, x, fr_at(k, l->p, softmax), d, s->dp_scores, into);
            continue;
        }
        void *db = fr_at(k, l->db, (size_t)i * out), *w = fr_at(k, l->w, (size_t)i * out * in);
        if (l->relu)
            FR_COMPUTE(real, k->relu_backward(l->out, l->tokens,
                                              fr_at(k, l->y, (size_t)i * out * t), d, db));
        else {
            memset(db, 0, out * k->size_B);
            FR_COMPUTE(real, k->row_sums(l->out, l->tokens, d, db));
        }
        fr_add_outer(real, l->out, l->tokens, l->in, d, x, 0,
                     fr_at(k, l->dw, (size_t)i * out * in));
        fr_multiply_back(real, l->out, l->tokens, l->in, w, d, l->shared && i > 0 ? 1 : 0,
                         into);
    }
}

static int64_t leaving(const struct layer *l) {
    return (int64_t)l->out * l->branches * l->tokens;
}

/* What leaves a section before it is joined: of a sum, the sum over this rank's branches. */
static void add_branches(struct fr_real *real, const struct layer *l, const void *y,
                         void *sum) {
    const struct fr_kernels *k = real->k;
    size_t n = (size_t)l->out * (size_t)l->tokens;
    FR_COMPUTE(real, k->copy(1, (int)n, y, 0, sum, 0));
    for (int i = 1; i < l->branches; i++)
        FR_COMPUTE(real, k->add(n, fr_at(k, y, (size_t)i * n), sum));
}

static fr_status forward(struct fr_real *real, struct state *s) {
    const struct fr_kernels *k = real->k;
    for (int i = 0; i < s->n_layers; i++) {
        struct layer *l = &s->layers[i], *next = i + 1 < s->n_layers ? l + 1 : NULL;
        if (works(s, l)) forward_layer(real, s, l);
        if (!next) break;
        const void *y = l->y;
        if (l->joint_out == FR_JOINT_SUM) {
            add_branches(real, l, l->y, s->dx);
            y = s->dx;
        }
        if (l->joint_out != FR_JOINT_NONE) /* to a common layer, or through one's samples */
            FR_TRY(fr_subgrid_collect(
                real, &s->grid, l->joint_out == FR_JOINT_CONCATENATION,
                l->out * (l->joint_out == FR_JOINT_SUM ? 1 : l->branches * s->grid.g),
                next->tokens, (void *)(uintptr_t)y, next->x));
        else if (next->joint_in != FR_JOINT_NONE)
            FR_TRY(fr_subgrid_spread(real, &s->grid, next->joint_in == FR_JOINT_SLICE, l->out,
                                     l->tokens, y, next->x));
        else if (works(s, l))
            FR_COMPUTE(real, k->copy(1, (int)leaving(l), y, 0, next->x, 0));
    }
    return FR_OK;
}

/* dx of layer @p l, in s->dx, becomes dy of the layer before it, in s->dy. */
static fr_status pass_back(struct fr_real *real, struct state *s, const struct layer *l,
                           const struct layer *before) {
    const struct fr_kernels *k = real->k;
    size_t n = (size_t)before->out * (size_t)before->tokens;
    if (before->joint_out != FR_JOINT_NONE) {
        bool slices = before->joint_out == FR_JOINT_CONCATENATION;
        int values = before->out * (slices ? before->branches * s->grid.g : 1);
        FR_TRY(fr_subgrid_spread(real, &s->grid, slices, values, l->tokens, s->dx, s->dy));
        for (int i = 1; !slices && i < before->branches; i++)
            FR_COMPUTE(real, k->copy(1, (int)n, s->dy, 0, fr_at(k, s->dy, (size_t)i * n), 0));
        return FR_OK;
    }
    if (l->joint_in != FR_JOINT_NONE)
        return fr_subgrid_collect(real, &s->grid, l->joint_in == FR_JOINT_SLICE, before->out,
                                  before->tokens, s->dx, s->dy);
    void *dx = s->dx;
    s->dx = s->dy;
    s->dy = dx;
    return FR_OK;
}

static fr_status gradients(struct fr_real *real, double *loss) {
    struct state *s = real->state;
    struct layer *last = &s->layers[s->n_layers - 1];
    double all = (double)fr_real_batch(real->run) * s->positions * last->out, squares = 0;
    FR_TRY(forward(real, s));
    *loss = 0;
    if (works(s, last)) {
        FR_COMPUTE(real, squares = real->k->difference((size_t)leaving(last), last->y,
                                                       s->target, 2 / all, s->dy));
        *loss = squares / all;
    }
    for (int i = s->n_layers - 1; i >= 0; i--) {
        struct layer *l = &s->layers[i];
        if (works(s, l)) backward_layer(real, s, l, s->dy, s->dx);
        bool over_all = l->common && !s->grid.c_sub;
        if (!l->attention && works(s, l) && (over_all ? real->n_ranks : s->dp) > 1)
            FR_TRY(fr_real_all_reduce(real, over_all ? real->world : s->replicas, l->dw,
                                      layer_parameters(l)));
        if (i > 0) FR_TRY(pass_back(real, s, l, l - 1));
    }
    return FR_OK;
}

const struct fr_real_app fr_real_subgraph = {
    .name = "subgraph",
    .summary = "branches (attention heads, MLP parts) over sub-grids, segmented collectives",
    .source =
        "Jain et al., SUPER: SUb-Graph Parallelism for TransformERs, 2021, sections III to V",
    .check = check,
    .n_parameters = n_parameters,
    .open = begin,
    .gradients = gradients,
    .close = end,
};
