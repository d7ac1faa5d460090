#include "models/work/experts.h"

#include <math.h>

double fr_experts_parameters(const struct fr_transformer *t) {
    return (double)t->experts * (t->gated ? 3 : 2) * (double)t->hidden * (double)t->expert_ffn;
}

double fr_experts_load(const struct fr_transformer *t) {
    double load = t->imbalance > 1 ? t->imbalance : 1;
    return t->capacity > 0 ? fmin(load, t->capacity) : load;
}

double fr_experts_rows(double rows) { return 128 * ceil(rows / 128); }

double fr_experts_sent_B(const struct fr_workload *workload, const struct fr_plan *plan,
                         double tokens, double copies) {
    const struct fr_transformer *t = &workload->transformer;
    /* With sequence parallel each of tp ranks has its own share of the tokens. */
    double own = plan->sequence_parallel ? tokens / (double)plan->tp : tokens;
    return own * copies * (double)t->hidden * fr_dtype_saved_B(workload->dtype) *
           fr_experts_load(t);
}
