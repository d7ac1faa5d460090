/* A convolution, relu, and the pooling after it, as products (im2col).  The columns of what
 * each window sees, (channels/groups kernel^2) x (positions b), are multiplied with the
 * filters.  A grid's rows are filters, over P_r (Gholami et al. 2017).
 *
 *      forward   y_r = relu(W_r columns + b_r), all-gather of y over P_r, pooling of all of it
 *      backward  of its own rows alone: dy where it was largest, dz_r, dW_r = dz_r columns^T;
 *                partial dx from W_r^T dz_r, all-reduce of it over P_r
 *
 * The gathered y is that before pooling, as Eq. 4 counts it.  Eq. 4 counts as many of the
 * input's gradients as y has; messages here are as long as the input.
 *
 * A rank's block: W_r (filters/P_r x inner), b_r; a group's filters are rows side by side. */
#include <string.h>

#include "real/apps/ffn.h"
#include "real/apps/mesh/unit.h"
#include "real/apps/random.h"

/* Filters of this rank, values that one sees, places of the windows. */
struct sizes {
    int filters, inner, groups;
    struct fr_windows window,
        pool;       /* of a group's channels; of the rank's, where it is pooled */
    int64_t places; /* positions x samples */
};

static struct fr_windows windows_of(const struct fr_window *w, int channels) {
    int64_t stride = w->stride > 0 ? w->stride : 1, around = 2 * w->padding - w->kernel;
    return (struct fr_windows){.channels = channels,
                               .height = (int)w->height,
                               .width = (int)w->width,
                               .kernel = (int)w->kernel,
                               .stride = (int)stride,
                               .padding = (int)w->padding,
                               .rows = (int)((w->height + around) / stride + 1),
                               .columns = (int)((w->width + around) / stride + 1)};
}

static struct sizes sizes_of(const struct fr_unit *u) {
    const struct fr_layer *l = u->layer.convolution;
    struct sizes z = {
        .filters = (int)l->rows / u->tp, .inner = (int)l->inner, .groups = (int)l->groups};
    z.window = windows_of(&l->window, (int)l->window.channels / z.groups);
    z.pool = windows_of(&l->pool, (int)l->rows);
    z.places = (int64_t)l->positions * u->columns;
    return z;
}

static bool pools(const struct fr_unit *u) { return u->layer.convolution->pool.kernel > 0; }

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    if (!u->layer.bias)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "convolutions without biases are not trained here");
    return fr_real_divides("a layer's filters", (int64_t)u->layer.convolution->rows, "tp",
                           u->tp, err);
}

static int64_t parameters(const struct fr_unit *u) {
    const struct sizes z = sizes_of(u);
    return (int64_t)z.filters * (z.inner + 1);
}

static void *biases(const struct fr_real *real, const struct sizes *z, const void *block) {
    return fr_at(real->k, block, (size_t)z->filters * (size_t)z->inner);
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    const struct sizes z = sizes_of(u);
    fr_fill_normal(real->k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * u->index),
                   (int64_t)u->tp_rank * z.filters, z.filters, 0, z.inner, z.inner,
                   fr_ffn_deviation(z.inner), u->w);
}

/* Columns, or their gradients; that of y where it need not last; a bias' gradients. */
static int64_t scratch(const struct fr_unit *u) {
    const struct sizes z = sizes_of(u);
    return z.inner * z.places + z.filters * z.places + z.filters;
}
static void *d_scratch(const struct fr_real *real, const struct fr_unit *u,
                       const struct sizes *z) {
    return fr_at(real->k, u->scratch, (size_t)(z->inner * z->places));
}
static void *bias_scratch(const struct fr_real *real, const struct fr_unit *u,
                          const struct sizes *z) {
    return fr_at(real->k, d_scratch(real, u, z), (size_t)(z->filters * z->places));
}

/* y of all ranks, unless it is the next unit's input; its gradient, where it must last. */
static void keeps(const struct fr_unit *u, int64_t n[3]) {
    const struct sizes z = sizes_of(u);
    n[0] = pools(u) ? z.filters * z.places * u->tp : 0;
    n[1] = u->splits ? z.filters * z.places : 0;
    n[2] = 0;
}

/* This rank's rows of y. */
static void *own(const struct fr_real *real, const struct fr_unit *u, const struct sizes *z,
                 const void *y) {
    return fr_at(real->k, y, (size_t)(u->tp_rank * z->filters * z->places));
}

/* Filters of this rank in group @p g: from its own number @p first on. */
static int in_group(const struct fr_unit *u, const struct sizes *z, int g, int *first) {
    int each = z->filters * u->tp / z->groups, from = g * each, to = from + each,
        low = u->tp_rank * z->filters, high = low + z->filters;
    if (from < low) from = low;
    if (to > high) to = high;
    *first = from - low;
    return to - from;
}

