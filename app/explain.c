#include "app/explain.h"

#include <math.h>
#include <stdio.h>

#include "app/render.h"
#include "models/report.h"

/* ---- what if -------------------------------------------------------------------------------- */

static const struct scenario {
    const char *name, *sentence;
} scenarios[] = {
    {"network_x2", "twice the network's bandwidth"},
    {"node_x2", "twice the bandwidth inside a node"},
    {"launch_half", "half the time of launches and the host"},
    {"memory_120", "memory 20 % larger and faster"},
};
enum { N_SCENARIOS = sizeof scenarios / sizeof *scenarios };

static struct fr_job apply(const struct fr_job *job, int which) {
    struct fr_job changed = *job;
    struct fr_levels *levels = &changed.cluster.levels;
    struct fr_device *device = &changed.cluster.device;
    switch (which) {
    case 0:
        for (int l = 1; l < levels->count; l++) levels->level[l].rate_B_per_s *= 2;
        break;
    case 1:
        levels->level[0].rate_B_per_s *= 2;
        break;
    case 2:
        device->launch_s /= 2;
        device->host_launch_s /= 2;
        device->host_pass_s /= 2;
        break;
    default:
        device->memory_B *= 1.2;
        device->memory_rate_B_per_s *= 1.2;
    }
    return changed;
}

static double scenario_s(const struct fr_job *job, const struct fr_plan *plan, int which) {
    struct fr_job changed = apply(job, which);
    struct fr_outcome out;
    fr_cost(&changed, plan, &out);
    return out.time_s;
}

static int binding_part(const struct fr_outcome *out) {
    int most = 0;
    for (int i = 1; i < FR_PART_COUNT; i++)
        if (out->part_s[i] > out->part_s[most]) most = i;
    return most;
}

/* ---- one plan -------------------------------------------------------------------------------- */

void fr_explain_plan(struct fr_text *text, const struct fr_job *job,
                     const struct fr_outcome *out) {
    char time[40];
    int most = binding_part(out);
    if (!isfinite(out->time_s)) return;
    fr_text_addf(text, "\nwhat binds               %s, %.0f %% of the iteration\n",
                 fr_part_names[most], 100 * out->part_s[most] / out->time_s);
    fr_text_addf(text, "what would change it\n");
    for (int k = 0; k < N_SCENARIOS; k++) {
        double changed_s = scenario_s(job, &out->plan, k);
        fr_text_addf(text, "  %-40s %12s  %+.1f %%\n", scenarios[k].sentence,
                     fr_render_quantity(changed_s, FR_QUANTITY_TIME, time, sizeof time),
                     100 * (changed_s / out->time_s - 1));
    }
}

void fr_explain_plan_json(struct fr_json_writer *w, const struct fr_job *job,
                          const struct fr_outcome *out) {
    fr_json_begin_object(w);
    if (isfinite(out->time_s)) {
        int most = binding_part(out);
        fr_json_add_string(w, "binds", fr_part_names[most]);
        fr_json_add_number(w, "binds_share", out->part_s[most] / out->time_s);
        fr_json_key(w, "what_if_s");
        fr_json_begin_object(w);
        for (int k = 0; k < N_SCENARIOS; k++)
            fr_json_add_number(w, scenarios[k].name, scenario_s(job, &out->plan, k));
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

/* ---- a search -------------------------------------------------------------------------------- */

/* The part in which @p other loses most to @p best. */
static void near_miss(struct fr_text *text, const struct fr_outcome *best,
                      const struct fr_outcome *other) {
    char plan[128], time[40];
    int most = 0;
    double lost_s = -INFINITY;
    for (int i = 0; i < FR_PART_COUNT; i++)
        if (other->part_s[i] - best->part_s[i] > lost_s) {
            lost_s = other->part_s[i] - best->part_s[i];
            most = i;
        }
    fr_text_addf(text, "  %-60s %+.2f %%: %s more %s\n",
                 fr_report_plan_line(&other->plan, plan, sizeof plan),
                 100 * (other->time_s / best->time_s - 1),
                 fr_render_quantity(fmax(0, lost_s), FR_QUANTITY_TIME, time, sizeof time),
                 fr_part_names[most]);
}

fr_status fr_explain_search(struct fr_text *text, const struct fr_job *job,
                            const struct fr_space *space,
                            const struct fr_search_options *options,
                            const struct fr_search_result *result, struct fr_error *err) {
    char line[128];
    if (result->top.count == 0) return FR_OK;
    const struct fr_outcome *best = &result->top.items[0].outcome;
    fr_explain_plan(text, job, best);
    fr_text_addf(text, "would the best be another?\n");
    for (int k = 0; k < N_SCENARIOS; k++) {
        struct fr_job changed = apply(job, k);
        struct fr_search_result other = {0};
        struct fr_search_options few = *options;
        few.top = 1;
        fr_status status = fr_search(&changed, space, &few, &other, err);
        if (status == FR_OK && other.top.count) {
            bool same = other.top.items[0].index == result->top.items[0].index;
            fr_text_addf(text, "  %-40s %s\n", scenarios[k].sentence,
                         same ? "the same plan"
                              : fr_report_plan_line(&other.top.items[0].outcome.plan, line,
                                                    sizeof line));
        }
        fr_search_result_free(&other);
        FR_TRY(status);
    }
    if (result->top.count > 1) fr_text_addf(text, "why the next ones lose\n");
    for (size_t i = 1; i < result->top.count && i < 5; i++)
        near_miss(text, best, &result->top.items[i].outcome);
    return FR_OK;
}
