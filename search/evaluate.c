#include "search/evaluate.h"

#include <math.h>

#include "models/outcome/fits/fits.h"
#include "search/break_even.h"
#include "search/chosen.h"

const char *const fr_objective_names[] = {"time", "energy", "edp", NULL};
const char *const fr_objective_words[] = {"time",         "energy",    "edp", "total-time",
                                          "total-energy", "total-edp", NULL};

double fr_search_samples(const struct fr_outcome *out) {
    int64_t own = out->plan.global_batch;
    return own ? (double)own : out->job ? (double)out->job->workload.global_batch : 1;
}

static double ranked_s(fr_ranking by, const struct fr_outcome *out) {
    if (by == FR_RANK_TOTAL) return out->total_time_s;
    return by == FR_RANK_SAMPLE ? out->time_s / fr_search_samples(out) : out->time_s;
}

static double ranked_J(fr_ranking by, const struct fr_outcome *out) {
    if (by == FR_RANK_TOTAL) return out->total_energy_J;
    return by == FR_RANK_SAMPLE ? out->energy_J / fr_search_samples(out) : out->energy_J;
}

double fr_objective_value(fr_objective objective, fr_ranking by, const struct fr_outcome *out) {
    double time_s = ranked_s(by, out), energy_J = ranked_J(by, out);
    switch (objective) {
    case FR_OBJECTIVE_TIME:
        return time_s;
    case FR_OBJECTIVE_ENERGY:
        return energy_J;
    case FR_OBJECTIVE_EDP:
        return time_s * energy_J;
    }
    return time_s;
}

double fr_choice_factor(const struct fr_search_options *options, const struct fr_outcome *out) {
    return options->noise > 0 && !fr_outcome_is_exact(out) ? exp(options->noise) : 1;
}

double fr_choice_value(const struct fr_search_options *options, fr_ranking by,
                       const struct fr_outcome *out) {
    return fr_choice_factor(options, out) * fr_objective_value(options->objective, by, out);
}

bool fr_search_lay_out(const struct fr_job *job, const struct fr_space *space, int64_t index,
                       struct fr_space_cursor *at, struct fr_plan *plan,
                       struct fr_outcome *out) {
    bool mesh_fits = false;
    if (!fr_space_plan_after(space, &job->workload, index, at, plan, &mesh_fits)) return false;
    out->reasons = 0;
    if (mesh_fits) return true;
    int64_t plans = fr_space_plans(space), per_rank_count = plans / (int64_t)space->n_ranks;
    *out = (struct fr_outcome){.plan = *plan,
                               .job = space->variants ? job : NULL,
                               .ranks = space->ranks[index % plans / per_rank_count],
                               .reasons = FR_BECAUSE(FR_REASON_MESH)};
    return true;
}

/* A plan fits with the probability asked for when its spare memory, in standard deviations, is at least the normal's
 * quantile. The quantile is found once here, so that each plan needs one comparison. */
void fr_search_ask_fit(struct fr_search_options *options, double probability) {
    options->fit = probability;
    options->fit_spare = probability > 0 ? fr_fits_spare(probability) : -INFINITY;
}

void fr_search_limit(const struct fr_search_options *options, struct fr_outcome *out) {
    const fr_reasons memory = FR_BECAUSE(FR_REASON_MEMORY);
    if (options->memory_limit_B > 0 && out->memory_peak_B > options->memory_limit_B)
        out->reasons |= memory;
    if (options->fit > 0 && out->memory_spare < options->fit_spare && !(out->reasons & memory))
        out->reasons |= FR_BECAUSE(FR_REASON_UNSURE);
    if (fr_outcome_lossy(out) > options->max_lossy) out->reasons |= FR_BECAUSE(FR_REASON_LOSSY);
}

void fr_search_add_reasons(const struct fr_job *job, const struct fr_search_options *options,
                           fr_ranking by, struct fr_outcome *out) {
    if (out->reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) return;
    fr_search_limit(options, out);
    if (by == FR_RANK_TOTAL && out->iterations_origin == FR_ITERATIONS_UNKNOWN)
        out->reasons |= FR_BECAUSE(FR_REASON_ITERATIONS);
    if (options->objective != FR_OBJECTIVE_TIME && !job->cluster.device.power.known)
        out->reasons |= FR_BECAUSE(FR_REASON_POWER);
}

static bool always(const void *context, struct fr_outcome *out) {
    (void)context;
    (void)out;
    return true;
}

/* @param parts  of its time too, which a search does not ask for */
static bool evaluate(struct fr_pricer *pricer, bool parts, const struct fr_job *job,
                     const struct fr_space *space, const struct fr_search_options *options,
                     fr_ranking by, int64_t index, struct fr_outcome *out) {
    struct fr_plan plan;
    struct fr_space_cursor at = {.begun = false, .alone = true};
    if (!fr_search_lay_out(job, space, index, &at, &plan, out)) return false;
    if (out->reasons) return true;
    if (fr_plan_chooses(&plan) || !pricer)
        fr_cost_chosen(job, &plan, out);
    else if (parts)
        fr_cost_cached(pricer, &plan, out);
    else
        fr_cost_bounded(pricer, &plan, always, NULL, out);
    fr_search_add_reasons(job, options, by, out);
    return true;
}

bool fr_search_evaluate_bare(struct fr_pricer *pricer, const struct fr_job *job,
                             const struct fr_space *space,
                             const struct fr_search_options *options, fr_ranking by,
                             int64_t index, struct fr_outcome *out) {
    return evaluate(pricer, false, job, space, options, by, index, out);
}

bool fr_search_evaluate(const struct fr_job *job, const struct fr_space *space,
                        const struct fr_search_options *options, fr_ranking by, int64_t index,
                        struct fr_outcome *out) {
    job = fr_space_job(space, job, index);
    if (!evaluate(NULL, true, job, space, options, by, index, out)) return false;
    out->job = space->variants ? job : NULL;
    return true;
}

bool fr_search_evaluate_cached(struct fr_pricer *pricer, const struct fr_job *job,
                               const struct fr_space *space,
                               const struct fr_search_options *options, fr_ranking by,
                               int64_t index, struct fr_outcome *out) {
    return space->variants ? fr_search_evaluate(job, space, options, by, index, out)
                           : evaluate(pricer, true, job, space, options, by, index, out);
}
