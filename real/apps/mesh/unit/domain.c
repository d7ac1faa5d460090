/* A convolution, relu, and the pooling after it, where the tp ranks divide images by height (models/work/domain.h).
 * Every rank has all filters.
 *
 *      forward   halos of x; y = relu(W columns + b) of its own rows; with pooling halos of y.  After the last such layer
 *                all rows are gathered.
 *      backward  dy where it was largest; dz; dx; dW = dz columns^T, which all tp ranks add up once an iteration.  Gradients
 *                of halos go back to their owners, which add them
 *
 * Images keep their whole size in memory: rows of others are not read.  Windows slide over a slab, the rows that they see
 * with the zeros around them.
 *
 * A rank's block: W (filters x inner), b. */
#include <string.h>

#include "models/work/domain.h"
#include "models/workload/halo.h"
#include "real/apps/ffn.h"
#include "real/apps/mesh/unit.h"
#include "real/apps/random.h"

enum { TAG = 7 };

/* An image of whole size, channels x height x width values x samples. */
struct image {
    int channels, height, width, samples;
    struct fr_rows own; /* this rank's */
};

struct sizes {
    int filters, inner, groups;
    struct fr_window window, pool;
    struct image x, y, out; /* out: after pooling */
};

static struct image image_of(const struct fr_unit *u, int64_t channels, int64_t height,
                             int64_t width) {
    return (struct image){(int)channels, (int)height, (int)width, u->columns,
                          fr_rows_of(height, u->tp, u->tp_rank)};
}

static bool pools(const struct fr_unit *u) { return u->layer.convolution->pool.kernel > 0; }

static struct sizes sizes_of(const struct fr_unit *u) {
    const struct fr_layer *l = u->layer.convolution;
    const struct fr_window *w = &l->window, *pool = &l->pool;
    struct sizes z = {.filters = (int)l->rows,
                      .inner = (int)l->inner,
                      .groups = (int)l->groups,
                      .window = *w,
                      .pool = *pool};
    z.x = image_of(u, w->channels, w->height, w->width);
    z.y = image_of(u, z.filters, fr_window_rows(w), fr_window_columns(w));
    z.out =
        pools(u) ? image_of(u, z.filters, fr_window_rows(pool), fr_window_columns(pool)) : z.y;
    return z;
}

static int64_t values_of(const struct image *i) {
    return (int64_t)i->channels * i->height * i->width * i->samples;
}

static int height_of(struct fr_rows rows) { return (int)(rows.to - rows.from); }

/* ---- rows and slabs ------------------------------------------------------------------------------ */

/* Between rows of an image and the same of all its channels one after another. */
static void move(struct fr_real *real, const struct image *i, struct fr_rows rows, bool out,
                 void *image, void *packed) {
    const int n = i->width * i->samples, count = height_of(rows) * n;
    for (int c = 0; c < i->channels; c++) {
        void *at = fr_at(real->k, image, (size_t)(c * i->height + rows.from) * (size_t)n),
             *to = fr_at(real->k, packed, (size_t)c * (size_t)count);
        if (out)
            FR_COMPUTE(real, real->k->copy(1, count, to, count, at, count));
        else
            FR_COMPUTE(real, real->k->copy(1, count, at, count, to, count));
    }
}

static void add_rows(struct fr_real *real, const struct image *i, struct fr_rows rows,
                     const void *packed, void *image) {
    const int n = i->width * i->samples, count = height_of(rows) * n;
    for (int c = 0; c < i->channels; c++)
        FR_COMPUTE(real,
                   real->k->add(
                       (size_t)count, fr_at(real->k, packed, (size_t)c * (size_t)count),
                       fr_at(real->k, image, (size_t)(c * i->height + rows.from) * (size_t)n)));
}

/* The rows that the windows of rows @p made see, with the zeros around them. */
static struct fr_windows slab_of(const struct fr_window *w, const struct image *i, int groups,
                                 struct fr_rows made) {
    int rows = height_of(made);
    return (struct fr_windows){.channels = i->channels / groups,
                               .height = (rows - 1) * (int)w->stride + (int)w->kernel,
                               .width = i->width + 2 * (int)w->padding,
                               .kernel = (int)w->kernel,
                               .stride = (int)w->stride,
                               .rows = rows,
                               .columns = (int)fr_window_columns(w)};
}

