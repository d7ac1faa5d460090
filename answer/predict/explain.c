#include "answer/predict/explain.h"

#include <math.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "answer/predict/neighbours.h"
#include "base/alloc.h"
#include "models/outcome/moments.h"
#include "search/chosen.h"

/* ---- what if -------------------------------------------------------------------------------- */

const struct fr_scenario fr_scenarios[FR_SCENARIOS] = {
    {"network_x2", "twice the network's bandwidth"},
    {"node_x2", "twice the bandwidth inside a node"},
    {"launch_half", "half the time of launches and the host"},
    {"memory_120", "memory 20 % larger and faster"},
};

static struct fr_job apply(const struct fr_job *job, int which) {
    struct fr_job changed = *job;
    struct fr_levels *levels = &changed.cluster.levels;
    const int near = fr_levels_near(levels);
    struct fr_device *device = &changed.cluster.device;
    switch (which) {
    case 0:
        for (int l = near + 1; l < levels->count; l++) levels->level[l].rate_B_per_s *= 2;
        levels->fabric.rate_B_per_s *= 2;
        break;
    case 1:
        for (int l = 0; l <= near; l++) levels->level[l].rate_B_per_s *= 2;
        break;
    case 2:
        device->launch_s /= 2;
        device->host_launch_s /= 2;
        device->host_pass_s /= 2;
        device->host_experts_s /= 2;
        break;
    default:
        device->memory_B *= 1.2;
        device->memory_rate_B_per_s *= 1.2;
    }
    return changed;
}

double fr_scenario_s(const struct fr_job *job, const struct fr_plan *plan, int which) {
    struct fr_job changed = apply(job, which);
    struct fr_outcome out;
    fr_cost_chosen(&changed, plan, &out);
    return out.time_s;
}

int fr_explain_binds(const struct fr_outcome *out) {
    int most = 0;
    for (int i = 1; i < FR_PART_COUNT; i++)
        if (out->part_s[i] > out->part_s[most]) most = i;
    return most;
}

/* ---- one plan -------------------------------------------------------------------------------- */

static void json_what_if(struct fr_json_writer *w, const double *what_if_s) {
    fr_json_add_object(w, "what_if_s");
    for (int k = 0; k < FR_SCENARIOS; k++)
        fr_json_add_number(w, fr_scenarios[k].name, what_if_s[k]);
    fr_json_end_object(w);
}

static void scenario_times(const struct fr_job *job, const struct fr_plan *plan,
                           double what_if_s[FR_SCENARIOS]) {
    for (int k = 0; k < FR_SCENARIOS; k++) what_if_s[k] = fr_scenario_s(job, plan, k);
}

static void json_plan(struct fr_json_writer *w, const struct fr_outcome *out,
                      const double *what_if_s) {
    int most = fr_explain_binds(out);
    fr_json_add_string(w, "binds", fr_part_names[most]);
    fr_json_add_number(w, "binds_share", out->part_s[most] / out->time_s);
    json_what_if(w, what_if_s);
}

int fr_explain_memory(const struct fr_job *job, const struct fr_outcome *out, int most,
                      int *moment, double *total_B, struct fr_explained_tensor *tensor) {
    struct fr_moment_memory memory[FR_MOMENTS];
    double all_B[FR_MOMENTS];
    int n = 0;
    if (!fr_moments_of_peak_stage(job, out, memory, all_B)) return 0;
    *moment = 0;
    for (int k = 1; k < FR_MOMENTS; k++)
        if (all_B[k] > all_B[*moment]) *moment = k;
    *total_B = all_B[*moment];
    double *size_B = memory[*moment].tensor_B;
    for (; n < most; n++) {
        int largest = 0;
        for (int k = 1; k < FR_TENSORS; k++)
            if (size_B[k] > size_B[largest]) largest = k;
        if (!(size_B[largest] > 0)) break;
        tensor[n] = (struct fr_explained_tensor){largest, size_B[largest]};
        size_B[largest] = 0;
    }
    return n;
}

