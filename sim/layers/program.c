#include "sim/layers/program.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { TASKS_MAX = 1 << 25 };

/* ---- classes and tasks ---------------------------------------------------------------------- */

void fr_layers_begin(struct fr_layers_builder *b, struct fr_layers_reused *reused) {
    b->next_class = reused->first_class;
    if (b->next_class < 0) reused->first_class = b->program->n_classes;
}

int32_t fr_layers_class(struct fr_layers_builder *b, fr_task_kind kind,
                        const struct fr_class_price *price) {
    struct fr_program *program = b->program;
    if (b->next_class >= 0) return b->next_class++;
    if (program->n_classes == b->class_capacity) {
        int32_t capacity = b->class_capacity ? 2 * b->class_capacity : 64;
        struct fr_task_class *classes =
            fr_realloc(program->classes, (size_t)capacity, sizeof *classes);
        if (classes) program->classes = classes;
        struct fr_class_price *prices = fr_realloc(b->price, (size_t)capacity, sizeof *prices);
        if (prices) b->price = prices;
        if (!classes || !prices) {
            b->failed = true;
            return -1;
        }
        b->class_capacity = capacity;
    }
    program->classes[program->n_classes] =
        (struct fr_task_class){.kind = kind, .stage = b->stage};
    b->price[program->n_classes] = *price;
    return program->n_classes++;
}

int32_t fr_layers_task(struct fr_layers_builder *b, int32_t class_id, int32_t rank,
                       int32_t peer, int32_t micro) {
    const struct fr_task task = {
        .class_id = class_id, .rank = rank, .peer = peer, .micro = micro};
    if (b->failed || class_id < 0) return -1;
    int32_t number = b->program->n_tasks < TASKS_MAX ? fr_program_add(b->program, &task) : -1;
    b->failed = number < 0;
    return number;
}

static void wait_for(struct fr_layers_builder *b, int32_t task, int32_t before) {
    fr_program_wait(b->program, task, before);
}

int32_t fr_layers_everywhere(struct fr_layers_builder *b, fr_task_kind kind,
                             const struct fr_class_price *price, int32_t micro) {
    int32_t class_id = fr_layers_class(b, kind, price);
    for (int32_t k = 0; k < b->n_here; k++) {
        int32_t r = b->here[k], task = fr_layers_task(b, class_id, r, -1, micro);
        wait_for(b, task, b->ranks[r].last);
        b->ranks[r].last = task;
    }
    return class_id;
}

/* ---- collectives as messages ------------------------------------------------------------------ */

/* The algorithm that the cluster's form would price, or NULL for one that has no messages. */
static const struct fr_collective *algorithm_of(const struct fr_price *price,
                                                const struct fr_collective_args *args) {
    if (price->form != &fr_form_algorithm) return NULL;
    if (price->algorithm && price->algorithm->applicable(args)) return price->algorithm;
    return fr_collective_fastest(price->op, args);
}

/* Member j of a group along an axis, in the order of their slots. */
static int32_t member(const struct fr_layers_builder *b, fr_axis axis, int32_t group,
                      int32_t j) {
    const struct fr_plan *plan = b->plan;
    int64_t size = axis == FR_AXIS_TP     ? plan->tp
                   : axis == FR_AXIS_DP   ? plan->dp
                   : plan->common_subgrid ? plan->dp
                                          : plan->tp * plan->dp;
    return (int32_t)b->members[axis][group * size + j];
}

bool fr_layers_map_members(struct fr_layers_builder *b) {
    const struct fr_rank_map *rank_map = b->rank_map;
    int64_t n = b->program->n_ranks, tp = b->plan->tp, dp = b->plan->dp;
    int64_t common = b->plan->common_subgrid ? dp : tp * dp;
    for (int axis = 0; axis < 3; axis++) {
        b->members[axis] = fr_malloc((size_t)n, sizeof **b->members);
        if (!b->members[axis]) return false;
    }
    fr_rank_map_members(rank_map, tp, fr_mesh_stride(&rank_map->mesh, FR_MESH_TP), n / tp,
                        b->members[FR_AXIS_TP]);
    fr_rank_map_members(rank_map, dp, fr_mesh_stride(&rank_map->mesh, FR_MESH_DP), n / dp,
                        b->members[FR_AXIS_DP]);
    fr_rank_map_members(rank_map, common, 1, n / common, b->members[FR_AXIS_COMMON]);
    if (!rank_map->slot) return true;
    int64_t *rank_at =
        fr_malloc((size_t)n, sizeof *rank_at); /* networks place ranks themselves */
    for (int64_t r = 0; rank_at && r < n; r++) rank_at[rank_map->slot[r]] = r;
    for (int axis = 0; rank_at && axis < 3; axis++)
        for (int64_t i = 0; i < n; i++) b->members[axis][i] = rank_at[b->members[axis][i]];
    bool placed = rank_at != NULL;
    free(rank_at);
    return placed;
}

