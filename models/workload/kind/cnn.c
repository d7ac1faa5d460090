/* Convolutions (with groups, stride, padding, batch norm and pooling) followed by fully connected layers.
 *
 * A residual block (He et al. 2016) is a list of convolutions whose input is added to what leaves them, as it is or through
 * a convolution of its own, the projection.  Layers stay a list: those of the block, then the projection.  `adds` marks the last
 * of the block's own, `carried` what of the shortcut passes by a layer, which a stage that begins there receives too. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/halo.h"
#include "models/workload/workload.h"

#include "models/workload/key_rows.h"
static const struct fr_json_key keys[] = {
    FR_KEY_ROW(input, OTHER(), REQUIRED, BY_CODE, "", "`[channels, height, width]`"),
    FR_KEY_ROW(layers, OTHER(), REQUIRED, BY_CODE, "",
               "`conv`, `full` and `residual`, see [networks](#layers-of-cnn)"),
    FR_KEY_ROW(sync_norms, BOOL(), OPTIONAL, BY_CODE, "false",
               "batch norms take statistics of all replicas, as PyTorch's SyncBatchNorm"),
    {0}};
static const char *const pool_keys[] = {"kernel", "stride", "padding", NULL};
static const char *const types[] = {"conv", "full", "residual", NULL};
enum { CONV, FULL, RESIDUAL };
static const char *const layer_keys[][10] = {
    [CONV] = {"type", "filters", "kernel", "stride", "padding", "groups", "pool", "norm",
              "bias"},
    [FULL] = {"type", "outputs", "bias"},
    [RESIDUAL] = {"type", "layers", "shortcut", "repeat", "pool"}};

struct shape { /* of the values between two layers */
    int64_t channels, height, width;
};

enum { SIZE_MAX_PIXELS = 1 << 20 };

static double values_of(const struct shape *s) {
    return (double)s->channels * (double)s->height * (double)s->width;
}

static fr_status read_window(const struct fr_json *node, const struct shape *in,
                             struct fr_window *w, struct fr_error *err) {
    *w = (struct fr_window){in->channels, in->height, in->width, .stride = 1};
    struct fr_json kernel = fr_json_member(node, "kernel");
    int64_t smaller = in->height < in->width ? in->height : in->width;
    FR_TRY(fr_json_get_integer(node, "kernel", true, 1, SIZE_MAX_PIXELS, &w->kernel, err));
    FR_TRY(fr_json_get_integer(node, "stride", false, 1, SIZE_MAX_PIXELS, &w->stride, err));
    FR_TRY(fr_json_get_integer(node, "padding", false, 0, SIZE_MAX_PIXELS, &w->padding, err));
    if (w->kernel > smaller + 2 * w->padding)
        return fr_json_fail(&kernel, err,
                            "is %" PRId64 ", larger than what reaches this layer (%" PRId64
                            " x %" PRId64 ", padding %" PRId64 ")",
                            w->kernel, in->height, in->width, w->padding);
    return FR_OK;
}

/* The mean of each channel, where the file says so. */
static fr_status read_mean(const struct fr_json *node, struct shape *at, struct fr_layer *layer,
                           struct fr_error *err) {
    static const char *const words[] = {"average", NULL};
    int word = 0;
    FR_TRY(fr_json_get_choice(node, "pool", true, words, &word, err));
    layer->average = true;
    at->height = at->width = 1;
    return FR_OK;
}

/* That, or the largest of each window. */
static fr_status read_pool(const struct fr_json *node, struct shape *at, struct fr_layer *layer,
                           struct fr_error *err) {
    struct fr_json pool = fr_json_member(node, "pool");
    struct fr_window *w = &layer->pool;
    if (!fr_json_present(&pool)) return FR_OK;
    if (fr_json_is_string(&pool)) return read_mean(node, at, layer, err);
    FR_TRY(fr_json_object(&pool, pool_keys, err));
    FR_TRY(read_window(&pool, at, w, err));
    at->height = fr_window_rows(w);
    at->width = fr_window_columns(w);
    return FR_OK;
}

