/* Fully connected layers of any widths. */
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/workload.h"

#include "models/workload/key_rows.h"
static const struct fr_json_key keys[] = {
    FR_KEY_ROW(layers, OTHER(), REQUIRED, BY_CODE, "",
               "widths `[784, 512, 10]`, or `[{\"in\": 784, \"out\": 512}, {\"out\": 10}]`"),
    FR_KEY_ROW(bias, BOOL(), OPTIONAL, BY_CODE, "true", "layers have biases"),
    {0}};
static const char *const layer_keys[] = {"in", "out", "bias", NULL};

enum { WIDTH_BITS = 32 };

/* "layers": [784, 512, 10] gives the widths between the layers. */
static fr_status read_widths(const struct fr_json *list, bool bias,
                             struct fr_workload *workload, struct fr_error *err) {
    int64_t before = 0;
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json node = fr_json_element(list, i);
        int64_t width = 0;
        FR_TRY(fr_json_integer(&node, 1, (int64_t)1 << WIDTH_BITS, &width, err));
        if (i > 0)
            workload->layers[workload->n_layers++] =
                fr_layer_fully_connected((double)before, (double)width, bias, 1);
        before = width;
    }
    return FR_OK;
}

/* "layers": [{"in": 784, "out": 512}, ...] names both ends of each. */
static fr_status read_layers(const struct fr_json *list, bool bias,
                             struct fr_workload *workload, struct fr_error *err) {
    int64_t before = 0;
    for (int64_t i = 0; i < fr_json_array_length(list); i++) {
        struct fr_json node = fr_json_element(list, i), in = fr_json_member(&node, "in");
        int64_t inputs = before, outputs = 0;
        bool own_bias = bias;
        FR_TRY(fr_json_object(&node, layer_keys, err));
        FR_TRY(fr_json_get_integer(&node, "in", i == 0, 1, (int64_t)1 << WIDTH_BITS, &inputs,
                                   err));
        FR_TRY(fr_json_get_integer(&node, "out", true, 1, (int64_t)1 << WIDTH_BITS, &outputs,
                                   err));
        FR_TRY(fr_json_get_bool(&node, "bias", false, &own_bias, err));
        if (i > 0 && inputs != before)
            return fr_json_fail(&in, err,
                                "does not continue the layer before, whose \"out\" is %lld",
                                (long long)before);
        workload->layers[workload->n_layers++] =
            fr_layer_fully_connected((double)inputs, (double)outputs, own_bias, 1);
        before = outputs;
    }
    return FR_OK;
}

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    struct fr_json list = fr_json_member(object, "layers"), first = fr_json_element(&list, 0);
    bool bias = true, widths = fr_json_is_number(&first);
    FR_TRY(fr_json_get_bool(object, "bias", false, &bias, err));
    FR_TRY(fr_json_array(&list, widths ? 2 : 1, FR_LAYER_MAX, err));
    workload->layers = fr_calloc((size_t)fr_json_array_length(&list), sizeof *workload->layers);
    if (!workload->layers) return fr_json_fail(object, err, "does not fit in memory");
    return widths ? read_widths(&list, bias, workload, err)
                  : read_layers(&list, bias, workload, err);
}

const struct fr_kind fr_kind_mlp = {
    .name = "mlp",
    .summary = "fully connected layers: widths, or a list of {in, out}",
    .keys = keys,
    .read = read,
};
