#include "answer/placement/place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/placement/launch_lines.h"
#include "base/json.h"
#include "models/job/runtime.h"
#include "models/price/rank_map.h"

/* ---- the mesh --------------------------------------------------------------------------------- */

/* Sub-grids alone: the mesh is --ranks over --ways. */
static fr_status sub_grids(const struct fr_place_ask *ask, const struct fr_job *job,
                           struct fr_plan *plan, struct fr_error *err) {
    if (fr_job_plan_says(job, "method") && !plan->method->branches)
        return fr_fail(err, FR_ERR_USAGE, "--model",
                       "is required: where method %s should sit is what its iterations take",
                       plan->method->name);
    if (!ask->ways)
        return fr_fail(
            err, FR_ERR_USAGE, "--ways",
            "is required to count the messages of sub-grids; or give --model and the "
            "plan's mesh (--plan, --set tp=...) to place what it says");
    if (!ask->ranks) return fr_fail(err, FR_ERR_USAGE, "--ranks", "is required");
    if (ask->ranks % ask->ways != 0)
        return fr_fail(err, FR_ERR_USAGE, "--ways",
                       "%" PRId64 " does not divide %" PRId64 " ranks", ask->ways, ask->ranks);
    plan->method = FR_METHOD_WITH(branches);
    plan->tp = ask->ways;
    plan->dp = ask->ranks / ask->ways;
    plan->pp = plan->cp = 1;
    return FR_OK;
}

/* For method subgraph --ways may state how many. */
static fr_status take_ways(const struct fr_place_ask *ask, const struct fr_job *job,
                           struct fr_plan *plan, struct fr_error *err) {
    if (!ask->ways) return FR_OK;
    if (!plan->method->branches)
        return fr_fail(err, FR_ERR_USAGE, "--ways",
                       "is for method subgraph, the plan's is %s: give its mesh (--set "
                       "tp=%" PRId64 " ...), or ask for --set method=subgraph",
                       plan->method->name, ask->ways);
    if (fr_job_plan_says(job, "tp") && plan->tp != ask->ways)
        return fr_fail(err, FR_ERR_USAGE, "--ways",
                       "is %" PRId64 ", the plan has tp = %" PRId64, ask->ways, plan->tp);
    plan->tp = ask->ways;
    return FR_OK;
}

/* The plan's own method and mesh; --ranks gives dp where the plan leaves it open. */
static fr_status plan_mesh(const struct fr_place_ask *ask, const struct fr_job *job,
                           struct fr_plan *plan, struct fr_error *err) {
    FR_TRY(take_ways(ask, job, plan, err));
    if (!ask->ranks) return FR_OK;
    int64_t others = fr_plan_ranks(plan) / plan->dp;
    if (!fr_job_plan_says(job, "dp") && ask->ranks % others == 0)
        plan->dp = ask->ranks / others;
    if (fr_plan_ranks(plan) == ask->ranks) return FR_OK;
    return ask->ways
               ? fr_fail(err, FR_ERR_USAGE, "--ways",
                         "%" PRId64 " does not divide %" PRId64 " ranks", ask->ways, ask->ranks)
               : fr_fail(err, FR_ERR_USAGE, "--ranks",
                         "is %" PRId64 ", the plan has %" PRId64 " (dp x cp x pp x tp)",
                         ask->ranks, fr_plan_ranks(plan));
}

/* ---- rank mapping ----------------------------------------------------------------------------- */

/* By what was asked for, else by the plan's own where it says one, else by all. */
static fr_status map_ranks(const char *name, const struct fr_job *job, struct fr_placing *q,
                           struct fr_error *err) {
    struct fr_placement_choice choice;
    int64_t *owned = NULL;
    if (!name && fr_job_plan_says(job, "placement"))
        return fr_placing_add(q, &job->plan.placement, err);
    if (!name || strcmp(name, "all") == 0) return fr_placing_add_all(q, err);
    FR_TRY(fr_placement_parse(name, "--placement", &choice, &owned, err));
    fr_status status = fr_placing_add(q, &choice, err);
    free(owned);
    return status;
}

