#include "models/work/experts.h"

#include <math.h>

double fr_experts_parameters(const struct fr_transformer *t) {
    return (double)t->experts * (t->gated ? 3 : 2) * (double)t->hidden * (double)t->expert_ffn;
}

/* Mean of the largest of @p n normal values, by Blom: the inverse of the normal distribution at (n - 3/8) / (n + 1/4),
 * by Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23 (error below 5e-4). */
static double largest_of(double n) {
    double above = (n + 0.25 - (n - 0.375)) / (n + 0.25), t = sqrt(-2 * log(above));
    return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/* Rows of the fullest of @p ranks over the mean, where nothing spreads tokens evenly. */
static double routed(const struct fr_transformer *t, double ranks) {
    static const double deviation[] = {
        [FR_BALANCE_EVEN] = 0, [FR_BALANCE_LOSS] = 0.3, [FR_BALANCE_NONE] = 3.8};
    double own = (double)t->experts / ranks;
    if (t->balance == FR_BALANCE_EVEN || ranks <= 1) return 1;
    return fmin(ranks, 1 + deviation[t->balance] * largest_of(ranks) / sqrt(own));
}

double fr_experts_load(const struct fr_transformer *t, const struct fr_plan *plan) {
    double load = t->imbalance > 0 ? fmax(1, t->imbalance) : routed(t, (double)plan->ep);
    return t->capacity > 0 ? fmin(load, t->capacity) : load;
}

double fr_experts_rows(double rows) { return 128 * ceil(rows / 128); }

double fr_experts_sent_B(const struct fr_workload *workload, const struct fr_plan *plan,
                         double tokens, double copies) {
    const struct fr_transformer *t = &workload->transformer;
    /* With sequence parallel each of tp ranks has its own share of the tokens. */
    double own = plan->sequence_parallel ? tokens / (double)plan->tp : tokens;
    return own * copies * (double)t->hidden * fr_dtype_saved_B(workload->dtype) *
           fr_experts_load(t, plan);
}
