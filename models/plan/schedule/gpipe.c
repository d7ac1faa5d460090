/* GPipe: all forward passes, then all backward passes. */
#include <stddef.h>

#include "models/plan/schedule.h"

static const char *refuses(const struct fr_schedule_args *a) {
    return a->chunks > 1 ? "gpipe takes one chunk a stage" : NULL;
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    struct fr_slot_writer w = {slots, 0};
    (void)i;
    for (int32_t j = 0; j < a->micro_batches; j++) fr_slot_put(&w, FR_SLOT_FORWARD, j, 0);
    for (int32_t j = 0; j < a->micro_batches; j++) fr_slot_put(&w, FR_SLOT_BACKWARD, j, 0);
    return w.count;
}

static int64_t held(const struct fr_schedule_args *a, int32_t i) {
    (void)i;
    return a->micro_batches;
}

static double bubble_s(const struct fr_schedule_args *a, double forward_s, double backward_s,
                       double weight_s) {
    (void)weight_s;
    return (a->stages - 1) * (forward_s + backward_s);
}

const struct fr_schedule fr_schedule_gpipe = {
    .name = "gpipe",
    .summary = "all forward passes, then all backward passes; holds every micro-batch",
    .source = "Huang et al., GPipe, NeurIPS 2019",
    .phases = true,
    .refuses = refuses,
    .order = order,
    .held = held,
    .bubble_s = bubble_s,
};