/* Rows of the image in a slab, whose first row is @p first. */
static struct fr_rows within(const struct fr_window *w, const struct fr_windows *s,
                             const struct image *i, struct fr_rows made, int64_t *first) {
    *first = made.from * w->stride - w->padding;
    struct fr_rows rows = {*first, *first + s->height};
    if (rows.from < 0) rows.from = 0;
    if (rows.to > i->height) rows.to = i->height;
    return rows;
}

static size_t slab_at(const struct fr_window *w, const struct fr_windows *s,
                      const struct image *i, int channel, int64_t row) {
    return (((size_t)channel * (size_t)s->height + (size_t)row) * (size_t)s->width +
            (size_t)w->padding) *
           (size_t)i->samples;
}

static void load(struct fr_real *real, const struct fr_window *w, const struct fr_windows *s,
                 const struct image *i, struct fr_rows made, const void *image, void *slab) {
    const struct fr_kernels *k = real->k;
    const int n = i->width * i->samples;
    int64_t first;
    struct fr_rows rows = within(w, s, i, made, &first);
    FR_COMPUTE(real, memset(slab, 0,
                            (size_t)i->channels * (size_t)(s->height * s->width * i->samples) *
                                k->size_B));
    for (int c = 0; c < i->channels; c++)
        FR_COMPUTE(real,
                   k->copy(height_of(rows), n,
                           fr_at(k, image, (size_t)(c * i->height + rows.from) * (size_t)n), n,
                           fr_at(k, slab, slab_at(w, s, i, c, rows.from - first)),
                           s->width * i->samples));
}

/* Add a slab's rows to the image. */
static void unload(struct fr_real *real, const struct fr_window *w, const struct fr_windows *s,
                   const struct image *i, struct fr_rows made, const void *slab, void *image) {
    const struct fr_kernels *k = real->k;
    const size_t n = (size_t)(i->width * i->samples);
    int64_t first;
    struct fr_rows rows = within(w, s, i, made, &first);
    for (int c = 0; c < i->channels; c++)
        for (int64_t r = rows.from; r < rows.to; r++)
            FR_COMPUTE(real, k->add(n, fr_at(k, slab, slab_at(w, s, i, c, r - first)),
                                    fr_at(k, image, (size_t)(c * i->height + r) * n)));
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* The largest of what a slab or a strip of rows may hold. */
static int64_t largest(const struct sizes *z) {
    int64_t slab = (int64_t)z->x.channels * (z->x.height + 2 * z->window.padding) *
                   (z->x.width + 2 * z->window.padding) * z->x.samples,
            pooled = (int64_t)z->filters * (z->y.height + 2 * z->pool.padding) *
                     (z->y.width + 2 * z->pool.padding) * z->x.samples;
    return slab > pooled ? slab : pooled;
}

enum { SLAB, D_SLAB, STRIP, OTHER, BIG }; /* scratch memory of the largest size */

static void *big(const struct fr_real *real, const struct fr_unit *u, const struct sizes *z,
                 int which) {
    return fr_at(real->k, u->scratch, (size_t)which * (size_t)largest(z));
}
/* As large as y: its values, their gradient. */
static void *full(const struct fr_real *real, const struct fr_unit *u, const struct sizes *z,
                  int which) {
    return fr_at(real->k, big(real, u, z, BIG), (size_t)which * (size_t)values_of(&z->y));
}
static void *columns_of(const struct fr_real *real, const struct fr_unit *u,
                        const struct sizes *z) {
    return full(real, u, z, 2);
}
static void *bias_scratch(const struct fr_real *real, const struct fr_unit *u,
                          const struct sizes *z) {
    return fr_at(real->k, columns_of(real, u, z),
                 (size_t)z->inner * (size_t)(values_of(&z->y) / z->filters));
}

static int64_t scratch(const struct fr_unit *u) {
    const struct sizes z = sizes_of(u);
    return BIG * largest(&z) + 2 * values_of(&z.y) + z.inner * (values_of(&z.y) / z.filters) +
           z.filters;
}

static void keeps(const struct fr_unit *u, int64_t n[3]) {
    const struct sizes z = sizes_of(u);
    n[0] = pools(u) ? values_of(&z.y) : 0;
    n[1] = values_of(&z.y); /* the gradient of own rows */
    n[2] = 0;
}

static int64_t parameters(const struct fr_unit *u) {
    const struct sizes z = sizes_of(u);
    return (int64_t)z.filters * (z.inner + 1);
}

/* Each rank has the gradients of its rows. */
static int64_t partial(const struct fr_unit *u, int part) {
    return part > 0 ? 0 : parameters(u);
}

static void *biases(const struct fr_real *real, const struct sizes *z, const void *block) {
    return fr_at(real->k, block, (size_t)z->filters * (size_t)z->inner);
}

static void fill(const struct fr_real *real, struct fr_unit *u) {
    const struct sizes z = sizes_of(u);
    fr_fill_normal(real->k, real->run->seed, (uint64_t)(FR_STREAM_LAYER + 64 * u->index), 0,
                   z.filters, 0, z.inner, z.inner, fr_ffn_deviation(z.inner), u->w);
}

static fr_status check(const struct fr_unit *u, struct fr_error *err) {
    const struct sizes z = sizes_of(u);
    const struct image *images[] = {&z.x, &z.y, &z.out};
    if (!u->layer.bias)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "convolutions without biases are not trained here");
    if (u->run->plan->pp > 1)
        return fr_fail(err, FR_ERR_INPUT, NULL, "domain is run with pp 1");
    for (int k = 0; k < 3; k++)
        FR_TRY(fr_real_divides("the height of an image", images[k]->height, "tp", u->tp, err));
    if (!fr_halo_fits(&z.window, u->tp) || (pools(u) && !fr_halo_fits(&z.pool, u->tp)))
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "a window reaches beyond a rank's direct neighbours");
    return FR_OK;
}

