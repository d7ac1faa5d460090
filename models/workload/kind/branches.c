/* Common layers and sections of parallel branches, in the order in which samples meet them:
 *
 *      "layers": [ {"out": 512}, {"branches": 8, "split": "slice", "join": "concatenation",
 *                                 "layers": [{"out": 64}, {"attention": 64}]}, {"out": 512} ]
 *
 * A section's split "copy"s its input to every branch or "slice"s it, its join "sum"s or
 * concatenates; "repeat" stands for that many of the whole.  A layer is fully connected over each of the
 * sample's "positions", or the scores and weighted sum of an attention over all of them. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/workload.h"

static const char *const layer_keys[] = {"out", "bias", NULL};
static const char *const attention_keys[] = {"attention", NULL};
static const char *const section_keys[] = {"branches", "split", "join", "layers", NULL};
static const char *const splits[] = {"copy", "slice", NULL};
static const char *const joins[] = {"sum", "concatenation", NULL};

enum { WIDTH_MAX = 1 << 26 };

struct whole {
    int64_t width, positions, repeat;
    bool bias;
};

#define INTO struct whole
#include "models/workload/key_rows.h"
static const struct fr_json_key keys[] = {
    FR_KEY_ROW(width, INTEGER(1, WIDTH_MAX), REQUIRED, TAKEN(width), "",
               "of a sample's values at each of its `positions`"),
    FR_KEY_ROW(positions, INTEGER(1, WIDTH_MAX), OPTIONAL, TAKEN(positions), "1",
               "of a sample"),
    FR_KEY_ROW(repeat, INTEGER(1, FR_LAYER_MAX), OPTIONAL, TAKEN(repeat), "1", "of the whole"),
    FR_KEY_ROW(layers, OTHER(), REQUIRED, BY_CODE, "",
               "common layers `{\"out\": 512}` and sections of branches. See "
               "[docs/reference/model-keys.md](model-keys.md#layers-of-branches)"),
    FR_KEY_ROW(bias, BOOL(), OPTIONAL, TAKEN(bias), "true", "layers have biases"),
    {0}};

struct reader {
    struct fr_workload *workload;
    double positions;
    bool bias;
    int64_t width; /* of what reaches the next layer, on one branch */
};

static struct fr_layer *append(struct reader *r, const struct fr_json *node,
                               struct fr_error *err) {
    struct fr_workload *w = r->workload;
    if (w->n_layers == FR_LAYER_MAX) {
        fr_json_fail(node, err, "is layer %d; at most %d are read", w->n_layers + 1,
                     FR_LAYER_MAX);
        return NULL;
    }
    struct fr_layer *grown = fr_realloc(w->layers, (size_t)(w->n_layers + 1), sizeof *grown);
    if (!grown) {
        fr_json_fail(node, err, "does not fit in memory");
        return NULL;
    }
    w->layers = grown;
    w->layers[w->n_layers] = (struct fr_layer){.repeat = 1};
    return &w->layers[w->n_layers++];
}

/* `count` equal branches (1: a common layer) of a rows x inner product over the positions. */
static struct fr_layer layer_of(const struct reader *r, double count, double rows, double inner,
                                double inputs, bool weights, bool bias) {
    return (struct fr_layer){.repeat = 1,
                             .inputs = inputs * count,
                             .outputs = rows * r->positions * count,
                             .rows = rows * count,
                             .positions = r->positions,
                             .inner = inner,
                             .groups = count,
                             .weights = weights ? rows * inner * count : 0,
                             .biases = weights && bias ? rows * count : 0};
}

/* An attention whose queries, keys and values are thirds of the width: scores, then their
 * weighted sum.  Neither has parameters. */
static fr_status read_attention(struct reader *r, const struct fr_json *node, double count,
                                struct fr_error *err) {
    int64_t dim = 0;
    struct fr_json at = fr_json_member(node, "attention");
    FR_TRY(fr_json_object(node, attention_keys, err));
    FR_TRY(fr_json_get_integer(node, "attention", true, 1, WIDTH_MAX, &dim, err));
    if (r->width != 3 * dim)
        return fr_json_fail(&at, err,
                            "is %" PRId64
                            ": queries, keys and values of that many values need a "
                            "width of %" PRId64 " before it, which is %" PRId64,
                            dim, 3 * dim, r->width);
    struct fr_layer *scores = append(r, node, err);
    if (!scores) return err ? err->status : FR_ERR_INPUT;
    *scores = layer_of(r, count, r->positions, (double)dim, (double)r->width * r->positions,
                       false, false);
    scores->softmax = true;
    struct fr_layer *sum = append(r, node, err);
    if (!sum) return err ? err->status : FR_ERR_INPUT;
    *sum = layer_of(r, count, (double)dim, r->positions, r->positions * r->positions, false,
                    false);
    r->width = dim;
    return FR_OK;
}

