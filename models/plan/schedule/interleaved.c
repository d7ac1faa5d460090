/* Interleaved 1F1B: a rank holds v chunks of the model, visited in groups of P micro-batches;
 * the bubble shrinks by v, and v times as many messages go round. */
#include <stddef.h>

#include "models/plan/schedule.h"

static const char *refuses(const struct fr_schedule_args *a) {
    if (a->micro_batches % a->stages != 0)
        return "interleaved needs micro-batches in multiples of the stages";
    return NULL;
}

/* The passes of one kind in the order that every stage runs them: P micro-batches of a chunk, then of the next chunk,
 * then the next P micro-batches.  Backward passes take chunks from the last to the first. */
struct traversal {
    const struct fr_schedule_args *a;
    uint8_t kind;
    int32_t first, micro, chunk; /* of the group; of the next pass */
};

static struct fr_slot next_of(struct traversal *w) {
    const struct fr_schedule_args *a = w->a;
    int32_t chunk = w->kind == FR_SLOT_BACKWARD ? a->chunks - 1 - w->chunk : w->chunk;
    const struct fr_slot slot = {.micro = w->micro, .chunk = (int16_t)chunk, .kind = w->kind};
    if (++w->micro < w->first + a->stages) return slot;
    w->micro = w->first;
    if (++w->chunk < a->chunks) return slot;
    w->chunk = 0;
    w->micro = w->first += a->stages;
    return slot;
}

/* Forward passes before the first backward pass. */
static int64_t warm_up_of(const struct fr_schedule_args *a, int32_t i) {
    if (a->chunks == 1) return a->stages - 1 - i; /* plain 1F1B */
    return 2 * (int64_t)(a->stages - 1 - i) + (int64_t)(a->chunks - 1) * a->stages;
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    int64_t total = (int64_t)a->micro_batches * a->chunks, forward = 0, count = 0;
    const int64_t warm_up = warm_up_of(a, i);
    struct traversal up = {.a = a, .kind = FR_SLOT_FORWARD},
                     down = {.a = a, .kind = FR_SLOT_BACKWARD};
    for (; forward < warm_up && forward < total; forward++) slots[count++] = next_of(&up);
    for (int64_t backward = 0; backward < total; backward++, forward++) {
        if (forward < total) slots[count++] = next_of(&up);
        slots[count++] = next_of(&down);
    }
    return count;
}

static int64_t held(const struct fr_schedule_args *a, int32_t i) {
    return fr_schedule_alternate_held(a, warm_up_of(a, i));
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
    .held = held,
    .bubble_s = bubble_s,
};
