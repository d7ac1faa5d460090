#include "models/workload/predicted.h"

fr_status fr_predicted_read(const struct fr_json *object, struct fr_transformer *t,
                            struct fr_error *err) {
    struct fr_json node = fr_json_member(object, "predicted_tokens");
    FR_TRY(fr_json_get_integer(object, "predicted_tokens", false, 0, 16, &t->predicted, err));
    if (t->predicted > 0 && (t->lora_rank > 0 || t->cross_layers > 0))
        return fr_json_fail(&node, err, "is not priced beside %s",
                            t->lora_rank > 0 ? "lora_rank" : "cross_layers");
    return FR_OK;
}
