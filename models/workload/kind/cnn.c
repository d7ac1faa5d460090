/* Convolutions (with groups, stride, padding and pooling) followed by fully connected layers. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/workload.h"

#include "models/workload/key_rows.h"
static const struct fr_json_key keys[] = {
    FR_KEY_ROW(input, OTHER(), REQUIRED, BY_CODE, "", "`[channels, height, width]`"),
    FR_KEY_ROW(layers, OTHER(), REQUIRED, BY_CODE, "",
               "`{\"type\": \"conv\", \"filters\", \"kernel\", \"stride\" (1), \"padding\" "
               "(0), \"groups\" (1), \"pool\": {\"kernel\", \"stride\", \"padding\"}}` or "
               "`{\"type\": \"full\", \"outputs\"}`; each may have `bias`"),
    {0}};
static const char *const layer_keys[] = {"type",   "filters", "kernel",  "stride", "padding",
                                         "groups", "pool",    "outputs", "bias",   NULL};
static const char *const pool_keys[] = {"kernel", "stride", "padding", NULL};
static const char *const types[] = {"conv", "full", NULL};

struct shape { /* of the values between two layers */
    int64_t channels, height, width;
};

enum { SIZE_MAX_PIXELS = 1 << 20 };

/* Positions of a window of @p kernel that moves by @p stride over @p size padded values. */
static int64_t positions(int64_t size, int64_t kernel, int64_t stride, int64_t padding) {
    return (size + 2 * padding - kernel) / stride + 1;
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

static fr_status read_pool(const struct fr_json *layer, struct shape *at, struct fr_window *w,
                           struct fr_error *err) {
    struct fr_json pool = fr_json_member(layer, "pool");
    if (!fr_json_present(&pool)) return FR_OK;
    FR_TRY(fr_json_object(&pool, pool_keys, err));
    FR_TRY(read_window(&pool, at, w, err));
    at->height = positions(at->height, w->kernel, w->stride, w->padding);
    at->width = positions(at->width, w->kernel, w->stride, w->padding);
    return FR_OK;
}

static fr_status read_conv(const struct fr_json *node, struct shape *at, struct fr_layer *out,
                           struct fr_error *err) {
    struct fr_json groups_node = fr_json_member(node, "groups");
    struct fr_window w;
    int64_t filters = 0, groups = 1;
    bool bias = true;
    FR_TRY(fr_json_get_integer(node, "filters", true, 1, 1 << 24, &filters, err));
    FR_TRY(fr_json_get_integer(node, "groups", false, 1, 1 << 24, &groups, err));
    FR_TRY(fr_json_get_bool(node, "bias", false, &bias, err));
    FR_TRY(read_window(node, at, &w, err));
    if (at->channels % groups != 0 || filters % groups != 0)
        return fr_json_fail(&groups_node, err,
                            "must divide the %" PRId64 " channels and the %" PRId64 " filters",
                            at->channels, filters);
    int64_t height = positions(at->height, w.kernel, w.stride, w.padding);
    int64_t width = positions(at->width, w.kernel, w.stride, w.padding);
    double inner = (double)(at->channels / groups) * (double)w.kernel * (double)w.kernel;
    *out = (struct fr_layer){.repeat = 1,
                             .inputs =
                                 (double)at->channels * (double)at->height * (double)at->width,
                             .outputs = (double)filters * (double)height * (double)width,
                             .rows = (double)filters,
                             .positions = (double)height * (double)width,
                             .inner = inner,
                             .groups = (double)groups,
                             .weights = (double)filters * inner,
                             .biases = bias ? (double)filters : 0,
                             .window = w};
    *at = (struct shape){filters, height, width};
    return read_pool(node, at, &out->pool, err);
}

static fr_status read_full(const struct fr_json *node, struct shape *at, struct fr_layer *out,
                           struct fr_error *err) {
    int64_t outputs = 0;
    bool bias = true;
    FR_TRY(fr_json_get_integer(node, "outputs", true, 1, (int64_t)1 << 32, &outputs, err));
    FR_TRY(fr_json_get_bool(node, "bias", false, &bias, err));
    double inputs = (double)at->channels * (double)at->height * (double)at->width;
    *out = fr_layer_fully_connected(inputs, (double)outputs, bias, 1);
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

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    struct fr_json list = fr_json_member(object, "layers");
    struct shape at = {0};
    FR_TRY(read_input(object, &at, err));
    FR_TRY(fr_json_array(&list, 1, FR_LAYER_MAX, err));
    workload->layers = fr_calloc((size_t)fr_json_array_length(&list), sizeof *workload->layers);
    if (!workload->layers) return fr_json_fail(object, err, "does not fit in memory");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json node = fr_json_element(&list, i);
        int type = 0;
        FR_TRY(fr_json_object(&node, layer_keys, err));
        FR_TRY(fr_json_get_choice(&node, "type", true, types, &type, err));
        struct fr_layer *layer = &workload->layers[workload->n_layers++];
        FR_TRY(type == 0 ? read_conv(&node, &at, layer, err)
                         : read_full(&node, &at, layer, err));
    }
    return FR_OK;
}

const struct fr_kind fr_kind_cnn = {
    .name = "cnn",
    .summary =
        "convolutions and fully connected layers after an input of [channels, height, width]",
    .keys = keys,
    .read = read,
};