static fr_status read_conv(const struct fr_json *node, struct shape *at, struct fr_layer *out,
                           struct fr_error *err) {
    struct fr_json groups_node = fr_json_member(node, "groups");
    struct fr_window w;
    int64_t filters = 0, groups = 1;
    bool norm = false;
    FR_TRY(fr_json_get_integer(node, "filters", true, 1, 1 << 24, &filters, err));
    FR_TRY(fr_json_get_integer(node, "groups", false, 1, 1 << 24, &groups, err));
    FR_TRY(fr_json_get_bool(node, "norm", false, &norm, err));
    bool bias = !norm; /* the norm's own shift takes its place */
    FR_TRY(fr_json_get_bool(node, "bias", false, &bias, err));
    FR_TRY(read_window(node, at, &w, err));
    if (at->channels % groups != 0 || filters % groups != 0)
        return fr_json_fail(&groups_node, err,
                            "must divide the %" PRId64 " channels and the %" PRId64 " filters",
                            at->channels, filters);
    int64_t height = fr_window_rows(&w), width = fr_window_columns(&w);
    double inner = (double)(at->channels / groups) * (double)w.kernel * (double)w.kernel;
    *out = (struct fr_layer){.repeat = 1,
                             .inputs = values_of(at),
                             .outputs = (double)filters * (double)height * (double)width,
                             .rows = (double)filters,
                             .positions = (double)height * (double)width,
                             .inner = inner,
                             .groups = (double)groups,
                             .weights = (double)filters * inner,
                             .biases = (double)filters * ((bias ? 1 : 0) + (norm ? 2 : 0)),
                             .window = w,
                             .norm = norm};
    *at = (struct shape){filters, height, width};
    return read_pool(node, at, out, err);
}

static fr_status read_full(const struct fr_json *node, struct shape *at, struct fr_layer *out,
                           struct fr_error *err) {
    int64_t outputs = 0;
    bool bias = true;
    FR_TRY(fr_json_get_integer(node, "outputs", true, 1, (int64_t)1 << 32, &outputs, err));
    FR_TRY(fr_json_get_bool(node, "bias", false, &bias, err));
    *out = fr_layer_fully_connected(values_of(at), (double)outputs, bias, 1);
    out->input_gradients = 0; /* as of the convolutions: what enters was pooled */
    *at = (struct shape){outputs, 1, 1};
    return FR_OK;
}

static fr_status read_input(const struct fr_json *object, struct shape *at,
                            struct fr_error *err) {
    struct fr_json input = fr_json_member(object, "input");
    int64_t *sizes[] = {&at->channels, &at->height, &at->width};
    FR_TRY(fr_json_array(&input, 3, 3, err));
    for (int i = 0; i < 3; i++) {
        struct fr_json node = fr_json_element(&input, i);
        FR_TRY(fr_json_integer(&node, 1, SIZE_MAX_PIXELS, sizes[i], err));
    }
    return FR_OK;
}

/* The type of a layer, which says what keys it may have. */
static fr_status read_type(const struct fr_json *node, int *type, struct fr_error *err) {
    struct fr_json stated = fr_json_member(node, "type");
    if (!fr_json_present(&stated)) /* or misspelt */
        FR_TRY(fr_json_object(node, layer_keys[CONV], err));
    FR_TRY(fr_json_get_choice(node, "type", true, types, type, err));
    return fr_json_object(node, layer_keys[*type], err);
}

/* ---- lists of layers ---------------------------------------------------------------------------- */

static struct fr_layer *next_layer(struct fr_workload *w) { return &w->layers[w->n_layers++]; }

/* Memory for @p n more. */
static fr_status reserve(const struct fr_json *node, struct fr_workload *w, int64_t n,
                         struct fr_error *err) {
    if (w->n_layers + n > FR_LAYER_MAX)
        return fr_json_fail(node, err, "makes more than %d layers", FR_LAYER_MAX);
    struct fr_layer *layers = fr_realloc(w->layers, (size_t)(w->n_layers + n), sizeof *layers);
    if (!layers) return fr_json_fail(node, err, "does not fit in memory");
    w->layers = layers;
    return FR_OK;
}

/* The convolution of a block, which pools nothing. */
static fr_status read_inside(const struct fr_json *node, struct shape *at, struct fr_layer *out,
                             struct fr_error *err) {
    struct fr_json pool = fr_json_member(node, "pool");
    int type = 0;
    FR_TRY(read_type(node, &type, err));
    if (type != CONV)
        return fr_json_fail(node, err, "is \"%s\"; a residual block holds convolutions alone",
                            types[type]);
    if (fr_json_present(&pool))
        return fr_json_fail(&pool, err,
                            "pools inside a residual block, which no network here does");
    return read_conv(node, at, out, err);
}

