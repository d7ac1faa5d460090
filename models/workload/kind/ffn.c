/* L equal fully connected layers of width n: the network of the phantom-parallelism paper. */
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/workload.h"

static const char *const keys[] = {"width", "layers", "bias", NULL};

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    int64_t width = 0, layers = 0;
    bool bias = true;
    FR_TRY(fr_json_get_integer(object, "width", true, 1, (int64_t)1 << 32, &width, err));
    FR_TRY(fr_json_get_integer(object, "layers", true, 1, 1000000, &layers, err));
    FR_TRY(fr_json_get_bool(object, "bias", false, &bias, err));
    workload->layers = fr_calloc(1, sizeof *workload->layers);
    if (!workload->layers) return fr_json_fail(object, err, "does not fit in memory");
    workload->n_layers = 1;
    workload->layers[0] =
        fr_layer_fully_connected((double)width, (double)width, bias, (double)layers);
    return FR_OK;
}

const struct fr_kind fr_kind_ffn = {
    .name = "ffn",
    .summary = "layers equal fully connected layers of one width",
    .keys = keys,
    .read = read,
};
