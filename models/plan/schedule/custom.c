/* The order that a user wrote down, stage by stage (models/plan/schedule_order.h). */
#include <string.h>

#include "models/plan/schedule_order.h"

static const char *refuses(const struct fr_schedule_args *a) {
    const struct fr_schedule_order *order = a->order;
    if (!order)
        return "custom needs an order: name its file, \"schedule\": \"./order.json\", or list "
               "the passes of each stage";
    if (order->stages != a->stages || order->micro_batches != a->micro_batches ||
        order->chunks != a->chunks)
        return "the custom order was written for other stages, micro-batches or chunks";
    return NULL;
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    int64_t n = a->order->n_slots;
    memcpy(slots, a->order->slots + i * n, (size_t)n * sizeof *slots);
    return n;
}

const struct fr_schedule fr_schedule_custom = {
    .name = "custom",
    .summary = "the order of a file, or listed in the plan; weight gradients split off or not",
    .source = "the user",
    .interleaves = true,
    .refuses = refuses,
    .order = order,
};
