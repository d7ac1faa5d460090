/* A pipeline given by measured (or imagined) times: forward and backward pass of one
 * micro-batch, one value for all stages or one each, and the bytes between stages. */
#include <stdlib.h>

#include "base/alloc.h"
#include "models/workload/workload.h"

#define INTO struct fr_stages
#include "models/workload/key_rows.h"
static const struct fr_json_key keys[] = {
    FR_KEY_ROW(forward, OTHER(), REQUIRED, BY_CODE, "",
               "time of one micro-batch, one value or one for each stage"),
    FR_KEY_ROW(backward, OTHER(), REQUIRED, BY_CODE, "", "likewise"),
    FR_KEY_ROW(weight, OTHER(), OPTIONAL, BY_CODE, "half",
               "the part of backward that makes weight gradients"),
    FR_KEY_ROW(message, QUANTITY(SIZE, 1e18), OPTIONAL, TAKEN(message_B), "0 B",
               "bytes between stages"),
    FR_KEY_ROW(gradient, OTHER(), OPTIONAL, BY_CODE, "none",
               "bytes all-reduced over dp after a stage's last backward pass"),
    {0}};

enum { STAGES_MAX = 65536 };

/* One quantity, or a list of them, into a fresh array; its length must agree with the others'. */
static fr_status read_values(const struct fr_json *object, const char *key,
                             fr_quantity quantity, double max, double **values, int *count,
                             struct fr_error *err) {
    struct fr_json node = fr_json_member(object, key);
    bool list = fr_json_is_array(&node);
    if (list) FR_TRY(fr_json_array(&node, 1, STAGES_MAX, err));
    int64_t n = list ? fr_json_array_length(&node) : 1;
    *values = fr_calloc((size_t)n, sizeof **values);
    if (!*values) return fr_json_fail(&node, err, "does not fit in memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = list ? fr_json_element(&node, i) : node;
        FR_TRY(fr_json_quantity(&one, quantity, 0, max, &(*values)[i], err));
    }
    if (n > 1 && *count > 1 && n != *count)
        return fr_json_fail(&node, err, "lists %lld stages, another key lists %d", (long long)n,
                            *count);
    if (n > *count) *count = (int)n;
    return FR_OK;
}

/* A single value stands for every stage. */
static fr_status spread(const struct fr_json *object, double **values, int have, int count,
                        struct fr_error *err) {
    double *all = fr_calloc((size_t)count, sizeof *all);
    if (!all) return fr_json_fail(object, err, "does not fit in memory");
    for (int i = 0; i < count; i++) all[i] = (*values)[have > 1 ? i : 0];
    free(*values);
    *values = all;
    return FR_OK;
}

static fr_status read(const struct fr_json *object, struct fr_workload *workload,
                      struct fr_error *err) {
    struct fr_stages *s = &workload->stages;
    struct fr_json weight = fr_json_member(object, "weight");
    struct fr_json gradient = fr_json_member(object, "gradient");
    int count = 1, length[4] = {0};
    double **lists[4] = {&s->forward_s, &s->backward_s, &s->weight_s, &s->gradient_B};
    static const char *const names[4] = {"forward", "backward", "weight", "gradient"};
    const bool given[4] = {true, true, fr_json_present(&weight), fr_json_present(&gradient)};
    for (int k = 0; k < 4; k++) {
        fr_quantity quantity = k < 3 ? FR_QUANTITY_TIME : FR_QUANTITY_SIZE;
        if (!given[k]) continue;
        FR_TRY(read_values(object, names[k], quantity, k < 3 ? 86400 : 1e18, lists[k], &count,
                           err));
        struct fr_json node = fr_json_member(object, names[k]);
        length[k] = fr_json_is_array(&node) ? (int)fr_json_array_length(&node) : 1;
    }
    for (int k = 0; k < 4; k++)
        if (given[k]) FR_TRY(spread(object, lists[k], length[k], count, err));
    s->listed = count > 1 ? count : 0;
    for (int i = 0; s->weight_s && i < count; i++)
        if (s->weight_s[i] > s->backward_s[i])
            return fr_json_fail(&weight, err, "is longer than the backward pass it is part of");
    return fr_json_read_keys(object, keys, s, err);
}

const struct fr_kind fr_kind_stages = {
    .name = "stages",
    .summary = "a pipeline of measured stage times: forward, backward, message, gradient",
    .keys = keys,
    .read = read,
};