/* ---- halos --------------------------------------------------------------------------------------- */

/* Rows that go to one neighbour, and those that come from the other.  Every rank takes part, with no rows at an end. */
static fr_status pass_on(struct fr_real *real, const struct fr_unit *u, const struct sizes *z,
                         const struct image *i, struct fr_rows sent, int to,
                         struct fr_rows received, int from, bool adds, void *image) {
    const int64_t n = (int64_t)i->channels * i->width * i->samples;
    void *out = big(real, u, z, STRIP), *in = big(real, u, z, OTHER);
    MPI_Request request[2];
    FR_TRY(fr_real_receive_begin(real, real->tp,
                                 from < 0 || from >= u->tp ? MPI_PROC_NULL : from, TAG, in,
                                 height_of(received) * n, &request[0]));
    move(real, i, sent, false, image, out);
    FR_TRY(fr_real_send_begin(real, real->tp, to < 0 || to >= u->tp ? MPI_PROC_NULL : to, TAG,
                              out, height_of(sent) * n, &request[1]));
    FR_TRY(fr_real_wait(real, &request[0]));
    FR_TRY(fr_real_wait(real, &request[1]));
    if (adds)
        add_rows(real, i, received, in, image);
    else
        move(real, i, received, true, image, in);
    return FR_OK;
}

static struct fr_halo at_rank(const struct fr_window *w, const struct fr_unit *u, int r) {
    return r < 0 || r >= u->tp ? (struct fr_halo){0, 0} : fr_halo_of(w, u->tp, r);
}

/* Rows go down, then up, unless nobody has any.  @p back: their gradients return, to be added. */
static fr_status exchange(struct fr_real *real, const struct fr_unit *u, const struct sizes *z,
                          const struct image *i, const struct fr_window *w, bool back,
                          void *image) {
    const int r = u->tp_rank, up = r - 1, down = r + 1;
    const struct fr_halo mine = at_rank(w, u, r), most = fr_halo_most(w, u->tp);
    const int64_t a = i->own.from, b = i->own.to, lower = at_rank(w, u, down).above,
                  upper = at_rank(w, u, up).below;
    const struct fr_rows above = {a - mine.above, a}, below = {b, b + mine.below},
                         to_lower = {b - lower, b}, to_upper = {a, a + upper};
    if (most.above > 0)
        FR_TRY(back ? pass_on(real, u, z, i, above, up, to_lower, down, true, image)
                    : pass_on(real, u, z, i, to_lower, down, above, up, false, image));
    if (most.below > 0)
        FR_TRY(back ? pass_on(real, u, z, i, below, down, to_upper, up, true, image)
                    : pass_on(real, u, z, i, to_upper, up, below, down, false, image));
    return FR_OK;
}

