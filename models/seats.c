#include "models/seats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "models/cost.h"

struct fr_mesh fr_seats_mesh(const struct fr_plan *plan) {
    static const uint8_t tp_pp_dp[] = {FR_MESH_TP, FR_MESH_PP, FR_MESH_DP};
    static const uint8_t tp_dp_pp[] = {FR_MESH_TP, FR_MESH_DP, FR_MESH_PP};
    static const uint8_t data_first[] = {FR_MESH_DP, FR_MESH_TP, FR_MESH_PP};
    struct fr_mesh mesh = {.size = {[FR_MESH_TP] = plan->tp,
                                    [FR_MESH_PP] = plan->pp,
                                    [FR_MESH_DP] = fr_plan_replicas(plan)}};
    const uint8_t *tp_first = plan->rank_order == FR_ORDER_TP_DP_PP ? tp_dp_pp : tp_pp_dp;
    memcpy(mesh.order, plan->method->data_first ? data_first : tp_first, sizeof mesh.order);
    return mesh;
}

const char *fr_seats_refused(const struct fr_plan *plan) {
    const struct fr_placement *row = plan->placement.row;
    struct fr_mesh mesh = fr_seats_mesh(plan);
    if (row != &fr_placement_linear && fr_plan_ranks(plan) > FR_SEATS_MAX)
        return "lists of seats are made for at most 2^24 ranks";
    return row->refuses ? row->refuses(&plan->placement, &mesh) : NULL;
}

static bool is_data_first(const struct fr_seats *s) { return s->mesh.order[0] == FR_MESH_DP; }

static int64_t slot_of(const struct fr_seats *s, int64_t rank) {
    return s->slot ? s->slot[rank] : rank;
}

/* ---- seating ----------------------------------------------------------------------------------- */

struct tried {
    const struct fr_job *job;
    const struct fr_plan *plan;
    int64_t *mapping; /* scratch: rank of each slot */
};

static double iteration_s(const void *context, const int64_t *slot) {
    const struct tried *t = context;
    struct fr_plan plan = *t->plan;
    struct fr_outcome out;
    int64_t n = fr_plan_ranks(&plan);
    for (int64_t r = 0; r < n; r++) t->mapping[slot[r]] = r;
    plan.placement.row = &fr_placement_file;
    plan.placement.list = t->mapping;
    plan.placement.n_list = n;
    fr_cost(t->job, &plan, &out);
    return isfinite(out.time_s) ? out.time_s : INFINITY;
}

static fr_status seat(const struct fr_job *job, const struct fr_plan *plan,
                      struct fr_seats *seats, struct fr_error *err) {
    const struct fr_placement *row = plan->placement.row;
    size_t n = (size_t)fr_plan_ranks(plan);
    struct tried tried = {job, plan,
                          row->searches ? fr_malloc(n, sizeof *tried.mapping) : NULL};
    struct fr_seating seating = {seats->levels, &seats->mesh, &plan->placement, iteration_s,
                                 &tried};
    seats->slot = fr_malloc(n, sizeof *seats->slot);
    fr_status status = !seats->slot || (row->searches && !tried.mapping)
                           ? fr_fail(err, FR_ERR_NOMEM, "placement", "out of memory")
                           : row->seat(&seating, seats->slot, err);
    free(tried.mapping);
    return status;
}

/* Does every communicator have r members in each node that it uses?  Hierarchical algorithms are
 * made for that; of others only flat ones are priced.  @param here  [nodes], zero */
