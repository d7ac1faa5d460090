#include "models/price/rank_map.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "topology/route.h"

struct fr_mesh fr_rank_map_mesh(const struct fr_plan *plan) {
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

const char *fr_rank_map_refused(const struct fr_plan *plan) {
    const struct fr_placement *row = plan->placement.row;
    struct fr_mesh mesh = fr_rank_map_mesh(plan);
    if (!row->in_order && fr_plan_ranks(plan) > FR_RANK_MAP_MAX)
        return "lists of ranks are made for at most 2^24 ranks";
    return row->refuses ? row->refuses(&plan->placement, &mesh) : NULL;
}

static bool is_data_first(const struct fr_rank_map *s) {
    return s->mesh.order[0] == FR_MESH_DP;
}

static int64_t slot_of(const struct fr_rank_map *s, int64_t rank) {
    return s->slot ? s->slot[rank] : rank;
}

/* ---- seating ----------------------------------------------------------------------------------- */

struct fr_levels fr_rank_map_levels(const struct fr_levels *levels,
                                    const struct fr_plan *plan) {
    return fr_levels_take(levels, fr_plan_ranks(plan), plan->placement.row->units);
}

/* Levels as large as the plan's ranks need: what nobody uses need not be counted. */
static void take_levels(const struct fr_levels *levels, const struct fr_plan *plan,
                        struct fr_levels *own) {
    int64_t n = fr_plan_ranks(plan);
    *own = fr_rank_map_levels(levels, plan);
    struct fr_level *outer = &own->level[own->count - 1];
    int64_t below = own->count > 1 ? outer[-1].ranks : 1,
            needed = (n + below - 1) / below * below;
    if (!own->fabric.shape && needed < outer->ranks) outer->ranks = needed;
}

fr_status fr_rank_map_list(const struct fr_rank_map *rank_map, const struct fr_plan *plan,
                           fr_placement_cost *cost, const void *context, int64_t *slot,
                           struct fr_error *err) {
    const struct fr_placement_ask placement = {&rank_map->levels, &rank_map->mesh,
                                               &plan->placement, cost, context};
    if (plan->placement.row->searches && !cost)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "placement",
                       "\"%s\" is settled before a plan is priced", plan->placement.row->name);
    return plan->placement.row->place(&placement, slot, err);
}

static fr_status place(const struct fr_plan *plan, struct fr_rank_map *rank_map,
                       struct fr_error *err) {
    rank_map->slot = fr_malloc((size_t)fr_plan_ranks(plan), sizeof *rank_map->slot);
    if (!rank_map->slot) return fr_fail(err, FR_ERR_NOMEM, "placement", "out of memory");
    return fr_rank_map_list(rank_map, plan, NULL, NULL, rank_map->slot, err);
}

void fr_rank_map_begin(const struct fr_job *job, const struct fr_plan *plan,
                       struct fr_rank_map *s) {
    memset(&s->mesh, 0, sizeof *s - offsetof(struct fr_rank_map, mesh));
    take_levels(&job->cluster.levels, plan, &s->levels);
    s->mesh = fr_rank_map_mesh(plan);
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return FR_ORDER(x, y);
}

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, "placement", "out of memory");
}

/* ---- groups -------------------------------------------------------------------------------------- */

static struct fr_communicator strided(const struct fr_rank_map *s, int64_t p, int64_t stride) {
    return (struct fr_communicator){.n_ranks = p,
                                    .stride = stride,
                                    .n_groups = fr_mesh_ranks(&s->mesh) / p,
                                    .slot = s->slot};
}

/* Lists of `p` ranks each by their slots, in ascending order.  Libraries order members by their place, so the rank numbers
 * that they happen to have cost nothing. */
static fr_status listed(const struct fr_rank_map *s, int64_t p, int64_t groups, int64_t *slot,
                        struct fr_group *group, struct fr_error *err) {
    struct fr_communicator c = {.n_ranks = p, .stride = 1, .n_groups = groups, .slot = slot};
    for (int64_t g = 0; g < groups; g++)
        fr_sort_items(slot + g * p, (size_t)p, sizeof *slot, by_number);
    return fr_group_of(&s->levels, &c, group, err);
}