/* All rows to all, after the last divided layer. */
static fr_status gather(struct fr_real *real, const struct fr_unit *u, const struct sizes *z,
                        void *image) {
    const struct image *i = &z->out;
    const int64_t n = values_of(i) / u->tp;
    void *all = big(real, u, z, SLAB), *own = big(real, u, z, STRIP);
    if (u->index + 1 != u->run->plan->domain) return FR_OK;
    move(real, i, i->own, false, image, own);
    FR_TRY(fr_real_all_gather(real, real->tp, own, n, all));
    for (int r = 0; r < u->tp; r++)
        move(real, i, fr_rows_of(i->height, u->tp, r), true, image,
             fr_at(real->k, all, (size_t)r * (size_t)n));
    return FR_OK;
}

/* ---- passes -------------------------------------------------------------------------------------- */

/* Into the columns of group @p g's windows. */
static void see(struct fr_real *real, const struct fr_unit *u, const struct sizes *z,
                const struct fr_windows *s, int g) {
    size_t each = (size_t)s->channels * (size_t)(s->height * s->width * u->columns);
    FR_COMPUTE(real, real->k->see(s, u->columns,
                                  fr_at(real->k, big(real, u, z, SLAB), (size_t)g * each),
                                  columns_of(real, u, z)));
}

static fr_status forward(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                         void *next) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct fr_windows s = slab_of(&z.window, &z.x, z.groups, z.y.own);
    const int n = height_of(z.y.own) * z.y.width * u->columns, each = z.filters / z.groups;
    void *local = full(real, u, &z, 0);
    saved->y = pools(u) ? saved->own[0] : next;
    FR_TRY(exchange(real, u, &z, &z.x, &z.window, false, saved->x));
    load(real, &z.window, &s, &z.x, z.y.own, saved->x, big(real, u, &z, SLAB));
    for (int g = 0; g < z.groups; g++) {
        see(real, u, &z, &s, g);
        fr_multiply(real, each, n, z.inner, fr_at(k, u->w, (size_t)(g * each * z.inner)),
                    columns_of(real, u, &z), 0,
                    fr_at(k, local, (size_t)(g * each) * (size_t)n));
    }
    FR_COMPUTE(real, k->bias_relu(z.filters, n, biases(real, &z, u->w), local));
    move(real, &z.y, z.y.own, true, saved->y, local);
    if (pools(u)) {
        const struct fr_windows p = slab_of(&z.pool, &z.y, 1, z.out.own);
        FR_TRY(exchange(real, u, &z, &z.y, &z.pool, false, saved->y));
        load(real, &z.pool, &p, &z.y, z.out.own, saved->y, big(real, u, &z, SLAB));
        FR_COMPUTE(real,
                   k->pool(&p, u->columns, big(real, u, &z, SLAB), big(real, u, &z, D_SLAB)));
        move(real, &z.out, z.out.own, true, next, big(real, u, &z, D_SLAB));
    }
    return gather(real, u, &z, next);
}

