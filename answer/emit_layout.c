#include "answer/emit_layout.h"

#include <inttypes.h>

bool fr_emit_layout_stated(const struct fr_emitted *e) {
    return e->plan.pp > 1 && !fr_emit_layers_equal(e);
}

bool fr_emit_layout(const struct fr_emitted *e, char *out, size_t capacity) {
    int64_t stages = e->plan.pp * e->plan.chunks;
    size_t used = 0;
    for (int64_t i = 0; i < stages; i++) {
        int64_t layers = fr_emit_layers(e, i);
        fr_line_addf(out, capacity, &used, "%s", i ? "|" : "E");
        if (layers > 1) fr_line_addf(out, capacity, &used, "t*%" PRId64, layers);
        if (layers == 1) fr_line_addf(out, capacity, &used, "t");
    }
    fr_line_addf(out, capacity, &used, "L");
    return used + 1 < capacity;
}
