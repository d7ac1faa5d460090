#include "models/workload/rotary.h"

#include <math.h>

double fr_rotary_base(const struct fr_json_document *model) {
    if (!model) return NAN;
    struct fr_json root = fr_json_root(model), newer = fr_json_member(&root, "rope_parameters");
    double base = fr_json_number_at(&root, "rotary_base");
    if (isnan(base)) base = fr_json_number_at(&root, "rope_theta");
    if (isnan(base)) base = fr_json_number_at(&newer, "rope_theta");
    return base > 1 ? base : NAN;
}

fr_status fr_rotary_check(const struct fr_json *object, bool rotary, struct fr_error *err) {
    struct fr_json base = fr_json_member(object, "rotary_base");
    double value = 0;
    if (!fr_json_present(&base)) return FR_OK;
    if (!rotary) return fr_json_fail(&base, err, "has no effect without rotary positions");
    return fr_json_number(&base, 1.000001, 1e15, &value, err);
}
