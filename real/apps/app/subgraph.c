/* Data and sub-graph parallelism (Jain et al. 2021): a model of kind branches over g = tp sub-grids of
 * dp ranks.  Ranks of equal place exchange where branches split and join (subgrid.h).
 *
 *      common layers   b/g of a group's b samples on each rank, or all b on the first sub-grid
 *      branches        all b samples, 1/g of the branches
 *
 * Backward the same in reverse.  A fully connected layer adds its bias and takes relu, except
 * beside an attention, whose queries, keys and values are thirds of a branch's rows; an
 * attention has a real softmax.  Activations are features x tokens. */
#include <string.h>

#include "real/apps/block.h"
#include "real/apps/ffn.h"
#include "real/apps/subgrid.h"

static struct fr_block_sizes attention_sizes(const struct fr_subgrid *s,
                                             const struct fr_subgrid_layer *l) {
    return (struct fr_block_sizes){.heads = 1,
                                   .head_dim = l->out,
                                   .sequence = s->positions,
                                   .samples = l->tokens / s->positions};
}

static void forward_layer(struct fr_real *real, const struct fr_subgrid *s,
                          struct fr_subgrid_layer *l) {
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
        FR_COMPUTE(real, k->gemm(false, false, l->out, l->tokens, l->in, 1,
                                 fr_at(k, l->w, (size_t)i * out * in), l->in, x, l->tokens, 0,
                                 y, l->tokens));
        if (l->relu)
            FR_COMPUTE(real, k->bias_relu(l->out, l->tokens, b, y));
        else
            FR_COMPUTE(real, k->bias(l->out, l->tokens, b, y, y));
    }
}

/* dy of all branches becomes dx; where the input is shared, its sum over them. */
static void backward_layer(struct fr_real *real, const struct fr_subgrid *s,
                           struct fr_subgrid_layer *l, void *dy, void *dx) {
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
        FR_COMPUTE(real, k->gemm(false, true, l->out, l->in, l->tokens, 1, d, l->tokens, x,
                                 l->tokens, 0, fr_at(k, l->dw, (size_t)i * out * in), l->in));
        FR_COMPUTE(real, k->gemm(true, false, l->in, l->tokens, l->out, 1, w, l->in, d,
                                 l->tokens, l->shared && i > 0 ? 1 : 0, into, l->tokens));
    }
}

static int64_t leaving(const struct fr_subgrid_layer *l) {
    return (int64_t)l->out * l->branches * l->tokens;
}

/* What leaves a section before it is joined: of a sum, the sum over this rank's branches. */
static void add_branches(struct fr_real *real, const struct fr_subgrid_layer *l, const void *y,
                         void *sum) {
    const struct fr_kernels *k = real->k;
    size_t n = (size_t)l->out * (size_t)l->tokens;
    FR_COMPUTE(real, k->copy(1, (int)n, y, 0, sum, 0));
    for (int i = 1; i < l->branches; i++)
        FR_COMPUTE(real, k->add(n, fr_at(k, y, (size_t)i * n), sum));
}

static fr_status forward(struct fr_real *real, struct fr_subgrid *s, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    for (int i = 0; i < s->n_layers; i++) {
        struct fr_subgrid_layer *l = &s->layers[i], *next = i + 1 < s->n_layers ? l + 1 : NULL;
        if (fr_subgrid_works(s, l)) forward_layer(real, s, l);
        if (!next) break;
        const void *y = l->y;
        if (l->joint_out == FR_JOINT_SUM) {
            add_branches(real, l, l->y, s->dx);
            y = s->dx;
        }
        if (l->joint_out != FR_JOINT_NONE) /* to a common layer, or through one's samples */
            FR_TRY(fr_subgrid_collect(
                real, s, l->joint_out == FR_JOINT_CONCATENATION,
                l->out * (l->joint_out == FR_JOINT_SUM ? 1 : l->branches * s->g), next->tokens,
                (void *)(uintptr_t)y, next->x, err));
        else if (next->joint_in != FR_JOINT_NONE)
            FR_TRY(fr_subgrid_spread(real, s, next->joint_in == FR_JOINT_SLICE, l->out,
                                     l->tokens, y, next->x, err));
        else if (fr_subgrid_works(s, l))
            FR_COMPUTE(real, k->copy(1, (int)leaving(l), y, 0, next->x, 0));
    }
    return FR_OK;
}

/* dx of layer @p l, in s->dx, becomes dy of the layer before it, in s->dy. */
static fr_status pass_back(struct fr_real *real, struct fr_subgrid *s,
                           const struct fr_subgrid_layer *l,
                           const struct fr_subgrid_layer *before, struct fr_error *err) {
    const struct fr_kernels *k = real->k;
    size_t n = (size_t)before->out * (size_t)before->tokens;
    if (before->joint_out != FR_JOINT_NONE) {
        bool slices = before->joint_out == FR_JOINT_CONCATENATION;
        int values = before->out * (slices ? before->branches * s->g : 1);
        FR_TRY(fr_subgrid_spread(real, s, slices, values, l->tokens, s->dx, s->dy, err));
        for (int i = 1; !slices && i < before->branches; i++)
            FR_COMPUTE(real, k->copy(1, (int)n, s->dy, 0, fr_at(k, s->dy, (size_t)i * n), 0));
        return FR_OK;
    }
    if (l->joint_in != FR_JOINT_NONE)
        return fr_subgrid_collect(real, s, l->joint_in == FR_JOINT_SLICE, before->out,
                                  before->tokens, s->dx, s->dy, err);
    void *dx = s->dx;
    s->dx = s->dy;
    s->dy = dx;
    return FR_OK;
}

static fr_status gradients(struct fr_real *real, double *loss, struct fr_error *err) {
    struct fr_subgrid *s = real->state;
    struct fr_subgrid_layer *last = &s->layers[s->n_layers - 1];
    double all = (double)fr_real_batch(real->run) * s->positions * last->out, squares = 0;
    FR_TRY(forward(real, s, err));
    *loss = 0;
    if (fr_subgrid_works(s, last)) {
        FR_COMPUTE(real, squares = real->k->difference((size_t)leaving(last), last->y,
                                                       s->target, 2 / all, s->dy));
        *loss = squares / all;
    }
    for (int i = s->n_layers - 1; i >= 0; i--) {
        struct fr_subgrid_layer *l = &s->layers[i];
        if (fr_subgrid_works(s, l)) backward_layer(real, s, l, s->dy, s->dx);
        bool over_all = l->common && !s->c_sub;
        if (!l->attention && fr_subgrid_works(s, l) && (over_all ? real->n_ranks : s->dp) > 1)
            FR_TRY(fr_real_all_reduce(real, over_all ? real->world : s->grid, l->dw,
                                      fr_subgrid_layer_parameters(l), err));
        if (i > 0) FR_TRY(pass_back(real, s, l, l - 1, err));
    }
    return FR_OK;
}

const struct fr_real_app fr_real_subgraph = {
    .name = "subgraph",
    .summary = "branches (attention heads, MLP parts) over sub-grids, segmented collectives",
    .source =
        "Jain et al., SUPER: SUb-Graph Parallelism for TransformERs, 2021, sections III to V",
    .check = fr_subgrid_check,
    .n_parameters = fr_subgrid_parameters,
    .open = fr_subgrid_open,
    .gradients = gradients,
    .close = fr_subgrid_close,
};
