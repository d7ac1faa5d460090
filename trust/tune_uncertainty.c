/* Uncertainty of a run, after the coefficients were tuned: trust/tune.h. */
#include "trust/tune.h"

#include <math.h>

#include "trust/distance.h"
#include "trust/numbers/statistics.h"

int fr_tune_seen_at(const struct fr_tune_result *r, const struct fr_run *run, fr_seen what) {
    int k = 0;
    while (k < r->n_seen && !(r->seen[k].what == what && fr_run_is(run, &r->seen[k]))) k++;
    return k;
}

void fr_tune_add_operations(struct fr_tune_result *r) {
    for (int op = 0; op < FR_OP_COUNT; op++)
        if (fr_price_uncertain(&r->cluster.price[op]))
            r->index[r->n_known++] = FR_COEFFICIENT_MAX + op;
    if (r->cluster.device.gemm[r->dtype].beyond_octave > 0)
        r->index[r->n_known++] = FR_KNOWN_BEYOND;
}

/* Factor of the model error: larger for mixtures of experts where rows held some; where they held none, it is
 * unknown. */
static double model_error_times(const struct fr_tune_result *r, const struct fr_run *run) {
    return r->experts ? fr_run_model_error_times(run) : 1;
}

/* Time with what is known under number @p k moved by @p step, in logarithms. */
static double moved_s(const struct fr_tune_result *r, const struct fr_run *run, int k,
                      double step) {
    struct fr_cluster moved = r->cluster;
    if (r->index[k] == FR_KNOWN_BEYOND)
        moved.device.gemm[r->dtype].shift = step;
    else if (r->index[k] >= FR_COEFFICIENT_MAX)
        moved.price[r->index[k] - FR_COEFFICIENT_MAX].shift = step;
    else
        *fr_coefficients[r->index[k]].at(&moved, r->dtype) *= exp(step);
    return fr_run_predict_s(&moved, run);
}

/* A time is a sum and a maximum of costs, each proportional to its coefficient or to its inverse, so its elasticity is
 * within -1 and 1.  Beyond that the step crossed a jump: messages on a shared link that meet in another order.  The slope
 * over the coefficient's own deviation, either way, is what its uncertainty does to the time. */
static double elasticity(const struct fr_tune_result *r, const struct fr_run *run, int k,
                         double base_s) {
    const double slope = log(moved_s(r, run, k, FR_TUNE_STEP) / base_s) / FR_TUNE_STEP,
                 own = sqrt(r->covariance[k * r->n_known + k]);
    if (!(fabs(slope) > 1) || !(own > FR_TUNE_STEP)) return slope;
    const double wide = log(moved_s(r, run, k, own) / moved_s(r, run, k, -own)) / (2 * own);
    return isfinite(wide) ? fmax(-1, fmin(1, wide)) : slope;
}

double fr_tune_gradient(const struct fr_tune_result *r, const struct fr_run *run,
                        double gradient[FR_KNOWN_MAX]) {
    double base_s = fr_run_predict_s(&r->cluster, run);
    for (int k = 0; k < r->n_known; k++)
        if (r->index[k] >= FR_KNOWN_SEEN) {
            bool of = fr_run_is(run, &r->seen[r->index[k] - FR_KNOWN_SEEN]);
            gradient[k] = of ? model_error_times(r, run) : 0;
        } else
            gradient[k] = elasticity(r, run, k, base_s);
    return base_s;
}

double fr_tune_deviation(const struct fr_tune_result *r, const double gradient[FR_KNOWN_MAX]) {
    double variance = 0;
    for (int a = 0; a < r->n_known; a++)
        for (int b = 0; b < r->n_known; b++)
            variance += gradient[a] * gradient[b] * r->covariance[a * r->n_known + b];
    return sqrt(fmax(0, variance));
}

static double pipeline_unseen(const struct fr_tune_result *r, const struct fr_run *run) {
    return run->plan.pp > 1 && !r->pipelined ? r->model_error : 0;
}

static double unseen(const struct fr_tune_result *r, const struct fr_run *run) {
    bool experts = run->workload.transformer.experts > 1, sharded = run->plan.zero >= 2;
    double kind = hypot(experts && !r->experts ? FR_TUNE_UNSEEN : 0,
                        sharded && !r->sharded ? FR_TUNE_UNSEEN : 0);
    return hypot(kind, pipeline_unseen(r, run));
}

/* The effects of the run that were not among the rows. */
static double unknown(const struct fr_tune_result *r, const struct fr_run *run, bool model) {
    bool unknown[FR_SEEN_COUNT];
    for (int what = 0; what < FR_SEEN_COUNT; what++)
        unknown[what] = fr_tune_seen_at(r, run, what) == r->n_seen;
    unknown[FR_SEEN_MODEL] &= model;
    return fr_effects_of(r->effect, model_error_times(r, run), unknown);
}

double fr_tune_spread(const struct fr_tune_result *r, const struct fr_run *run) {
    return hypot(unknown(r, run, true), unseen(r, run));
}

double fr_tune_own(const struct fr_tune_result *r, const struct fr_run *run) {
    return hypot(unknown(r, run, false), pipeline_unseen(r, run));
}

double fr_tune_model_error(const struct fr_tune_result *r,
                           const double gradient[FR_KNOWN_MAX]) {
    double sum = fr_drift_moved(&r->cluster.drift);
    for (int k = 0; k < r->n_known; k++)
        if (r->index[k] >= FR_KNOWN_SEEN)
            sum += gradient[k] * r->seen[r->index[k] - FR_KNOWN_SEEN].model_error;
    return sum;
}

/* Measured deviation of collectives and products; a file states their 90 % widths. */
static double measured(const struct fr_tune_result *r, const double gradient[FR_KNOWN_MAX]) {
    double variance = 0;
    for (int k = 0; k < r->n_known; k++)
        if (fr_known_is_measured(r->index[k]))
            variance += gradient[k] * gradient[k] * r->covariance[k * r->n_known + k];
    return variance;
}

static double stretch_of(const struct fr_tune_result *r, bool seen) {
    return r->unmoved && !seen ? fmin(r->stretch, FR_TUNE_STRETCH) : r->stretch;
}

double fr_tune_drawn(const struct fr_tune_result *r) {
    return stretch_of(r, false) / FR_NORMAL_90;
}

double fr_tune_half(const struct fr_tune_result *r, const struct fr_run *run,
                    const double gradient[FR_KNOWN_MAX]) {
    double own = measured(r, gradient), deviation = fr_tune_deviation(r, gradient),
           rest = fmax(0, deviation * deviation - own);
    bool seen = fr_tune_seen_at(r, run, FR_SEEN_KIND) < r->n_seen;
    double stretch = stretch_of(r, seen);
    double half =
        hypot(stretch * hypot(sqrt(rest), fr_tune_spread(r, run)), FR_NORMAL_90 * sqrt(own));
    if (r->distant && !seen) half = fr_distance_known(&r->cluster, run, half, NULL);
    double beyond =
        hypot(fr_drift_deviation(&r->cluster.drift), fr_distance_recipe(run->plan.recipe));
    return hypot(half, FR_NORMAL_90 * beyond);
}

void fr_tune_interval(const struct fr_tune_result *r, const struct fr_run *run,
                      struct fr_interval *of) {
    double gradient[FR_KNOWN_MAX];
    of->model_s = fr_tune_gradient(r, run, gradient);
    double half = fr_tune_half(r, run, gradient);
    of->expected_s = of->model_s * exp(fr_tune_model_error(r, gradient));
    of->low_s = of->expected_s * exp(-half);
    of->high_s = of->expected_s * exp(half);
}