/* `groups` communicators of `p` ranks `stride` apart in the numbering, at once. */
static fr_status count(const struct fr_rank_map *s, int64_t p, int64_t stride, int64_t groups,
                       struct fr_group *group, struct fr_error *err) {
    struct fr_communicator c = strided(s, p, stride);
    c.n_groups = groups;
    *group = (struct fr_group){.n_ranks = 1, .ranks_per_node = 1};
    if (p == 1) return FR_OK; /* sends nothing */
    if (!s->slot) return fr_group_of(&s->levels, &c, group, err);
    int64_t *slot = fr_malloc((size_t)(p * groups), sizeof *slot);
    if (!slot) return no_memory(err);
    for (int64_t k = 0; k < p * groups; k++) slot[k] = fr_communicator_slot(&c, k / p, k % p);
    fr_status status = listed(s, p, groups, slot, group, err);
    free(slot);
    return status;
}

static fr_status count_all(const struct fr_rank_map *s, int64_t p, int64_t stride,
                           struct fr_group *group, struct fr_error *err) {
    return count(s, p, stride, fr_mesh_ranks(&s->mesh) / p, group, err);
}

/* Among the R = tp dp cp ranks of a stage, counted x = t + tp r with t along tp and r along its replicas:
 * communicators of p ranks, `apart` ranks apart. */
static fr_status count_within(const struct fr_rank_map *s, int64_t p, int64_t apart,
                              struct fr_group *group, struct fr_error *err) {
    const struct fr_mesh *mesh = &s->mesh;
    int64_t n = fr_mesh_ranks(mesh), tp = mesh->size[FR_MESH_TP],
            own = tp * mesh->size[FR_MESH_DP], up = fr_mesh_stride(mesh, FR_MESH_PP),
            across = fr_mesh_stride(mesh, FR_MESH_DP);
    if (p <= 1) return FR_OK;
    if (across == tp || mesh->size[FR_MESH_PP] == 1) return count_all(s, p, apart, group, err);
    if (apart % tp == 0) return count_all(s, p, apart / tp * across, group, err);
    int64_t *slot = fr_malloc((size_t)n, sizeof *slot);
    if (!slot) return no_memory(err);
    for (int64_t i = 0; i < n; i++) {
        int64_t g = i / p % (own / p), x = g / apart * apart * p + g % apart + i % p * apart;
        slot[i] = slot_of(s, i / own * up + x % tp + x / tp * across);
    }
    fr_status status = listed(s, p, n / p, slot, group, err);
    free(slot);
    return status;
}

/* All copies are there by now; those that zero divides over fewer are of two groups. */
static fr_status count_dividing(const struct fr_plan *plan, fr_copies kind, int64_t apart,
                                struct fr_rank_map *s, struct fr_error *err) {
    int64_t copies = fr_plan_copies(plan, kind), z = fr_plan_dividing(plan, kind);
    s->copies[kind].dividing = s->copies[kind].all;
    if (z >= copies) return FR_OK;
    s->copies[kind].dividing = s->copies[kind].across = (struct fr_group){0};
    if (is_data_first(s)) { /* dp first, tp after it: copies are a stage's neighbours */
        int64_t n = plan->common_subgrid && kind == FR_COPIES_COMMON
                        ? fr_plan_replicas(plan) /* of the first sub-grid alone */
                        : fr_mesh_ranks(&s->mesh);
        FR_TRY(count(s, z, 1, n / z, &s->copies[kind].dividing, err));
        return count(s, copies / z, z, n / (copies / z), &s->copies[kind].across, err);
    }
    FR_TRY(count_within(s, z, apart, &s->copies[kind].dividing, err));
    return count_within(s, copies / z, z * apart, &s->copies[kind].across, err);
}

static fr_status count_grids(const struct fr_plan *plan, struct fr_rank_map *s,
                             struct fr_error *err) {
    for (int g = 0; g < FR_GRIDS; g++) {
        int64_t p = fr_plan_grid(plan, g), next = fr_plan_grid(plan, (g + 1) % FR_GRIDS),
                most = p > next ? p : next, least = p + next - most;
        fr_copies kind = (fr_copies)(FR_COPIES_ATTENTION + g);
        if (p != next) FR_TRY(count_within(s, most / least, least, &s->between[g], err));
        if (!fr_plan_own_grid(plan, g)) continue;
        FR_TRY(count_within(s, p, 1, &s->grid[g], err));
        FR_TRY(count_within(s, fr_plan_copies(plan, kind), p, &s->copies[kind].all, err));
        FR_TRY(count_dividing(plan, kind, p, s, err));
        if (g < FR_GRID_ENDS && p == fr_plan_arriving(plan)) s->arrive = s->grid[g];
    }
    return FR_OK;
}