/* First passes of the peak stage, up to the most micro-batches that it ever holds. */
static void json_memory(struct fr_json_writer *w, const struct fr_job *job,
                        const struct fr_outcome *out) {
    enum { STEPS_MAX = 256, TENSORS_MAX = 3 };
    static const char *const passes[] = {"forward", "backward", "weight"};
    struct fr_memory_step step[STEPS_MAX];
    struct fr_explained_tensor tensor[TENSORS_MAX];
    int moment = 0, n;
    double total_B = NAN;
    n = fr_explain_memory(job, out, TENSORS_MAX, &moment, &total_B, tensor);
    if (n == 0) return;
    fr_json_add_object(w, "memory");
    fr_json_add_string(w, "moment", fr_moment_names[moment]);
    fr_json_add_number(w, "total_B", total_B);
    fr_json_add_array(w, "largest");
    for (int i = 0; i < n; i++) fr_json_put_string(w, fr_tensor_names[tensor[i].tensor]);
    fr_json_end_array(w);
    fr_json_add_array(w, "steps");
    n = fr_moments_steps(job, out, STEPS_MAX, step);
    for (int i = 0; i < n; i++) {
        fr_json_begin_object(w);
        fr_json_add_string(w, "pass", passes[step[i].kind]);
        fr_json_add_integer(w, "micro_batch", step[i].micro);
        fr_json_add_integer(w, "chunk", step[i].chunk);
        fr_json_add_number(w, "held_B", step[i].held_B);
        fr_json_add_number(w, "peak_B", step[i].peak_B);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
    fr_json_end_object(w);
}

void fr_explain_plan_json(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *out) {
    double what_if_s[FR_SCENARIOS];
    fr_json_begin_object(w);
    if (isfinite(out->time_s)) {
        scenario_times(job, &out->plan, what_if_s);
        json_plan(w, out, what_if_s);
        json_memory(w, job, out);
    }
    fr_json_end_object(w);
}

/* ---- a search -------------------------------------------------------------------------------- */

/* How many samples @p best has for each of @p other: iterations are compared by that. */
static double samples(const struct fr_outcome *best, const struct fr_outcome *other) {
    return best->plan.global_batch && other->plan.global_batch
               ? (double)best->plan.global_batch / (double)other->plan.global_batch
               : 1;
}

double fr_explain_slower(fr_objective objective, fr_ranking by, const struct fr_outcome *best,
                         const struct fr_outcome *other) {
    return fr_objective_value(objective, by, other) / fr_objective_value(objective, by, best) -
           1;
}

/* The part in which @p other loses most to @p best, and how much, over the best one's samples. */
int fr_explain_loses_in(const struct fr_outcome *best, const struct fr_outcome *other,
                        double *lost_s) {
    int most = 0;
    *lost_s = -INFINITY;
    for (int i = 0; i < FR_PART_COUNT; i++) {
        double part_s = samples(best, other) * other->part_s[i];
        if (part_s - best->part_s[i] > *lost_s) {
            *lost_s = part_s - best->part_s[i];
            most = i;
        }
    }
    *lost_s = fmax(0, *lost_s);
    return most;
}

/* The first of a search, or the best exact plan where the first is better by noise alone. */
static const struct fr_found *chosen(const struct fr_search_options *options,
                                     const struct fr_search_result *result) {
    const struct fr_found *first = &result->top.items[0], *exact = &result->best_exact;
    return exact->index >= 0 && fr_choice_value(options, result->by, &exact->outcome) <=
                                    fr_choice_value(options, result->by, &first->outcome)
               ? exact
               : first;
}

/* The best plan of the same search on a changed machine; none where nothing is feasible there. */
fr_status fr_explain_best_if(const struct fr_job *job, const struct fr_space *space,
                             const struct fr_search_options *options, int which,
                             struct fr_found *best, bool *found, struct fr_error *err) {
    struct fr_job changed = apply(job, which);
    struct fr_search_result other = {0};
    struct fr_search_options few = *options;
    few.top = 1;
    fr_status status = fr_search(&changed, space, &few, &other, err);
    *found = status == FR_OK && other.top.count > 0;
    if (*found) *best = *chosen(options, &other);
    fr_search_result_free(&other);
    return status;
}

static fr_status json_choice(struct fr_json_writer *w, const struct fr_job *job,
                             const struct fr_space *space,
                             const struct fr_search_options *options,
                             const struct fr_search_result *result, struct fr_error *err) {
    char line[FR_PLAN_LINE];
    fr_json_add_object(w, "choice_if");
    for (int k = 0; k < FR_SCENARIOS; k++) {
        struct fr_found other;
        bool found;
        FR_TRY(fr_explain_best_if(job, space, options, k, &other, &found, err));
        fr_json_key(w, fr_scenarios[k].name);
        if (!found) {
            fr_json_put_null(w);
            continue;
        }
        fr_json_begin_object(w);
        fr_json_add_string(w, "plan",
                           fr_report_outcome_line(&other.outcome, line, sizeof line));
        fr_json_add_bool(w, "same", other.index == result->top.items[0].index);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
    return FR_OK;
}

/* Why @p other lost, and under which changes it would overtake the best. */
static void json_near_miss(struct fr_json_writer *w, const struct fr_job *job,
                           const struct fr_search_options *options,
                           const struct fr_search_result *result, const double *best_if_s,
                           const struct fr_outcome *other) {
    const struct fr_outcome *best = &result->top.items[0].outcome;
    const double slower = fr_explain_slower(options->objective, result->by, best, other),
                 counts = samples(best, other) * fr_choice_factor(options, other) /
                          fr_choice_factor(options, best);
    char line[FR_PLAN_LINE];
    double lost_s, what_if_s[FR_SCENARIOS];
    int most = fr_explain_loses_in(best, other, &lost_s);
    scenario_times(job, &other->plan, what_if_s);
    fr_json_begin_object(w);
    fr_json_add_string(w, "plan", fr_report_outcome_line(other, line, sizeof line));
    fr_json_add_number(w, "behind", slower);
    fr_json_add_string(w, "loses_in", fr_part_names[most]);
    fr_json_add_number(w, "loses_s", lost_s);
    json_plan(w, other, what_if_s);
    fr_json_add_array(w, "overtakes_if");
    for (int k = 0; k < FR_SCENARIOS; k++)
        if (counts * other->time_s >= best->time_s && counts * what_if_s[k] < best_if_s[k])
            fr_json_put_string(w, fr_scenarios[k].name);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

static void json_neighbours(struct fr_json_writer *w, const struct fr_around *a) {
    fr_json_add_array(w, "neighbours");
    for (int i = 0; i < a->n_neighbours; i++) {
        const struct fr_neighbour *one = &a->neighbour[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "key", fr_plan_keys[one->key].name);
        fr_json_add_string(w, "value", one->value);
        fr_json_add_number(w, "time_s", one->outcome.time_s);
        fr_json_add_number(w, "behind", one->slower);
        fr_json_add_array(w, "infeasible");
        for (int r = 0; r < FR_REASON_COUNT; r++)
            if (one->outcome.reasons & FR_BECAUSE(r)) fr_json_put_string(w, fr_reason_names[r]);
        fr_json_end_array(w);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void json_turns(struct fr_json_writer *w, const struct fr_around *a) {
    char line[FR_PLAN_LINE];
    fr_json_add_integer(w, "rivals", a->n_rivals);
    fr_json_add_array(w, "choice_turns");
    for (int i = 0; i < a->n_turns; i++) {
        fr_json_begin_object(w);
        fr_json_add_string(w, "input", a->turn[i].input);
        fr_json_add_number(w, "factor", a->turn[i].factor);
        fr_json_add_string(w, "plan", fr_plan_line(&a->turn[i].plan, 0, line, sizeof line));
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static fr_status json_around(struct fr_json_writer *w, const struct fr_job *job,
                             const struct fr_space *space,
                             const struct fr_search_options *options,
                             const struct fr_search_result *result, struct fr_error *err) {
    struct fr_around *around = fr_calloc(1, sizeof *around);
    if (!around) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_around_best(job, space, options, result, around);
    json_neighbours(w, around);
    json_turns(w, around);
    free(around);
    return FR_OK;
}

fr_status fr_explain_search_json(struct fr_json_writer *w, const struct fr_job *job,
                                 const struct fr_space *space,
                                 const struct fr_search_options *options,
                                 const struct fr_search_result *result, struct fr_error *err) {
    enum { MISSES_MAX = 10 };
    const struct fr_outcome *best = &result->top.items[0].outcome;
    double best_if_s[FR_SCENARIOS];
    fr_json_begin_object(w);
    scenario_times(job, &best->plan, best_if_s);
    json_plan(w, best, best_if_s);
    FR_TRY(json_choice(w, job, space, options, result, err));
    FR_TRY(json_around(w, job, space, options, result, err));
    fr_json_add_array(w, "near_misses");
    for (size_t i = 1; i < result->top.count && i < MISSES_MAX; i++)
        json_near_miss(w, job, options, result, best_if_s, &result->top.items[i].outcome);
    fr_json_end_array(w);
    fr_json_end_object(w);
    return FR_OK;
}