fr_status fr_place(struct fr_job *job, const struct fr_place_ask *ask, struct fr_placing *q,
                   struct fr_error *err) {
    struct fr_plan plan = job->plan;
    FR_TRY((ask->with_model ? plan_mesh : sub_grids)(ask, job, &plan, err));
    FR_TRY(fr_placing_open(job, ask->with_model, &plan, ask->ranks_per_node, q, err));
    return map_ranks(ask->placement, job, q, err);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void json_pair(struct fr_json_writer *w, const char *key, bool known, int64_t intra,
                      int64_t inter) {
    fr_json_key(w, key);
    if (!known) {
        fr_json_put_null(w);
        return;
    }
    fr_json_begin_object(w);
    fr_json_add_integer(w, "intra_node", intra);
    fr_json_add_integer(w, "inter_node", inter);
    fr_json_end_object(w);
}

static void json_formula(struct fr_json_writer *w, const struct fr_message_formula *f) {
    fr_json_add_object(w, "formula");
    fr_json_add_bool(w, "applies", f->applies);
    if (f->equations) {
        fr_json_add_string(w, "equations", f->equations);
        fr_json_add_string(w, "condition", f->condition);
        fr_json_add_integer(w, "intra_node", f->intra);
        fr_json_add_integer(w, "inter_node", f->inter);
        json_pair(w, "printed", true, f->printed_intra, f->printed_inter);
        fr_json_add_string(w, "general_equation", f->general);
        json_pair(w, "general", f->general_applies, f->general_intra, f->general_inter);
    }
    fr_json_end_object(w);
}

static void json_plan(struct fr_json_writer *w, const struct fr_placing *q) {
    char numbering[96];
    fr_json_add_string(w, "method", q->plan.method->name);
    fr_json_add_integer(w, "ranks", q->ranks);
    for (int axis = 0; axis < FR_MESH_AXES; axis++)
        fr_json_add_integer(w, fr_mesh_axis_names[axis], q->mesh.size[axis]);
    if (q->segmented) fr_json_add_integer(w, "ways", q->ways);
    fr_json_add_string(w, "numbering", fr_placing_numbering(q, numbering, sizeof numbering));
}

static void json_groups(struct fr_json_writer *w, const struct fr_placing *q,
                        const struct fr_placed *s) {
    fr_json_add_object(w, "groups");
    for (int axis = 0; axis < FR_MESH_AXES; axis++) {
        fr_json_add_object(w, fr_mesh_axis_names[axis]);
        fr_json_add_integer(w, "count", q->ranks / q->mesh.size[axis]);
        fr_json_add_integer(w, "in_one_node", s->whole[axis]);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

static void json_messages(struct fr_json_writer *w, const struct fr_placing *q,
                          const struct fr_placed *s) {
    fr_json_add_integer(w, "messages", q->ranks * q->ways);
    fr_json_add_integer(w, "intra_node", s->intra);
    fr_json_add_integer(w, "inter_node", s->inter);
    fr_json_add_object(w, "by_level");
    for (int l = 0; l < q->levels.count; l++)
        fr_json_add_integer(w, q->levels.level[l].name, s->by_level[l]);
    fr_json_end_object(w);
}

static void json_placed(struct fr_json_writer *w, const struct fr_placing *q,
                        const struct fr_placed *s) {
    char name[64];
    fr_json_begin_object(w);
    fr_json_add_string(w, "schema", "forerun/place/1");
    fr_json_add_string(w, "placement", s->choice.row->name);
    fr_json_add_string(w, "choice", fr_placement_write(&s->choice, name, sizeof name));
    if (s->choice.row->searches) fr_json_add_integer(w, "seed", (int64_t)s->choice.seed);
    json_plan(w, q);
    fr_runtime_put(&q->job->cluster, w);
    fr_json_add_integer(w, "ranks_per_node", s->ranks_per_node);
    json_groups(w, q, s);
    if (q->segmented) json_messages(w, q, s);
    if (q->with_model) fr_json_add_number(w, "iteration_time_s", s->time_s);
    if (q->segmented) json_formula(w, &s->formula);
    fr_json_add_array(w, "mapping");
    for (int64_t i = 0; i < q->ranks; i++) fr_json_put_integer(w, s->mapping[i]);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

void fr_place_json(struct fr_text *text, const struct fr_placing *q) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    bool several = q->count > 1;
    if (several) fr_json_begin_array(&w);
    for (int i = 0; i < q->count; i++) json_placed(&w, q, &q->placed[i]);
    if (several) fr_json_end_array(&w);
}

/* ---- the launcher ----------------------------------------------------------------------------- */

const char *fr_place_what(const struct fr_placing *q, char *out, size_t capacity) {
    char numbering[96];
    size_t used = 0;
    fr_line_addf(out, capacity, &used, "method %s: %" PRId64 " ranks", q->plan.method->name,
                 q->ranks);
    for (int i = 0; i < FR_MESH_AXES; i++) {
        int axis = q->mesh.order[i];
        fr_line_addf(out, capacity, &used, "%s%s %" PRId64, i ? " x " : ", ",
                     fr_mesh_axis_names[axis], q->mesh.size[axis]);
    }
    fr_line_addf(out, capacity, &used, ", %s",
                 fr_placing_numbering(q, numbering, sizeof numbering));
    return out;
}

const char *const fr_place_launchers[] = {"slurm", "rankfile", NULL};

void fr_place_lines(struct fr_text *text, const struct fr_placing *q,
                    fr_place_launcher launcher) {
    const struct fr_placed *best = fr_placing_best(q);
    char what[192];
    struct fr_launch_lines lines = {.ranks = q->ranks,
                                    .ranks_per_node = best->ranks_per_node,
                                    .slot = best->slot,
                                    .name = best->choice.row->name,
                                    .what = fr_place_what(q, what, sizeof what)};
    (launcher == FR_PLACE_SLURM ? fr_launch_slurm : fr_launch_rankfile)(&lines, text);
}
