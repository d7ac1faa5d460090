/* Zero bubble, memory-neutral variant (ZB-H1): the backward pass is split, and the next stage waits for the input
 * gradient only.  Stage i delays weight gradients by i micro-batches, and they fill its idle time.  F - W outstanding
 * never exceeds P, as in 1F1B's stage 0. */
#include <stddef.h>

#include "models/plan/schedule.h"

static const char *refuses(const struct fr_schedule_args *a) {
    return a->chunks > 1 ? "zero-bubble takes one chunk a stage" : NULL;
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    struct fr_slot_writer w = {slots, 0};
    int32_t m = a->micro_batches, warm_up = a->stages - 1 - i, forward = 0, weight = 0;
    while (forward < warm_up && forward < m) fr_slot_put(&w, FR_SLOT_FORWARD, forward++, 0);
    for (int32_t backward = 0; backward < m; backward++) {
        bool steady = forward < m;
        if (steady) fr_slot_put(&w, FR_SLOT_FORWARD, forward++, 0);
        fr_slot_put(&w, FR_SLOT_BACKWARD, backward, 0);
        /* While forwards go on, i weight gradients stay put off; after that each backward pass
         * is followed by one, and the rest come last. */
        if (!steady || backward - weight >= i) fr_slot_put(&w, FR_SLOT_WEIGHT, weight++, 0);
    }
    while (weight < m) fr_slot_put(&w, FR_SLOT_WEIGHT, weight++, 0);
    return w.count;
}

/* Holds for F = B - W = W and m >= P: (P - 1)(F + B_input - W), B = B_input + W. */
static double bubble_s(const struct fr_schedule_args *a, double forward_s, double backward_s,
                       double weight_s) {
    return (a->stages - 1) * (forward_s + backward_s - 2 * weight_s);
}

const struct fr_schedule fr_schedule_zero_bubble = {
    .name = "zero-bubble",
    .summary =
        "split backward, weight gradients put off into the bubble (ZB-H1, memory-neutral)",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024",
    .splits_backward = true,
    .refuses = refuses,
    .order = order,
    .bubble_s = bubble_s,
};