static fr_status read_layer(struct reader *r, const struct fr_json *node, double count,
                            struct fr_error *err) {
    struct fr_json attention = fr_json_member(node, "attention");
    int64_t out = 0;
    bool bias = r->bias;
    if (fr_json_present(&attention)) return read_attention(r, node, count, err);
    FR_TRY(fr_json_object(node, layer_keys, err));
    FR_TRY(fr_json_get_integer(node, "out", true, 1, WIDTH_MAX, &out, err));
    FR_TRY(fr_json_get_bool(node, "bias", false, &bias, err));
    struct fr_layer *layer = append(r, node, err);
    if (!layer) return err ? err->status : FR_ERR_INPUT;
    *layer = layer_of(r, count, (double)out, (double)r->width, (double)r->width * r->positions,
                      true, bias);
    /* One fully connected layer like any other, where nothing makes it otherwise. */
    layer->fully_connected = count <= 1 && r->positions <= 1;
    r->width = out;
    return FR_OK;
}

static fr_status read_section(struct reader *r, const struct fr_json *node,
                              struct fr_error *err) {
    struct fr_json list = fr_json_member(node, "layers"),
                   branches_node = fr_json_member(node, "branches");
    int64_t branches = 0, before = r->width;
    int split = 0, join = 0, first = r->workload->n_layers;
    FR_TRY(fr_json_object(node, section_keys, err));
    FR_TRY(fr_json_get_integer(node, "branches", true, 1, 1 << 20, &branches, err));
    FR_TRY(fr_json_get_choice(node, "split", false, splits, &split, err));
    FR_TRY(fr_json_get_choice(node, "join", false, joins, &join, err));
    FR_TRY(fr_json_array(&list, 1, FR_LAYER_MAX, err));
    if (split == 1 && r->width % branches != 0)
        return fr_json_fail(&branches_node, err,
                            "is %" PRId64 ", which does not divide the %" PRId64
                            " values to be sliced",
                            branches, r->width);
    if (split == 1) r->width /= branches;
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json one = fr_json_element(&list, i);
        FR_TRY(read_layer(r, &one, (double)branches, err));
    }
    if (join == 1) r->width *= branches;
    struct fr_layer *layers = r->workload->layers;
    for (int k = first; k < r->workload->n_layers; k++) layers[k].branches = (double)branches;
    layers[first].joint_in = split == 1 ? FR_JOINT_SLICE : FR_JOINT_SPLIT;
    if (split == 0) layers[first].inputs = (double)before * r->positions; /* one copy's */
    layers[r->workload->n_layers - 1].joint_out =
        join == 1 ? FR_JOINT_CONCATENATION : FR_JOINT_SUM;
    return FR_OK;
}

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    struct fr_json list = fr_json_member(object, "layers");
    struct reader r = {.workload = workload};
    struct whole whole = {.positions = 1, .repeat = 1, .bias = true};
    FR_TRY(fr_json_read_keys(object, keys, &whole, err));
    FR_TRY(fr_json_array(&list, 1, FR_LAYER_MAX, err));
    r.width = whole.width;
    r.positions = (double)whole.positions;
    r.bias = whole.bias;
    const int64_t repeat = whole.repeat;
    int64_t width = r.width, n = fr_json_array_length(&list);
    for (int64_t i = 0; i < n * repeat; i++) {
        if (i == n && r.width != width)
            return fr_json_fail(&list, err,
                                "ends with %" PRId64 " values where it begins with %" PRId64
                                ": it cannot be repeated",
                                r.width, width);
        struct fr_json node = fr_json_element(&list, i % n);
        struct fr_json branches = fr_json_member(&node, "branches");
        FR_TRY(fr_json_present(&branches) ? read_section(&r, &node, err)
                                          : read_layer(&r, &node, 1, err));
    }
    return FR_OK;
}

const struct fr_kind fr_kind_branches = {
    .name = "branches",
    .summary =
        "common layers and sections of parallel branches (split, slice, sum, concatenation)",
    .keys = keys,
    .read = read,
};
