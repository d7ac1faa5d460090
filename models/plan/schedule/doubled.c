/* 1F1B with a doubled warm-up of 2 (P - 1 - i): a message may take as long as a pass before it
 * delays anything in the steady state, for twice the activations. */
#include <stddef.h>

#include "models/plan/schedule.h"

static const char *refuses(const struct fr_schedule_args *a) {
    return a->chunks > 1 ? "1f1b-double takes one chunk a stage" : NULL;
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    return fr_schedule_periodic(a, 2 * (a->stages - 1 - i), slots);
}

static int64_t held(const struct fr_schedule_args *a, int32_t i) {
    return fr_schedule_alternate_held(a, 2 * (a->stages - 1 - i));
}

static double bubble_s(const struct fr_schedule_args *a, double forward_s, double backward_s,
                       double weight_s) {
    (void)weight_s;
    return (a->stages - 1) * (forward_s + backward_s);
}

const struct fr_schedule fr_schedule_doubled = {
    .name = "1f1b-double",
    .summary = "1f1b with a warm-up of 2 (P - 1 - i); hides messages, holds twice as much",
    .source = "our derivation, after 1F1B",
    .warm_up = 2,
    .refuses = refuses,
    .order = order,
    .held = held,
    .bubble_s = bubble_s,
};