static bool is_even(const struct fr_seats *s, const struct fr_communicator *c, int64_t r,
                    int64_t *here) {
    int64_t node = s->levels->level[0].ranks;
    bool even = true;
    for (int64_t g = 0; g < c->n_groups && even; g++) {
        for (int64_t i = 0; i < c->n_ranks; i++) here[fr_communicator_slot(c, g, i) / node]++;
        for (int64_t i = 0; i < c->n_ranks; i++)
            even = even && here[fr_communicator_slot(c, g, i) / node] == r;
        for (int64_t i = 0; i < c->n_ranks; i++) here[fr_communicator_slot(c, g, i) / node] = 0;
    }
    return even;
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void fr_seats_members(const struct fr_seats *s, int64_t n_ranks, int64_t stride,
                      int64_t n_groups, int64_t *slot) {
    struct fr_communicator c = {
        .n_ranks = n_ranks, .stride = stride, .n_groups = n_groups, .slot = s->slot};
    for (int64_t g = 0; g < n_groups; g++) {
        int64_t *members = slot + g * n_ranks;
        for (int64_t i = 0; i < n_ranks; i++) members[i] = fr_communicator_slot(&c, g, i);
        fr_sort_items(members, (size_t)n_ranks, sizeof *members, by_number);
    }
}

/* `groups` communicators of `p` ranks `stride` apart in the numbering, at once. */
static fr_status count(const struct fr_seats *s, int64_t p, int64_t stride, int64_t groups,
                       struct fr_group *group, struct fr_error *err) {
    struct fr_communicator c = {
        .n_ranks = p, .stride = stride, .n_groups = groups, .slot = s->slot};
    int64_t nodes = fr_mesh_ranks(&s->mesh) / s->levels->level[0].ranks + 1;
    if (!s->slot) return fr_group_of(s->levels, &c, group, err);
    int64_t *slot = fr_malloc((size_t)(p * groups), sizeof *slot);
    int64_t *here = fr_calloc((size_t)nodes, sizeof *here);
    fr_status status =
        slot && here ? FR_OK : fr_fail(err, FR_ERR_NOMEM, "placement", "out of memory");
    if (status == FR_OK) {
        fr_seats_members(s, p, stride, groups, slot);
        c = (struct fr_communicator){
            .n_ranks = p, .stride = 1, .n_groups = groups, .slot = slot};
        status = fr_group_of(s->levels, &c, group, err);
    }
    if (status == FR_OK && !is_even(s, &c, group->ranks_per_node, here))
        group->ranks_per_node = 1;
    free(slot);
    free(here);
    return status;
}

fr_status fr_seats_make(const struct fr_job *job, const struct fr_plan *plan,
                        struct fr_seats *s, struct fr_error *err) {
    *s = (struct fr_seats){.levels = &job->cluster.levels, .mesh = fr_seats_mesh(plan)};
    bool linear = plan->placement.row == &fr_placement_linear;
    if (!linear) FR_TRY(seat(job, plan, s, err));
    for (int axis = 0; axis < FR_MESH_AXES; axis++) {
        int64_t p = s->mesh.size[axis], stride = fr_mesh_stride(&s->mesh, axis);
        if (linear && !is_data_first(s))
            s->axis[axis] = fr_group_make(s->levels, p, stride);
        else
            FR_TRY(count(s, p, stride, fr_mesh_ranks(&s->mesh) / p, &s->axis[axis], err));
    }
    if (!is_data_first(s)) return FR_OK;
    return plan->common_subgrid ? count(s, plan->dp, 1, 1, &s->common, err)
                                : count(s, plan->tp * plan->dp, 1, plan->pp, &s->common, err);
}

void fr_seats_free(struct fr_seats *seats) {
    free(seats->slot);
    seats->slot = NULL;
}

/* ---- pairs --------------------------------------------------------------------------------------- */

/* Ranks of a stage and of its replicas that send beside its first; so many are looked at. */
static struct fr_group seated_pairs(const struct fr_seats *s, int64_t from, int64_t to) {
    enum { LOOKED_AT = 1024 };
    int64_t a[LOOKED_AT], b[LOOKED_AT], n = 0;
    int64_t tp = fr_mesh_stride(&s->mesh, FR_MESH_TP),
            dp = fr_mesh_stride(&s->mesh, FR_MESH_DP);
    for (int64_t d = 0; d < s->mesh.size[FR_MESH_DP]; d++)
        for (int64_t t = 0; t < s->mesh.size[FR_MESH_TP] && n < LOOKED_AT; t++, n++) {
            a[n] = slot_of(s, from + d * dp + t * tp);
            b[n] = slot_of(s, to + d * dp + t * tp);
        }
    return fr_group_pairs_at(s->levels, a, b, n);
}

struct fr_group fr_seats_pair(const struct fr_seats *s, int64_t a, int64_t b) {
    int64_t stride = fr_mesh_stride(&s->mesh, FR_MESH_PP), tp = s->mesh.size[FR_MESH_TP],
            dp = s->mesh.size[FR_MESH_DP];
    if (s->slot) return seated_pairs(s, a * stride, b * stride);
    if (is_data_first(s))
        return fr_group_pairs(s->levels, a * stride, b * stride, tp * dp, 1, 1);
    return fr_group_pairs(s->levels, a * stride, b * stride, tp, dp,
                          fr_mesh_stride(&s->mesh, FR_MESH_DP));
}

struct fr_group fr_seats_ends(const struct fr_seats *s, bool all) {
    int64_t dp = s->mesh.size[FR_MESH_DP], across = fr_mesh_stride(&s->mesh, FR_MESH_DP);
    int64_t up = (s->mesh.size[FR_MESH_PP] - 1) * fr_mesh_stride(&s->mesh, FR_MESH_PP);
    if (!all) return fr_group_pair(s->levels, slot_of(s, 0), slot_of(s, up));
    if (!s->slot && s->mesh.order[FR_MESH_AXES - 1] == FR_MESH_DP) /* as if evenly spaced */
        return fr_group_make(s->levels, 2 * dp, across / 2);
    struct fr_group group = fr_group_make(s->levels, 2 * dp, 1);
    int64_t *slot = fr_malloc(2 * (size_t)dp, sizeof *slot);
    for (int64_t d = 0; slot && d < dp; d++) {
        slot[2 * d] = slot_of(s, d * across);
        slot[2 * d + 1] = slot_of(s, d * across + up);
    }
    struct fr_communicator c = {.n_ranks = 2 * dp, .stride = 1, .n_groups = 1, .slot = slot};
    if (slot) fr_group_of(s->levels, &c, &group, NULL);
    free(slot);
    return group;
}