int32_t fr_layers_stage_of(const struct fr_mesh *mesh, int64_t r) {
    return (int32_t)(r / fr_mesh_stride(mesh, FR_MESH_PP) % mesh->size[FR_MESH_PP]);
}

/* Is a communicator one of the stage at hand? */
static bool is_here(const struct fr_layers_builder *b, fr_axis axis, int32_t group) {
    return fr_layers_stage_of(&b->rank_map->mesh, member(b, axis, group, 0)) == b->stage;
}

/* Node of each member of a group, for algorithms whose messages hang on it; NULL without memory, and
 * where all nodes hold as many members, or all members sit in one. */
static int32_t *nodes_of(struct fr_layers_builder *b, fr_axis axis, int32_t group,
                         const struct fr_group *of) {
    if (of->fewest == of->ranks_per_node || of->level == 0) return NULL;
    int32_t *node = fr_malloc((size_t)of->n_ranks, sizeof *node);
    if (!node) b->failed = true;
    for (int32_t j = 0; node && j < of->n_ranks; j++) {
        int32_t rank = member(b, axis, group, j);
        int64_t slot = b->rank_map->slot ? b->rank_map->slot[rank] : rank;
        node[j] = (int32_t)(slot / b->rank_map->levels.level[0].ranks);
    }
    return node;
}

/* The next action of a rank waits for this message too.  A task of no time joins two waits at a time, after what the
 * rank is known to have received. */
static void hold(struct fr_layers_builder *b, int32_t nothing, int32_t rank, int32_t message,
                 int32_t micro) {
    struct fr_layers_rank *r = &b->ranks[rank];
    if (r->awaited < 0 && message >= 0) {
        r->awaited = message;
        return;
    }
    if (r->awaited < 0) return;
    int32_t task = fr_layers_task(b, nothing, rank, -1, micro);
    wait_for(b, task, message);
    wait_for(b, task, r->awaited);
    wait_for(b, task, r->received);
    r->received = task;
    r->awaited = -1;
}

/* Rail rings send beside each other, so that a rank's last message says nothing of its others: it waits for the last
 * of each ring. */
static void end_rails(struct fr_layers_builder *b, const struct fr_message_list *list,
                      int32_t nothing, fr_axis axis, int32_t group, int32_t micro) {
    int32_t first = (int32_t)b->program->n_tasks - list->count;
    /* By another message of its source, and of its destination. */
    bool *followed = fr_calloc(2 * (size_t)list->count + 1, sizeof *followed);
    if (!followed) b->failed = true;
    for (int32_t k = 0; followed && k < list->count; k++)
        for (int32_t a = 0; a < list->items[k].n_after; a++) {
            const struct fr_message *m = &list->items[k];
            const int32_t before = m->after[a], src = list->items[before].src,
                          dst = list->items[before].dst;
            if (m->src == src || m->dst == src) followed[2 * before] = true;
            if (m->src == dst || m->dst == dst) followed[2 * before + 1] = true;
        }
    for (int32_t k = 0; followed && k < list->count && !b->failed; k++) {
        const struct fr_message *m = &list->items[k];
        if (!followed[2 * k])
            hold(b, nothing, member(b, axis, group, m->src), first + k, micro);
        if (!followed[2 * k + 1])
            hold(b, nothing, member(b, axis, group, m->dst), first + k, micro);
    }
    for (int32_t k = 0; followed && k < list->count && !b->failed; k++)
        hold(b, nothing, member(b, axis, group, list->items[k].src), -1, micro);
    free(followed);
}

/* A message waits for what its algorithm says; the first that a rank sends, and the first that
 * it receives, for what the rank did before. */
static void add_messages(struct fr_layers_builder *b, const struct fr_message_list *list,
                         const int32_t *class_ids, fr_axis axis, int32_t group, int32_t micro) {
    int32_t first = (int32_t)b->program->n_tasks;
    for (int32_t k = 0; k < list->count && !b->failed; k++) {
        const struct fr_message *m = &list->items[k];
        int32_t src = member(b, axis, group, m->src), dst = member(b, axis, group, m->dst);
        int32_t task = fr_layers_task(b, class_ids[k], src, dst, micro);
        bool begins = m->rail,
             arrives = m->rail; /* the first of its source, its destination, in a ring */
        for (int32_t a = 0; a < m->n_after; a++) {
            const struct fr_message *before = &list->items[m->after[a]];
            begins = begins && before->src != m->src && before->dst != m->src;
            arrives = arrives && before->src != m->dst && before->dst != m->dst;
        }
        for (int32_t a = 0; a < m->n_after; a++) wait_for(b, task, first + m->after[a]);
        if (b->ranks[src].sent < 0 || begins) wait_for(b, task, b->ranks[src].last);
        if ((b->ranks[dst].received < 0 && m->n_after < FR_TASK_WAITS_MAX - 1) || arrives)
            wait_for(b, task, b->ranks[dst].last);
        b->ranks[src].sent = task;
        b->ranks[dst].received = task;
    }
}

