#include "models/workload/packing.h"

enum { MOST = 1 << 26 };

fr_status fr_document_read(const struct fr_json *object, struct fr_transformer *t,
                           struct fr_error *err) {
    struct fr_json node = fr_json_member(object, "document");
    FR_TRY(fr_json_get_integer(object, "document", false, 1, MOST, &t->document, err));
    if (t->document > 0 && (t->window > 0 || t->cross_layers > 0))
        return fr_json_fail(&node, err, "is not priced beside %s",
                            t->window > 0 ? "a window" : "cross_layers");
    return FR_OK;
}
