/* Zero bubble V (ZB-V): two chunks a stage, the second of which comes back up.  So the stage with the first layers
 * has the last ones too.  Every stage holds as many activations as 1F1B's first: P of its own (2 P halves).  Where
 * forward passes and both halves of backward passes take the same time, no stage waits between its first pass and its
 * last.  Stage i begins i forward passes of a chunk late.
 *
 *      warm-up     2 (P - i) - 1 forward passes of chunk 0, i of either, then P - i of chunk 1, each with its
 *                  backward pass and weight gradient
 *      steady      forward 0, backward and weight 0, forward 1, backward and weight 1
 *      cool-down   i input gradients of either chunk, P - i of chunk 0 with weight gradients put off, the
 *                  rest of the weight gradients
 *
 * The bubble holds for m >= 2 P - 1.  The order is that of as many micro-batches at least, of which those
 * beyond m are left out; PyTorch's ScheduleZBVZeroBubble runs the
 * same. */
#include <stddef.h>

#include "models/plan/schedule.h"

/* The next pass of each kind and chunk. */
struct next {
    const struct fr_schedule_args *a;
    struct fr_slot_writer w;
    int32_t at[3][2];
};

static void put(struct next *n, uint8_t kind, int32_t chunk) {
    int32_t micro = n->at[kind][chunk]++;
    if (micro < n->a->micro_batches) fr_slot_put(&n->w, kind, micro, chunk);
}

static void back(struct next *n, int32_t chunk) {
    put(n, FR_SLOT_BACKWARD, chunk);
    put(n, FR_SLOT_WEIGHT, chunk);
}

static void cool_down(struct next *n, int32_t i) {
    for (int32_t k = 0; k < i; k++) {
        put(n, FR_SLOT_BACKWARD, 0);
        put(n, FR_SLOT_BACKWARD, 1);
    }
    for (int32_t k = 0; k < n->a->stages - i; k++) back(n, 0);
    for (int32_t chunk = 1; chunk >= 0; chunk--)
        while (n->at[FR_SLOT_WEIGHT][chunk] < n->at[FR_SLOT_BACKWARD][chunk])
            put(n, FR_SLOT_WEIGHT, chunk);
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    int32_t P = a->stages, most = 2 * P - 1 > a->micro_batches ? 2 * P - 1 : a->micro_batches;
    struct next n = {.a = a, .w = {slots, 0}};
    const int32_t *forward = n.at[FR_SLOT_FORWARD];
    for (int32_t k = 0; k < 2 * (P - i) - 1; k++) put(&n, FR_SLOT_FORWARD, 0);
    for (int32_t k = 0; k < i; k++) {
        put(&n, FR_SLOT_FORWARD, 1);
        put(&n, FR_SLOT_FORWARD, 0);
    }
    for (int32_t k = 0; k < P - i; k++) {
        put(&n, FR_SLOT_FORWARD, 1);
        back(&n, 1);
    }
    while (forward[1] < forward[0] || forward[0] < most) {
        if (forward[0] < most) put(&n, FR_SLOT_FORWARD, 0);
        back(&n, 0);
        put(&n, FR_SLOT_FORWARD, 1);
        back(&n, 1);
    }
    cool_down(&n, i);
    return n.w.count;
}

const struct fr_schedule fr_schedule_zero_bubble_v = {
    .name = "zero-bubble-v",
    .summary =
        "zero bubble over two chunks a stage that come back (ZB-V); 1f1b's memory on all",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024; Qi et al., Pipeline "
              "Parallelism with Controllable Memory, NeurIPS 2024",
    .splits_backward = true,
    .interleaves = true,
    .folds = true,
    .refuses = fr_schedule_fold_refuses,
    .order = order,
    .bubble_s = fr_schedule_fold_bubble_s,
};
