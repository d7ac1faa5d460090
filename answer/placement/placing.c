#include "answer/placement/placing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "base/alloc.h"
#include "base/text.h"
#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "models/price/rank_map.h"
#include "topology/communicator.h"

/* Use R ranks of each node: every level shrinks alike. */
static fr_status shrink_nodes(struct fr_placing *q, int64_t per_node, struct fr_error *err) {
    int64_t have = q->levels.level[q->node].ranks;
    if (per_node > have)
        return fr_fail(err, FR_ERR_INPUT, "--ranks-per-node",
                       "a node of this cluster holds %" PRId64 " ranks", have);
    for (int l = 0; l < q->levels.count; l++) {
        struct fr_level *level = &q->levels.level[l];
        level->ranks = l < q->node ? (level->ranks < per_node ? level->ranks : per_node)
                                   : level->ranks / have * per_node;
        level->segment = l > q->node ? level->segment / have * per_node : 0;
    }
    return FR_OK;
}

/* The first reason, as a sentence; all of them are those of q->refused. */
static fr_status refuse(struct fr_placing *q, struct fr_error *err) {
    struct fr_text text = {0};
    for (int i = 0; i < FR_REASON_COUNT && text.length == 0; i++)
        if (q->refused.reasons & FR_BECAUSE(i)) fr_report_reason(q->job, &q->refused, i, &text);
    fr_fail(err, FR_ERR_INFEASIBLE, "plan", "%s",
            text.length ? fr_text_get(&text) : "has no price");
    fr_text_free(&text);
    return FR_ERR_INFEASIBLE;
}

/* A plan that cannot be priced anywhere has no best placement. */
static fr_status check_priced(struct fr_placing *q, struct fr_error *err) {
    struct fr_plan plan = q->plan;
    plan.placement = fr_placement_default();
    fr_cost(q->job, &plan, &q->refused);
    return isfinite(q->refused.time_s) ? FR_OK : refuse(q, err);
}

fr_status fr_placing_open(struct fr_job *job, bool with_model, const struct fr_plan *plan,
                          int64_t per_node, struct fr_placing *q, struct fr_error *err) {
    *q = (struct fr_placing){.job = job,
                             .plan = *plan,
                             .with_model = with_model,
                             .segmented = plan->method->branches,
                             .levels = job->cluster.levels,
                             .mesh = fr_rank_map_mesh(plan),
                             .ranks = fr_plan_ranks(plan),
                             .ways = plan->tp};
    q->node = fr_levels_node(&q->levels);
    if (per_node) FR_TRY(shrink_nodes(q, per_node, err));
    job->cluster.levels = q->levels;
    const struct fr_levels own = fr_levels_take(&q->levels, q->ranks, FR_UNITS_SEGMENTS);
    q->ranks_per_node = own.level[q->node].ranks;
    if (with_model) return check_priced(q, err);
    if (q->ranks > fr_levels_capacity(&own))
        return fr_fail(err, FR_ERR_INPUT, job->cluster_from,
                       "%" PRId64 " ranks are asked for, the cluster holds %" PRId64, q->ranks,
                       fr_levels_largest(&q->levels));
    return FR_OK;
}

const char *fr_placing_numbering(const struct fr_placing *q, char *out, size_t capacity) {
    size_t used = 0;
    int64_t stride = 1;
    fr_line_addf(out, capacity, &used, "rank =");
    for (int i = 0; i < FR_MESH_AXES; i++) {
        int axis = q->mesh.order[i];
        if (q->mesh.size[axis] == 1) continue;
        fr_line_addf(out, capacity, &used, stride > 1 ? " + %" PRId64 " " : " ", stride);
        fr_line_addf(out, capacity, &used, "%s", fr_mesh_axis_names[axis]);
        stride *= q->mesh.size[axis];
    }
    if (stride == 1) fr_line_addf(out, capacity, &used, " 0");
    return out;
}

static double weight_of(const struct fr_placing *q, const int64_t by_level[FR_LEVEL_MAX]) {
    static const double message_B = 1e6;
    double weight_s = 0;
    for (int l = 0; l < q->levels.count; l++)
        weight_s += (double)by_level[l] * (q->levels.level[l].latency_s +
                                           message_B * fr_level_s_per_B(&q->levels, l));
    return weight_s;
}

/* Time of an iteration on these slots, which the placement's rule gives; NaN where it cannot be. */
static double iteration_s(const struct fr_placing *q, const struct fr_placement *row,
                          const int64_t *slot) {
    struct fr_plan plan = q->plan;
    struct fr_outcome out;
    int64_t *mapping = fr_malloc((size_t)q->ranks, sizeof *mapping);
    if (!mapping) return NAN;
    for (int64_t r = 0; r < q->ranks; r++) mapping[slot[r]] = r;
    plan.placement = fr_placement_default();
    plan.placement.row = row->in_order ? row : &fr_placement_file;
    plan.placement.list = mapping;
    plan.placement.n_list = q->ranks;
    fr_cost(q->job, &plan, &out);
    free(mapping);
    return out.time_s;
}

