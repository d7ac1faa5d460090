/* DualPipeV is DualPipe cut in half, so that parameters are held once.  A stage has two chunks, of which the second
 * comes back.  Forward passes of one chunk are paired with backward passes of the other and hide their exchanges (of
 * experts: overlap_experts).  Backward passes are whole, except where delayed weight gradients fill a bubble.  A
 * stage holds 2 P + 1 activations of half a stage.
 *
 *      1   2 (P - 1 - i) forward passes of chunk 0
 *      2   i + 1 of either
 *      3   P - 1 - i times: input gradients of chunk 1, a weight gradient put off, forward 1
 *      4   m - 2 P + i + 1 times: forward 0 and backward 1, forward 1 and backward 0
 *      5   P - 1 - i times: backward 1, forward 1 and backward 0
 *      6   i + 1 times: backward 1 and 0, of the second half input gradients alone
 *      7   P - 1 - i times: a weight gradient, input gradients of chunk 0
 *      8   i + 1 weight gradients
 *
 * The order is that of the authors' program.  In their bubble, (P - 1)(F&B + B - 3 W) of chunks, pairs send their
 * results when both are done.  Here each pass sends when it is done itself, and less time is lost. */
#include <stddef.h>

#include "models/plan/schedule.h"

static const char *refuses(const struct fr_schedule_args *a) {
    const char *why = fr_schedule_fold_refuses(a);
    if (why) return why;
    return a->micro_batches < 2 * a->stages
               ? "dualpipe-v needs as many micro-batches as two chunks of every stage"
               : NULL;
}

/* The next pass of each kind and chunk. */
struct next {
    struct fr_slot_writer w;
    int32_t at[2][2];
    int64_t done; /* slots that were asked which weight gradients they put off */
};

static void forward(struct next *n, int32_t chunk) {
    fr_slot_put(&n->w, FR_SLOT_FORWARD, n->at[0][chunk]++, chunk);
}

static void whole(struct next *n, int32_t chunk) {
    int32_t micro = n->at[1][chunk]++;
    for (uint8_t kind = FR_SLOT_BACKWARD; kind <= FR_SLOT_WEIGHT; kind++) {
        fr_slot_put(&n->w, kind, micro, chunk);
        n->w.slots[n->w.count - 1].whole = true;
    }
}

/* Input gradients alone; which weight gradients that leaves is read from the slots again. */
static void inputs(struct next *n, int32_t chunk) {
    fr_slot_put(&n->w, FR_SLOT_BACKWARD, n->at[1][chunk]++, chunk);
}

static void weights(struct next *n) {
    const struct fr_slot *s = n->w.slots;
    while (s[n->done].kind != FR_SLOT_BACKWARD || s[n->done].whole) n->done++;
    const struct fr_slot first = s[n->done++];
    fr_slot_put(&n->w, FR_SLOT_WEIGHT, first.micro, first.chunk);
}

static void begin(struct next *n, int32_t i, int32_t after) {
    for (int32_t k = 0; k < 2 * after; k++) forward(n, 0);
    for (int32_t k = 0; k < i + 1; k++) {
        forward(n, 0);
        forward(n, 1);
    }
    for (int32_t k = 0; k < after; k++) {
        inputs(n, 1);
        weights(n);
        forward(n, 1);
    }
}

static void end(struct next *n, int32_t i, int32_t after) {
    for (int32_t k = 0; k < after; k++) {
        whole(n, 1);
        forward(n, 1);
        whole(n, 0);
    }
    for (int32_t k = 0; k < i + 1; k++) { /* the second half, by single passes */
        bool first = 2 * k + 1 > i + (i % 2 == 0), second = 2 * k + 1 > i;
        (first ? inputs : whole)(n, 1);
        (second ? inputs : whole)(n, 0);
    }
    for (int32_t k = 0; k < after; k++) {
        weights(n);
        inputs(n, 0);
    }
    for (int32_t k = 0; k < i + 1; k++) weights(n);
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    int32_t after = a->stages - 1 - i;
    struct next n = {.w = {slots, 0}};
    begin(&n, i, after);
    for (int32_t k = 0; k < a->micro_batches - 2 * a->stages + i + 1; k++)
        for (int32_t chunk = 0; chunk < 2; chunk++) {
            forward(&n, chunk);
            whole(&n, 1 - chunk);
        }
    end(&n, i, after);
    return n.w.count;
}

const struct fr_schedule fr_schedule_dualpipe_v = {
    .name = "dualpipe-v",
    .summary = "forward and backward passes of two chunks that come back, in pairs (DualPipeV)",
    .source = "DeepSeek-AI, DeepSeek-V3 Technical Report, 2024, section 3.2.1; their DualPipe "
              "repository, dualpipev.py; cut in half after Qi et al., 2025",
    .splits_backward = true,
    .interleaves = true,
    .folds = true,
    .refuses = refuses,
    .order = order,
    .bubble_s = fr_schedule_fold_bubble_s,
};