static fr_status count_copies(const struct fr_plan *plan, const struct fr_transformer *t,
                              struct fr_rank_map *s, struct fr_error *err) {
    int64_t apart = plan->ep * fr_plan_expert_tp(plan);
    s->arrive = s->axis[FR_MESH_TP];
    s->copies[FR_COPIES_REST].all = s->axis[FR_MESH_DP];
    s->copies[FR_COPIES_COMMON].all = s->common;
    FR_TRY(count_dividing(plan, FR_COPIES_REST, plan->tp, s, err));
    if (is_data_first(s)) FR_TRY(count_dividing(plan, FR_COPIES_COMMON, 1, s, err));
    if (t->experts > 0) {
        FR_TRY(count_within(s, fr_plan_copies(plan, FR_COPIES_EXPERTS), apart,
                            &s->copies[FR_COPIES_EXPERTS].all, err));
        FR_TRY(count_dividing(plan, FR_COPIES_EXPERTS, apart, s, err));
    }
    return t->layers > 0 ? count_grids(plan, s, err) : FR_OK;
}

/* Where all replicas cost the same, it is enough to place those that may share a link with the first. */
static int64_t replicas_beside(const struct fr_rank_map *s) {
    int64_t far = 1, dp = s->mesh.size[FR_MESH_DP];
    for (int l = 0; l < s->levels.count; l++)
        if (s->levels.level[l].shared_by > far) far = s->levels.level[l].shared_by;
    int64_t beside = 1 + far / fr_mesh_stride(&s->mesh, FR_MESH_DP);
    return s->regular && beside < dp ? beside : dp;
}

/* The embedding is divided over tp, each part with its own copies; of sub-graphs it is common: all
 * ranks of a stage, or those of the first sub-grid, hold all of it. */
static fr_status count_ends(const struct fr_plan *plan, struct fr_rank_map *s,
                            struct fr_error *err) {
    const struct fr_mesh *mesh = &s->mesh;
    bool fused = plan->compression.fused_embedding, whole = is_data_first(s);
    int64_t tp = whole && plan->common_subgrid ? 1 : mesh->size[FR_MESH_TP],
            dp = fused ? mesh->size[FR_MESH_DP] : replicas_beside(s), n = 0,
            groups = whole ? 1 : tp, all = 2 * tp * dp,
            up = (mesh->size[FR_MESH_PP] - 1) * fr_mesh_stride(mesh, FR_MESH_PP);
    int64_t *slot = fr_malloc((size_t)(2 * tp * dp), sizeof *slot);
    if (!slot) return no_memory(err);
    for (int64_t t = 0; t < tp; t++)
        for (int64_t d = 0; d < dp; d++) {
            int64_t first =
                t * fr_mesh_stride(mesh, FR_MESH_TP) + d * fr_mesh_stride(mesh, FR_MESH_DP);
            slot[n++] = slot_of(s, first);
            slot[n++] = slot_of(s, first + up);
        }
    fr_status status = fused ? listed(s, all / groups, groups, slot, &s->ends, err)
                             : listed(s, 2, tp * dp, slot, &s->ends, err);
    free(slot);
    return status;
}

/* ---- all groups of a plan -------------------------------------------------------------------------- */

static fr_status make_scratch(struct fr_rank_map *s, struct fr_error *err) {
    int64_t replicas = s->mesh.size[FR_MESH_TP] * s->mesh.size[FR_MESH_DP];
    s->pairs = fr_malloc((size_t)(2 * replicas), sizeof *s->pairs);
    s->load = fr_calloc((size_t)fr_links_count(&s->levels) + 1, sizeof *s->load);
    return s->pairs && s->load ? FR_OK : no_memory(err);
}

/* A mesh is regular where every communicator along an axis crosses the same links as every other. Then one of them
 * stands for all, and mapping costs nothing per rank. */
static bool is_regular(const struct fr_rank_map *s) {
    bool regular = !s->slot;
    for (int axis = 0; axis < FR_MESH_AXES && regular; axis++) {
        struct fr_communicator c =
            strided(s, s->mesh.size[axis], fr_mesh_stride(&s->mesh, axis));
        regular = fr_communicator_regular(&s->levels, &c);
    }
    return regular;
}