/* The gradient of own rows of y, before pooling. */
static fr_status before_pooling(struct fr_real *real, struct fr_unit *u, const struct sizes *z,
                                struct fr_unit_saved *saved, void *dy) {
    const struct fr_kernels *k = real->k;
    void *d = full(real, u, z, 1), *slab = big(real, u, z, SLAB),
         *d_slab = big(real, u, z, D_SLAB), *packed = big(real, u, z, STRIP);
    if (!pools(u)) {
        move(real, &z->y, z->y.own, false, dy, saved->d);
        return FR_OK;
    }
    const struct fr_windows p = slab_of(&z->pool, &z->y, 1, z->out.own);
    FR_COMPUTE(real, memset(d, 0, (size_t)values_of(&z->y) * k->size_B));
    FR_COMPUTE(real, memset(d_slab, 0,
                            (size_t)p.channels * (size_t)(p.height * p.width * u->columns) *
                                k->size_B));
    load(real, &z->pool, &p, &z->y, z->out.own, saved->y, slab);
    move(real, &z->out, z->out.own, false, dy, packed);
    FR_COMPUTE(real, k->pool_backward(&p, u->columns, slab, packed, d_slab));
    unload(real, &z->pool, &p, &z->y, z->out.own, d_slab, d);
    FR_TRY(exchange(real, u, z, &z->y, &z->pool, true, d));
    move(real, &z->y, z->y.own, false, d, saved->d);
    return FR_OK;
}

/* The gradient of own rows of y, before relu. */
static void before_relu(struct fr_real *real, struct fr_unit *u, const struct sizes *z,
                        struct fr_unit_saved *saved) {
    const struct fr_kernels *k = real->k;
    const int n = height_of(z->y.own) * z->y.width * u->columns;
    void *bias = biases(real, z, u->g), *own = bias_scratch(real, u, z),
         *y = full(real, u, z, 0);
    move(real, &z->y, z->y.own, false, saved->y, y);
    FR_COMPUTE(real, k->relu_backward(z->filters, n, y, saved->d, u->biases ? own : bias));
    if (u->biases) FR_COMPUTE(real, k->add((size_t)z->filters, own, bias));
    u->biases = true;
}

static fr_status input(struct fr_real *real, struct fr_unit *u, struct fr_unit_saved *saved,
                       void *dy, void *dx) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct fr_windows s = slab_of(&z.window, &z.x, z.groups, z.y.own);
    const int n = height_of(z.y.own) * z.y.width * u->columns, each = z.filters / z.groups;
    size_t slab = (size_t)s.channels * (size_t)(s.height * s.width * u->columns);
    void *seen = big(real, u, &z, D_SLAB), *columns = columns_of(real, u, &z);
    saved->d = saved->own[1];
    FR_TRY(before_pooling(real, u, &z, saved, dy));
    before_relu(real, u, &z, saved);
    FR_COMPUTE(real, memset(dx, 0, (size_t)values_of(&z.x) * k->size_B));
    FR_COMPUTE(real, memset(seen, 0, (size_t)z.groups * slab * k->size_B));
    for (int g = 0; g < z.groups; g++) {
        fr_multiply_back(real, each, n, z.inner, fr_at(k, u->w, (size_t)(g * each * z.inner)),
                         fr_at(k, saved->d, (size_t)(g * each) * (size_t)n), 0, columns);
        FR_COMPUTE(real,
                   k->see_backward(&s, u->columns, columns, fr_at(k, seen, (size_t)g * slab)));
    }
    unload(real, &z.window, &s, &z.x, z.y.own, seen, dx);
    return exchange(real, u, &z, &z.x, &z.window, true, dx);
}

static void weight(struct fr_real *real, struct fr_unit *u, const struct fr_unit_saved *saved) {
    const struct fr_kernels *k = real->k;
    const struct sizes z = sizes_of(u);
    const struct fr_windows s = slab_of(&z.window, &z.x, z.groups, z.y.own);
    const int n = height_of(z.y.own) * z.y.width * u->columns, each = z.filters / z.groups;
    load(real, &z.window, &s, &z.x, z.y.own, saved->x, big(real, u, &z, SLAB));
    for (int g = 0; g < z.groups; g++) {
        see(real, u, &z, &s, g);
        fr_add_outer(real, each, n, z.inner, fr_at(k, saved->d, (size_t)(g * each) * (size_t)n),
                     columns_of(real, u, &z), u->weights,
                     fr_at(k, u->g, (size_t)(g * each * z.inner)));
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

const struct fr_unit_kind fr_unit_domain = {
    .name = "domain",
    .check = check,
    .parameters = parameters,
    .partial = partial,
    .fill = fill,
    .scratch = scratch,
    .keeps = keeps,
    .forward = forward,
    .input = input,
    .weight = weight,
    .matrices = matrices,
};
