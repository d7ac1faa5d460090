/* L equal fully connected layers of width n: the network of the phantom-parallelism paper. */
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/workload.h"

struct shape {
    int64_t width, layers;
    bool bias;
};

#define INTO struct shape
#include "models/workload/key_rows.h"
static const struct fr_json_key keys[] = {
    FR_KEY_ROW(width, INTEGER(1, (int64_t)1 << 32), REQUIRED, TAKEN(width), "",
               "values that come into each layer and go out"),
    FR_KEY_ROW(layers, INTEGER(1, 1000000), REQUIRED, TAKEN(layers), "", "how many there are"),
    FR_KEY_ROW(bias, BOOL(), OPTIONAL, TAKEN(bias), "true", "layers have biases"),
    {0}};

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    struct shape s = {.bias = true};
    FR_TRY(fr_json_read_keys(object, keys, &s, err));
    workload->layers = fr_calloc(1, sizeof *workload->layers);
    if (!workload->layers) return fr_json_fail(object, err, "does not fit in memory");
    workload->n_layers = 1;
    workload->layers[0] =
        fr_layer_fully_connected((double)s.width, (double)s.width, s.bias, (double)s.layers);
    return FR_OK;
}

const struct fr_kind fr_kind_ffn = {
    .name = "ffn",
    .summary = "layers equal fully connected layers of one width",
    .keys = keys,
    .read = read,
};