/* Count the p ranks that share experts, at this stride among them. */
static fr_status count_experts(const struct fr_rank_map *s, const struct fr_plan *plan,
                               int64_t p, int64_t apart, struct fr_group *group,
                               struct fr_error *err) {
    if (fr_plan_expert_tp(plan) != plan->tp) return count_within(s, p, apart, group, err);
    return count_all(s, p, apart * fr_mesh_stride(&s->mesh, FR_MESH_DP), group, err);
}

static fr_status count_shares(const struct fr_plan *plan, struct fr_rank_map *s,
                              struct fr_error *err) {
    int64_t across = fr_mesh_stride(&s->mesh, FR_MESH_DP);
    if (plan->cp > 1) FR_TRY(count_all(s, plan->cp, across, &s->cp, err));
    if (plan->ep <= 1) return FR_OK;
    FR_TRY(count_experts(s, plan, plan->ep, 1, &s->ep, err));
    int64_t together = plan->dispatch_ranks;
    if (together < 1) return FR_OK;
    FR_TRY(count_experts(s, plan, plan->ep / together, together, &s->ep_across, err));
    return count_experts(s, plan, together, 1, &s->ep_within, err);
}

/* From ranks to links. For each axis and each kind of copy: which level of the network its communicators meet at, how
 * many ranks of one sit in a node, how many communicators share a link. Prices need nothing else of where ranks are. */
fr_status fr_rank_map_make(const struct fr_job *job, const struct fr_plan *plan,
                           struct fr_rank_map *s, struct fr_error *err) {
    const struct fr_transformer *t = &job->workload.transformer;
    fr_rank_map_begin(job, plan, s);
    if (!plan->placement.row->in_order) FR_TRY(place(plan, s, err));
    s->regular = plan->pp > 1 && is_regular(s);
    for (int axis = 0; axis < FR_MESH_AXES; axis++)
        FR_TRY(count_all(s, s->mesh.size[axis], fr_mesh_stride(&s->mesh, axis), &s->axis[axis],
                         err));
    FR_TRY(count_shares(plan, s, err));
    if (fr_plan_last_stage(plan) > 0 && t->layers && (t->tied || t->predicted > 0))
        FR_TRY(count_ends(plan, s, err));
    if (plan->pp > 1 && !s->regular) FR_TRY(make_scratch(s, err));
    if (is_data_first(s))
        FR_TRY(plan->common_subgrid
                   ? count(s, fr_plan_replicas(plan), 1, 1, &s->common, err)
                   : count(s, plan->tp * fr_plan_replicas(plan), 1, plan->pp, &s->common, err));
    else if (plan->domain > 0)
        FR_TRY(count_within(s, plan->tp * fr_plan_replicas(plan), 1, &s->common, err));
    return count_copies(plan, t, s, err);
}

void fr_rank_map_free(struct fr_rank_map *s) {
    free(s->slot);
    free(s->pairs);
    free(s->load);
    s->slot = s->pairs = NULL;
    s->load = NULL;
}

/* ---- pairs --------------------------------------------------------------------------------------- */

/* All pairs of two stages send at once, so what counts is the busiest link that they share, not the distance of one
 * pair. */
struct fr_group fr_rank_map_pair(const struct fr_rank_map *s, int64_t a, int64_t b) {
    int64_t stride = fr_mesh_stride(&s->mesh, FR_MESH_PP), tp = s->mesh.size[FR_MESH_TP],
            dp = s->mesh.size[FR_MESH_DP], across = fr_mesh_stride(&s->mesh, FR_MESH_DP),
            replicas = tp * dp;
    if (s->regular && is_data_first(s))
        return fr_group_pairs(&s->levels, a * stride, b * stride, replicas, 1, 1);
    if (s->regular) return fr_group_pairs(&s->levels, a * stride, b * stride, tp, dp, across);
    int64_t *from = s->pairs, *to = s->pairs + replicas;
    for (int64_t i = 0; i < replicas; i++) {
        int64_t rank = i % tp * fr_mesh_stride(&s->mesh, FR_MESH_TP) + i / tp * across;
        from[i] = slot_of(s, a * stride + rank);
        to[i] = slot_of(s, b * stride + rank);
    }
    return fr_group_pairs_at(&s->levels, from, to, replicas, s->load);
}
