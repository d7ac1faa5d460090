#include "models/workload/optimizer.h"

#include <math.h>
#include <string.h>

/* Master weights of 32 bits beside narrower ones. */
static double master_B(const struct fr_workload *w) {
    return fr_dtype_size_B(w->weight_dtype) < 4 ? 4 : 0;
}

fr_status fr_optimizer_read_state(const struct fr_json *root, struct fr_workload *workload,
                                  struct fr_error *err) {
    struct fr_json node = fr_json_member(root, "optimizer_state");
    const char *text = "";
    if (fr_json_is_string(&node)) FR_TRY(fr_json_text(&node, &text, err));
    if (strcmp(text, "8-bit") != 0)
        return fr_json_get_quantity(root, "optimizer_state", false, FR_QUANTITY_SIZE, 0, 1024,
                                    &workload->optimizer_state_B, err);
    workload->optimizer_state_B = master_B(workload) + FR_OPTIMIZER_8_BIT_B;
    return FR_OK;
}

bool fr_optimizer_is_8_bit(const struct fr_workload *w) {
    return fabs(w->optimizer_state_B - master_B(w) - FR_OPTIMIZER_8_BIT_B) < 1e-9;
}