/* The next action of each rank waits for its last message in and its last message out.  A task of no time joins them,
 * since a task can wait for three only. */
static void end_messages(struct fr_layers_builder *b, int32_t micro) {
    const struct fr_class_price nothing = {0};
    int32_t class_id = fr_layers_class(b, FR_TASK_COLLECTIVE, &nothing);
    for (int32_t k = 0; k < b->n_here; k++) {
        const int32_t r = b->here[k];
        struct fr_layers_rank *rank = &b->ranks[r];
        int32_t task = fr_layers_task(b, class_id, r, -1, micro);
        wait_for(b, task, rank->last);
        wait_for(b, task, rank->sent);
        wait_for(b, task, rank->received);
        *rank = (struct fr_layers_rank){task, -1, -1, -1};
    }
}

/* The messages of one group, appended to the program. */
static void spell_out_list(struct fr_layers_builder *b, const struct fr_message_list *list,
                           const struct fr_collective_args *args, int part, fr_axis axis,
                           int32_t group, bool first, int32_t *class_ids, int32_t micro) {
    bool rails = list->count > 0 && list->items[0].rail;
    const struct fr_class_price nothing = {0};
    for (int32_t k = 0; first && k < list->count && !b->failed; k++) {
        const struct fr_message *m = &list->items[k];
        struct fr_class_price price = {.size_B = m->size_B};
        price.part_s[part] = fr_message_alone_s(m, args);
        class_ids[k] = fr_layers_class(b, FR_TASK_COLLECTIVE_MESSAGE, &price);
        if (class_ids[k] < 0) continue;
        struct fr_task_class *class = &b->program->classes[class_ids[k]];
        class->latency_s = (float)fr_message_latency_s(m, args);
        class->apart = b->rank_map->mesh.size[FR_MESH_PP] > 1;
    }
    if (rails && first)
        class_ids[list->count] = fr_layers_class(b, FR_TASK_COLLECTIVE, &nothing);
    add_messages(b, list, class_ids, axis, group, micro);
    if (rails) end_rails(b, list, class_ids[list->count], axis, group, micro);
}

static fr_status spell_out(struct fr_layers_builder *b, const struct fr_operation *comm,
                           int part, int32_t micro) {
    const struct fr_group *group = b->cost.group[comm->axis];
    struct fr_collective_args args = fr_group_args(group, comm->size);
    const struct fr_collective *algorithm =
        algorithm_of(&b->job->cluster.price[comm->op], &args);
    struct fr_message_list list = {0};
    int32_t *class_ids = NULL, groups = b->program->n_ranks / (int32_t)group->n_ranks;
    if (!algorithm)
        return fr_fail(b->err, FR_ERR_UNSUPPORTED, b->job->cluster_from,
                       "%s is priced by form \"%s\", which has no messages; give it form "
                       "\"algorithm\"",
                       fr_op_names[comm->op], b->job->cluster.price[comm->op].form->name);
    bool first = true;
    for (int32_t g = 0; g < groups && !b->failed; g++) {
        if (!is_here(b, (fr_axis)comm->axis, g)) continue;
        int32_t *node = nodes_of(b, (fr_axis)comm->axis, g, group);
        if (node || first) { /* else all groups are alike */
            list.count = 0;
            args.node = node;
            b->failed = b->failed || fr_collective_expand(algorithm, &args, &list) != FR_OK;
            args.node = NULL;
        }
        if (!class_ids && !b->failed)
            class_ids = fr_malloc((size_t)list.count + 1, sizeof *class_ids);
        if (!class_ids) b->failed = true;
        if (!b->failed)
            spell_out_list(b, &list, &args, part, (fr_axis)comm->axis, g, first, class_ids,
                           micro);
        first = false;
        free(node);
    }
    end_messages(b, micro);
    free(class_ids);
    fr_message_list_free(&list);
    return FR_OK;
}

void fr_layers_collective(struct fr_layers_builder *b, const struct fr_operation *comm,
                          int part, int32_t micro) {
    struct fr_class_price price = {.size_B = comm->size};
    if (b->cost.group[comm->axis]->n_ranks <= 1 || comm->times <= 0 || b->status != FR_OK)
        return;
    if (b->as_messages) {
        b->status = spell_out(b, comm, part, micro);
        return;
    }
    price.part_s[part] = fr_operation_s(&b->cost, comm);
    fr_task_kind kind = part == FR_PRICE_GRADIENTS ? FR_TASK_GRADIENT : FR_TASK_COLLECTIVE;
    int32_t class_id = fr_layers_everywhere(b, kind, &price, micro);
    if (class_id < 0) return;
    b->program->classes[class_id].op = comm->op;
    b->program->classes[class_id].axis = comm->axis;
}

void fr_layers_stand_at(struct fr_layers_builder *b, const struct fr_layers_stage *stages,
                        int32_t i) {
    b->stage = i;
    b->here = stages[i].here;
    b->n_here = stages[i].n_here;
    b->cost = stages[i].cost;
}
