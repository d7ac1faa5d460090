#include "models/workload/encoder.h"

double fr_encoder_head_parameters(const struct fr_transformer *t) {
    double h = (double)t->hidden, norm = h * (t->norm_biases ? 2 : 1);
    return (t->masked_head ? h * h + h + norm : 0) + (t->pooler ? h * h + h + 2 * h + 2 : 0);
}

double fr_encoder_logit_biases(const struct fr_transformer *t) {
    return t->masked_head ? (double)t->vocabulary : 0;
}

fr_status fr_encoder_read(const struct fr_json *object, struct fr_transformer *t,
                          struct fr_error *err) {
    struct fr_json node = fr_json_member(object, "causal");
    bool causal = true;
    FR_TRY(fr_json_get_bool(object, "causal", false, &causal, err));
    t->both_ways = !causal;
    if (!causal && (t->window > 0 || t->cross_layers > 0 || t->predicted > 0))
        return fr_json_fail(&node, err, "is not priced beside %s",
                            t->window > 0         ? "a window"
                            : t->cross_layers > 0 ? "cross_layers"
                                                  : "predicted_tokens");
    return FR_OK;
}
