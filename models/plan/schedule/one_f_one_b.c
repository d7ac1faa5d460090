/* 1F1B: after P - 1 - i forward passes a stage alternates one forward and one backward pass, so
 * that it holds at most P - i micro-batches. */
#include <stddef.h>

#include "models/plan/schedule.h"

static const char *refuses(const struct fr_schedule_args *a) {
    return a->chunks > 1 ? "1f1b takes one chunk a stage; schedule interleaved takes more"
                         : NULL;
}

static int64_t order(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots) {
    return fr_schedule_periodic(a, a->stages - 1 - i, slots);
}

static int64_t held(const struct fr_schedule_args *a, int32_t i) {
    return fr_schedule_alternate_held(a, a->stages - 1 - i);
}

static double bubble_s(const struct fr_schedule_args *a, double forward_s, double backward_s,
                       double weight_s) {
    (void)weight_s;
    return (a->stages - 1) * (forward_s + backward_s);
}

const struct fr_schedule fr_schedule_one_f_one_b = {
    .name = "1f1b",
    .summary =
        "one forward, one backward after a warm-up of P - 1 - i; holds P - i micro-batches",
    .source = "Narayanan et al., PipeDream-Flush, ICML 2021; Song et al., Optimus-CC: "
              "Efficient Large NLP Model Training with 3D Parallelism Aware Communication "
              "Compression, 2023, Fig. 4a",
    .warm_up = 1,
    .refuses = refuses,
    .order = order,
    .held = held,
    .bubble_s = bubble_s,
};