static double cost_of(const void *context, const int64_t *slot) {
    const struct fr_placing *q = context;
    int64_t by_level[FR_LEVEL_MAX];
    if (q->with_model) return iteration_s(q, &fr_placement_optimised, slot);
    if (fr_messages_count(&q->placed[q->count - 1].levels, &q->mesh, FR_MESH_TP, slot, by_level,
                          NULL) != FR_OK)
        return INFINITY;
    return weight_of(q, by_level);
}

/* Groups along an axis whose ranks all sit in one node. */
static int64_t groups_in_a_node(const struct fr_placing *q, int axis,
                                const struct fr_placed *s) {
    int64_t p = q->mesh.size[axis], stride = fr_mesh_stride(&q->mesh, axis), whole = 0;
    struct fr_communicator c = {
        .n_ranks = p, .stride = stride, .n_groups = q->ranks / p, .slot = s->slot};
    for (int64_t g = 0; g < c.n_groups; g++) {
        int64_t node = fr_communicator_slot(&c, g, 0) / s->ranks_per_node, i = 1;
        while (i < p && fr_communicator_slot(&c, g, i) / s->ranks_per_node == node) i++;
        whole += i == p;
    }
    return whole;
}

fr_status fr_placing_add(struct fr_placing *q, const struct fr_placement_choice *choice,
                         struct fr_error *err) {
    struct fr_placed *s = &q->placed[q->count++];
    struct fr_placement_ask seating = {&s->levels, &q->mesh, choice, cost_of, q};
    const char *refused = choice->row->refuses ? choice->row->refuses(choice, &q->mesh) : NULL;
    s->choice = *choice;
    if (refused && q->with_model) {
        struct fr_plan plan = q->plan;
        plan.placement = *choice;
        fr_pipeline_refuse(&plan, FR_BECAUSE(FR_REASON_PLACEMENT), &q->refused);
        return fr_fail(err, FR_ERR_INFEASIBLE, "--placement", "%s", refused);
    }
    s->levels = fr_levels_take(&q->levels, q->ranks, choice->row->units);
    s->ranks_per_node = s->levels.level[q->node].ranks;
    if (q->ranks > fr_levels_capacity(&s->levels))
        return fr_fail(err, FR_ERR_INPUT, "--placement",
                       "%" PRId64
                       " ranks are asked for, in equal parts the cluster holds %" PRId64,
                       q->ranks, fr_levels_capacity(&s->levels));
    if (refused) return fr_fail(err, FR_ERR_INPUT, "--placement", "%s", refused);
    s->slot = fr_malloc((size_t)q->ranks, sizeof *s->slot);
    s->mapping = fr_malloc((size_t)q->ranks, sizeof *s->mapping);
    if (!s->slot || !s->mapping) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(choice->row->place(&seating, s->slot, err));
    for (int64_t r = 0; r < q->ranks; r++) s->mapping[s->slot[r]] = r;
    FR_TRY(fr_messages_count(&s->levels, &q->mesh, FR_MESH_TP, s->slot, s->by_level, err));
    for (int l = 0; l < q->levels.count; l++)
        *(l <= q->node ? &s->intra : &s->inter) += s->by_level[l];
    for (int axis = 0; axis < FR_MESH_AXES; axis++)
        s->whole[axis] = groups_in_a_node(q, axis, s);
    s->weight_s = weight_of(q, s->by_level);
    s->time_s = q->with_model ? iteration_s(q, choice->row, s->slot) : NAN;
    if (q->segmented)
        s->formula = fr_messages_formula(choice->row, q->ranks, q->ways, s->ranks_per_node);
    return FR_OK;
}

fr_status fr_placing_add_all(struct fr_placing *q, struct fr_error *err) {
    for (const struct fr_placement *const *row = fr_placements; *row; row++) {
        struct fr_placement_choice choice = fr_placement_default();
        choice.row = *row;
        if (*row == &fr_placement_file) continue; /* only where one is named */
        FR_TRY(fr_placing_add(q, &choice, err));
    }
    return FR_OK;
}

static double value_of(const struct fr_placed *s) {
    return isfinite(s->time_s) ? s->time_s : s->weight_s;
}

const struct fr_placed *fr_placing_best(const struct fr_placing *q) {
    const struct fr_placed *best = &q->placed[0];
    for (int i = 1; i < q->count; i++)
        if (value_of(&q->placed[i]) < value_of(best) * (1 - 1e-9)) best = &q->placed[i];
    return best;
}

void fr_placing_free(struct fr_placing *q) {
    for (int i = 0; i < q->count; i++) {
        free(q->placed[i].slot);
        free(q->placed[i].mapping);
    }
    *q = (struct fr_placing){0};
}
