/* Linear, on as many ranks of each unit: 12 ranks sit as 6 and 6 of two nodes of 8, not as 8 and 4. */
#include "topology/placement.h"

static fr_status place(const struct fr_placement_ask *s, int64_t *slot, struct fr_error *err) {
    return fr_placement_linear.place(s, slot, err);
}

const struct fr_placement fr_placement_balanced = {
    .name = "balanced",
    .summary = "as many ranks of each node and rack, in the order of their numbers",
    .source = "ours",
    .units = FR_UNITS_EQUAL,
    .in_order = true,
    .place = place,
};
