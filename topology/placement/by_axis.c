/* The axis named first takes neighbouring slots, then the next. */
#include "topology/placement.h"

static fr_status place(const struct fr_placement_ask *s, int64_t *slot, struct fr_error *err) {
    int64_t n = fr_mesh_ranks(s->mesh);
    (void)err;
    for (int64_t r = 0; r < n; r++) {
        slot[r] = 0;
        for (int axis = 0; axis < FR_MESH_AXES; axis++) {
            int64_t at = r / fr_mesh_stride(s->mesh, axis) % s->mesh->size[axis];
            slot[r] += at * fr_mesh_order_stride(s->mesh, s->choice->order, axis);
        }
    }
    return FR_OK;
}

const struct fr_placement fr_placement_by_axis = {
    .name = "by-axis",
    .argument = "AXIS[-AXIS...]",
    .summary = "neighbours along the axis named first share a node (tp when none is named)",
    .source = "ours; Megatron-LM's order is by-axis:tp-dp-pp",
    .place = place,
};
