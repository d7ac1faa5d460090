#include "search/break_even.h"

#include <math.h>

#include "models/plan/method.h"
#include "search/chosen.h"

bool fr_outcome_is_exact(const struct fr_outcome *out) {
    return fr_outcome_lossy(out) == 0 && (!out->plan.method || out->plan.method->exact);
}

/* ---- with a warm-up ---------------------------------------------------------------------------- */

/* Cost of n iterations, of which those of the warm-up go without compression. */
static double cost_of(double n, double warm_up, double plain, double own) {
    return n < warm_up ? n * plain : warm_up * plain + (n - warm_up) * own;
}

static double whole_cost(fr_objective objective, const struct fr_outcome *out, double n) {
    const double w = out->plain_time_s > 0 ? (double)out->plan.compression.warm_up : 0;
    const double time_s = cost_of(n, w, out->plain_time_s, out->time_s),
                 energy_J = cost_of(n, w, out->plain_energy_J, out->energy_J);
    return objective == FR_OBJECTIVE_TIME     ? time_s
           : objective == FR_OBJECTIVE_ENERGY ? energy_J
                                              : time_s * energy_J;
}

/* Iterations of @p lossy that cost @p cost.  The cost rises with them, and so bisection ends. */
static double iterations_for(fr_objective objective, const struct fr_outcome *lossy,
                             double cost) {
    enum { HALVINGS = 200 };
    double low = 0, high = 1;
    while (whole_cost(objective, lossy, high) < cost && high < 1e300) high *= 2;
    for (int i = 0; i < HALVINGS && high - low > 0; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        *(whole_cost(objective, lossy, middle) < cost ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* ---- ratios ------------------------------------------------------------------------------------ */

static double once(fr_objective objective, const struct fr_outcome *exact,
                   const struct fr_outcome *lossy) {
    const double time = exact->time_s / lossy->time_s,
                 energy = exact->energy_J / lossy->energy_J;
    return objective == FR_OBJECTIVE_TIME     ? time
           : objective == FR_OBJECTIVE_ENERGY ? energy
                                              : sqrt(time * energy);
}

double fr_break_even(const struct fr_job *job, fr_objective objective, fr_ranking by,
                     const struct fr_outcome *exact, const struct fr_outcome *lossy) {
    const double samples =
        (double)fr_job_batch(job, &lossy->plan) / (double)fr_job_batch(job, &exact->plan);
    const double each = once(objective, exact, lossy);
    if (!(each > 0) || !isfinite(each)) return NAN;
    const bool warms_up = lossy->plain_time_s > 0;
    if (by != FR_RANK_TOTAL || !warms_up || !isfinite(exact->iterations)) return samples * each;
    const double nu = exact->iterations;
    return samples * iterations_for(objective, lossy, whole_cost(objective, exact, nu)) / nu;
}

/* ---- the same plan without loss ---------------------------------------------------------------- */

bool fr_exact_plan(const struct fr_outcome *out, struct fr_plan *exact) {
    const struct fr_plan none = fr_plan_default();
    if (fr_outcome_is_exact(out)) return false;
    *exact = out->plan;
    fr_plan_drop_loss(exact);
    exact->iterations = 0;
    exact->resolved = 0; /* other keys are read now */
    if (exact->method->exact) return true;
    exact->method = none.method;
    exact->ghost = none.ghost;
    exact->phantom_parts = none.phantom_parts;
    return true;
}

void fr_break_even_state(const struct fr_job *job, struct fr_outcome *out) {
    struct fr_plan plan;
    struct fr_outcome exact;
    out->break_even_iterations = 0;
    out->break_even_from = FR_BREAK_EVEN_NONE;
    if (!isfinite(out->time_s) || !fr_exact_plan(out, &plan)) return;
    fr_cost_chosen(job, &plan, &exact);
    if (exact.reasons) return;
    const double ratio = fr_break_even(job, FR_OBJECTIVE_TIME, FR_RANK_TOTAL, &exact, out);
    if (!isfinite(ratio)) return;
    out->break_even_iterations = ratio;
    out->break_even_from = FR_BREAK_EVEN_SAME_PLAN;
}
