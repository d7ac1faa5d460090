/* Interleaved 1F1B: a rank holds v chunks of the model, visited in groups of P micro-batches;
 * the bubble shrinks by v, and v times as many messages go round. */
#include <stddef.h>

#include "models/plan/schedule.h"

static const char *refuses(const struct fr_schedule_args *a) {
    if (a->micro_batches % a->stages != 0)
        return "interleaved needs micro-batches in multiples of the stages";
    return NULL;
}

/* The k-th forward (or backward) pass of any stage: which chunk, which micro-batch. */
static struct fr_slot visit(const struct fr_schedule_args *a, int64_t k, uint8_t kind) {
    int64_t group = (int64_t)a->stages * a->chunks;
    int64_t chunk = k % group / a->stages;
    if (kind == FR_SLOT_BACKWARD) chunk = a->chunks - 1 - chunk;
    return (struct fr_slot){.micro = (int32_t)(k / group * a->stages + k % a->stages),
                            .chunk = (int16_t)chunk,
                            .kind = kind};
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    int64_t total = (int64_t)a->micro_batches * a->chunks, forward = 0, count = 0;
    int64_t warm_up = 2 * (int64_t)(a->stages - 1 - i) + (int64_t)(a->chunks - 1) * a->stages;
    if (a->chunks == 1) warm_up = a->stages - 1 - i; /* plain 1F1B */
    while (forward < warm_up && forward < total)
        slots[count++] = visit(a, forward++, FR_SLOT_FORWARD);
    for (int64_t backward = 0; backward < total; backward++) {
        if (forward < total) slots[count++] = visit(a, forward++, FR_SLOT_FORWARD);
        slots[count++] = visit(a, backward, FR_SLOT_BACKWARD);
    }
    return count;
}

static double bubble_s(const struct fr_schedule_args *a, double forward_s, double backward_s,
                       double weight_s) {
    (void)weight_s;
    return (a->stages - 1) * (forward_s + backward_s) / a->chunks;
}

const struct fr_schedule fr_schedule_interleaved = {
    .name = "interleaved",
    .summary =
        "1f1b over v model chunks a rank; a bubble v times smaller, v times the messages",
    .source = "Narayanan et al., Efficient Large-Scale Language Model Training, SC 2021",
    .interleaves = true,
    .refuses = refuses,
    .order = order,
    .bubble_s = bubble_s,
};
