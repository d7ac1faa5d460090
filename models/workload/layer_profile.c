#include "models/workload/layer_profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/workload.h"

enum { ROWS_MAX = 4096 };
static const char *const keys[] = {"source", "rows", NULL};
static const char *const row_keys[] = {
    "tp", "micro_batch", "forward", "backward", "logits_forward", "logits_backward", NULL};

static fr_status read_row(const struct fr_json *node, struct fr_layer_profile *row,
                          struct fr_error *err) {
    const double most_s = 86400;
    *row = (struct fr_layer_profile){.logits_forward_s = -1, .logits_backward_s = -1};
    FR_TRY(fr_json_object(node, row_keys, err));
    FR_TRY(fr_json_get_integer(node, "tp", true, 1, 1 << 20, &row->tp, err));
    FR_TRY(fr_json_get_integer(node, "micro_batch", true, 1, 1 << 20, &row->micro_batch, err));
    FR_TRY(fr_json_get_quantity(node, "forward", true, FR_QUANTITY_TIME, 0, most_s,
                                &row->forward_s, err));
    FR_TRY(fr_json_get_quantity(node, "backward", true, FR_QUANTITY_TIME, 0, most_s,
                                &row->backward_s, err));
    FR_TRY(fr_json_get_quantity(node, "logits_forward", false, FR_QUANTITY_TIME, 0, most_s,
                                &row->logits_forward_s, err));
    FR_TRY(fr_json_get_quantity(node, "logits_backward", false, FR_QUANTITY_TIME, 0, most_s,
                                &row->logits_backward_s, err));
    if ((row->logits_forward_s < 0) != (row->logits_backward_s < 0))
        return fr_json_fail(node, err, "logits need both, logits_forward and logits_backward");
    return FR_OK;
}

fr_status fr_layer_profile_read(const struct fr_json *node, struct fr_workload *workload,
                                struct fr_error *err) {
    struct fr_json inside = fr_json_member(node, "rows");
    const struct fr_json *rows = fr_json_is_object(node) ? &inside : node;
    if (fr_json_is_object(node)) FR_TRY(fr_json_object(node, keys, err));
    if (workload->transformer.layers == 0)
        return fr_json_fail(node, err, "only a transformer has layers to replace");
    FR_TRY(fr_json_array(rows, 1, ROWS_MAX, err));
    int64_t n = fr_json_array_length(rows);
    workload->profile = fr_calloc((size_t)n, sizeof *workload->profile);
    if (!workload->profile) return fr_json_fail(node, err, "does not fit in memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(rows, i);
        struct fr_layer_profile row;
        FR_TRY(read_row(&one, &row, err));
        if (fr_layer_profile_find(workload, row.tp, row.micro_batch))
            return fr_json_fail(&one, err,
                                "tp %" PRId64 ", micro-batch %" PRId64 " stands twice", row.tp,
                                row.micro_batch);
        workload->profile[workload->n_profile++] = row;
    }
    return FR_OK;
}

const struct fr_layer_profile *fr_layer_profile_find(const struct fr_workload *workload,
                                                     int64_t tp, int64_t micro_batch) {
    for (int i = 0; i < workload->n_profile; i++)
        if (workload->profile[i].tp == tp && workload->profile[i].micro_batch == micro_batch)
            return &workload->profile[i];
    return NULL;
}