static bool same_shape(const struct shape *a, const struct shape *b) {
    return a->channels == b->channels && a->height == b->height && a->width == b->width;
}

/* One block: its convolutions, then the projection, if it has one. */
static fr_status read_block(const struct fr_json *node, struct shape *at, struct fr_workload *w,
                            struct fr_error *err) {
    struct fr_json list = fr_json_member(node, "layers"),
                   shortcut = fr_json_member(node, "shortcut");
    const int64_t n = fr_json_array_length(&list);
    struct shape beside = *at;
    const double input = values_of(at);
    FR_TRY(reserve(node, w, n + 1, err));
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(&list, i);
        struct fr_layer *layer = next_layer(w);
        FR_TRY(read_inside(&one, at, layer, err));
        layer->carried = i > 0 ? input : 0;
        layer->adds = i == n - 1;
    }
    if (fr_json_present(&shortcut)) {
        struct fr_layer *layer = next_layer(w);
        FR_TRY(read_inside(&shortcut, &beside, layer, err));
        layer->carried = values_of(at);
        layer->shortcut = true;
    }
    if (!same_shape(at, &beside))
        return fr_json_fail(
            node, err,
            "adds %" PRId64 " x %" PRId64 " x %" PRId64 " to %" PRId64 " x %" PRId64
            " x %" PRId64 "; a \"shortcut\" convolution has to make them alike",
            beside.channels, beside.height, beside.width, at->channels, at->height, at->width);
    return FR_OK;
}

/* Equal blocks, each the input of the next, and what is pooled of the last one's sum. */
static fr_status read_residual(const struct fr_json *node, struct shape *at,
                               struct fr_workload *w, struct fr_error *err) {
    struct fr_json list = fr_json_member(node, "layers"), pool = fr_json_member(node, "pool");
    int64_t repeat = 1;
    FR_TRY(fr_json_get_integer(node, "repeat", false, 1, FR_LAYER_MAX, &repeat, err));
    FR_TRY(fr_json_array(&list, 1, FR_LAYER_MAX, err));
    for (int64_t i = 0; i < repeat; i++) FR_TRY(read_block(node, at, w, err));
    if (!fr_json_present(&pool)) return FR_OK;
    int last = w->n_layers - 1;
    while (!w->layers[last].adds) last--;
    return read_mean(node, at, &w->layers[last], err);
}

static fr_status read_layer(const struct fr_json *node, struct shape *at, struct fr_workload *w,
                            struct fr_error *err) {
    int type = 0;
    FR_TRY(read_type(node, &type, err));
    if (type == RESIDUAL) return read_residual(node, at, w, err);
    FR_TRY(reserve(node, w, 1, err));
    return type == CONV ? read_conv(node, at, next_layer(w), err)
                        : read_full(node, at, next_layer(w), err);
}

/* With shortcuts the ranks that divide the weights add up gradients of a layer's inputs, as a run does; Eq. 4 counts its
 * outputs, and is of networks without. */
static void finish(struct fr_workload *w, bool sync_norms) {
    bool residual = false;
    for (int i = 0; i < w->n_layers; i++) residual |= w->layers[i].adds;
    for (int i = 0; i < w->n_layers; i++) {
        struct fr_layer *layer = &w->layers[i];
        layer->sync_norm = layer->norm && sync_norms;
        if (residual) layer->input_gradients = layer->inputs;
    }
}

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    struct fr_json list = fr_json_member(object, "layers");
    struct shape at = {0};
    bool sync_norms = false;
    FR_TRY(read_input(object, &at, err));
    FR_TRY(fr_json_get_bool(object, "sync_norms", false, &sync_norms, err));
    FR_TRY(fr_json_array(&list, 1, FR_LAYER_MAX, err));
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json node = fr_json_element(&list, i);
        FR_TRY(read_layer(&node, &at, workload, err));
    }
    finish(workload, sync_norms);
    return FR_OK;
}

const struct fr_kind fr_kind_cnn = {
    .name = "cnn",
    .summary =
        "convolutions and fully connected layers after an input of [channels, height, width]",
    .keys = keys,
    .read = read,
};
