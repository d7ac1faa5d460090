#include "models/work/dispatch.h"

#include <math.h>

/* Places of @p n that @p choices among them meet in the mean. */
static double met(double n, double choices) { return n * (1 - pow(1 - 1 / n, choices)); }

/* Number of the @p n places for experts that a token meets. */
static double places(const struct fr_transformer *t, double n) {
    double groups = (double)t->expert_groups, most = (double)t->groups_per_token, open = n;
    if (groups > 0) open = n < groups ? met(n, most) : n * most / groups;
    return met(open, (double)t->experts_per_token);
}

struct fr_dispatch fr_dispatch_of(const struct fr_transformer *t, const struct fr_plan *plan) {
    double ranks = (double)plan->ep, together = (double)plan->dispatch_ranks;
    if (together < 1) return (struct fr_dispatch){(double)t->experts_per_token, 0};
    return (struct fr_dispatch){together < ranks ? places(t, ranks / together) : 0,
                                together > 1 ? places(t, ranks) : 0};
}