/* Gather into scratch memory what group @p g's windows see of x. */
static void see(struct fr_real *real, const struct fr_unit *u, const struct sizes *z, int g,
                const void *x) {
    size_t before = (size_t)g * (size_t)(z->window.channels * z->window.height) *
                    (size_t)(z->window.width * u->columns);
    FR_COMPUTE(real,
               real->k->see(&z->window, u->columns, fr_at(real->k, x, before), u->scratch));
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                         void *next) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    int n = (int)z.places, first;
    saved->y = pools(u) ? saved->own[0] : next;
    void *local = own(real, u, &z, saved->y);
    for (int g = 0; g < z.groups; g++) {
        int filters = in_group(u, &z, g, &first);
        if (filters <= 0) continue;
        see(real, u, &z, g, saved->x);
        fr_multiply(real, filters, n, z.inner, fr_at(k, u->w, (size_t)(first * z.inner)),
                    u->scratch, 0, fr_at(k, local, (size_t)first * (size_t)n));
    }
    FR_COMPUTE(real, k->bias_relu(z.filters, n, biases(real, &z, u->w), local));
    if (u->tp > 1)
        FR_TRY(
            fr_real_all_gather(real, real->tp, MPI_IN_PLACE, z.filters * z.places, saved->y));
    if (pools(u)) FR_COMPUTE(real, k->pool(&z.pool, u->columns, saved->y, next));
    return FR_OK;
}

/* The gradient of the rank's rows of y before relu, from its rows of dy. */
static void begin(struct fr_real *real, struct fr_unit *u, const struct sizes *z,
                  struct fr_unit_saved *saved, const void *dy) {
    const struct fr_kernels *k = real->k;
    struct fr_windows pool = z->pool;
    int n = (int)z->places, values = z->filters * n;
    const void *y = own(real, u, z, saved->y),
               *local = fr_at(k, dy, (size_t)(u->tp_rank * u->rows * u->columns));
    void *bias = biases(real, z, u->g), *scratch = bias_scratch(real, u, z);
    pool.channels = z->filters;
    saved->d = u->splits ? saved->own[1] : d_scratch(real, u, z);
    if (pools(u)) {
        FR_COMPUTE(real, memset(saved->d, 0, (size_t)values * k->size_B));
        FR_COMPUTE(real, k->pool_backward(&pool, u->columns, y, local, saved->d));
    } else
        FR_COMPUTE(real, k->copy(1, values, local, values, saved->d, values));
    FR_COMPUTE(real, k->relu_backward(z->filters, n, y, saved->d, u->biases ? scratch : bias));
    if (u->biases) FR_COMPUTE(real, k->add((size_t)z->filters, scratch, bias));
    u->biases = true;
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    int n = (int)z.places, first;
    int64_t values = (int64_t)u->in * u->columns, each = values / z.groups;
    begin(real, u, &z, saved, dy);
    FR_COMPUTE(real, memset(dx, 0, (size_t)values * k->size_B));
    for (int g = 0; g < z.groups; g++) {
        int filters = in_group(u, &z, g, &first);
        if (filters <= 0) continue;
        fr_multiply_back(real, filters, n, z.inner, fr_at(k, u->w, (size_t)(first * z.inner)),
                         fr_at(k, saved->d, (size_t)first * (size_t)n), 0, u->scratch);
        FR_COMPUTE(real, k->see_backward(&z.window, u->columns, u->scratch,
                                         fr_at(k, dx, (size_t)(g * each))));
    }
    if (u->tp == 1) return FR_OK;
    return fr_real_all_reduce(real, real->tp, dx, values);
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_saved *saved) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    int n = (int)z.places, first;
    for (int g = 0; g < z.groups; g++) {
        int filters = in_group(u, &z, g, &first);
        if (filters <= 0) continue;
        see(real, u, &z, g, saved->x);
        fr_add_outer(real, filters, n, z.inner, fr_at(k, saved->d, (size_t)first * (size_t)n),
                     u->scratch, u->weights, fr_at(k, u->g, (size_t)(first * z.inner)));
    }
    u->weights = true;
}

static int matrices(const struct fr_real *real, const struct fr_unit *u,
                    struct fr_unit_matrix *out, int capacity) {
    const struct sizes z = sizes_of(u);
    (void)real;
    if (capacity > 0) out[0] = (struct fr_unit_matrix){u->g, z.filters, z.inner};
    return 1;
}

const struct fr_unit_kind fr_unit_convolution = {
    .name = "convolution",
    .check = check,
    .parameters = parameters,
    .fill = fill,
    .scratch = scratch,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = matrices,
};
