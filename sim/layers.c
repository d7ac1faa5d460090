#include "sim/layers.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "models/outcome/cost.h"
#include "models/price/layers.h"

enum { TASKS_MAX = 1 << 25, RANKS_MAX = 1 << 16 };

struct rank {
    int32_t last;           /* task, or -1 */
    int32_t sent, received; /* messages of the collective under way, or -1 */
    int32_t awaited;        /* one of rail rings to be waited for, or -1 */
};

struct builder {
    const struct fr_job *job;
    const struct fr_plan *plan;
    struct fr_program *program;
    struct fr_class_price *price;
    int32_t class_capacity;
    struct rank *ranks;
    int64_t *members[3]; /* by axis: ranks, one communicator after another */
    const struct fr_rank_map *rank_map;
    int32_t next_class; /* to be used again, or -1: make new ones */
    bool as_messages, failed;
    fr_status status;             /* of operations that are not simulated by messages */
    struct fr_pricing cost;       /* of operations */
    double sent_B[FR_SENT_COUNT]; /* the closed form's is reported */
    uint32_t extrapolated;        /* likewise */
    struct fr_error *err;
};

/* The work of one layer. */
/* Classes are made once a layer and phase and used again by every micro-batch, so a program of a thousand micro-
 * batches has as many classes as one of a single one. */
struct placed {
    struct fr_rank_work work;
    double codec_s; /* of its gradients */
    double repeat;
    int32_t first_class[3]; /* of FORWARD, BACKWARD, UPDATE; -1: not made yet */
};

enum { FORWARD, BACKWARD, UPDATE };

/* ---- classes and tasks ---------------------------------------------------------------------- */

/* The classes that a layer makes the first time it does something serve every other time: they
 * come in the same order. */
static void begin(struct builder *b, struct placed *layer, int phase) {
    b->next_class = layer->first_class[phase];
    if (b->next_class < 0) layer->first_class[phase] = b->program->n_classes;
}

/* Append a class with its price, or take the next of those that the layer made before. */
static int32_t add_class(struct builder *b, fr_task_kind kind,
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
    program->classes[program->n_classes] = (struct fr_task_class){.kind = kind};
    b->price[program->n_classes] = *price;
    return program->n_classes++;
}

static int32_t add_task(struct builder *b, int32_t class_id, int32_t rank, int32_t peer,
                        int32_t micro) {
    const struct fr_task task = {
        .class_id = class_id, .rank = rank, .peer = peer, .micro = micro};
    if (b->failed || class_id < 0) return -1;
    int32_t number = b->program->n_tasks < TASKS_MAX ? fr_program_add(b->program, &task) : -1;
    b->failed = number < 0;
    return number;
}

static void wait_for(struct builder *b, int32_t task, int32_t before) {
    fr_program_wait(b->program, task, before);
}

/* The same work on every rank, each after what it did before.  @return its class */
static int32_t add_everywhere(struct builder *b, fr_task_kind kind,
                              const struct fr_class_price *price, int32_t micro) {
    int32_t class_id = add_class(b, kind, price);
    for (int32_t r = 0; r < b->program->n_ranks; r++) {
        int32_t task = add_task(b, class_id, r, -1, micro);
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
static int32_t member(const struct builder *b, fr_axis axis, int32_t group, int32_t j) {
    const struct fr_plan *plan = b->plan;
    int64_t size = axis == FR_AXIS_TP     ? plan->tp
                   : axis == FR_AXIS_DP   ? plan->dp
                   : plan->common_subgrid ? plan->dp
                                          : plan->tp * plan->dp;
    return (int32_t)b->members[axis][group * size + j];
}

/* Who sits where in every communicator; false without memory. */
static bool map_members(struct builder *b, const struct fr_rank_map *rank_map) {
    int64_t n = b->program->n_ranks, tp = b->plan->tp, dp = b->plan->dp;
    int64_t common = b->plan->common_subgrid ? dp : n;
    for (int axis = 0; axis < 3; axis++) {
        b->members[axis] = fr_malloc((size_t)n, sizeof **b->members);
        if (!b->members[axis]) return false;
    }
    fr_rank_map_members(rank_map, tp, fr_mesh_stride(&rank_map->mesh, FR_MESH_TP), dp,
                        b->members[FR_AXIS_TP]);
    fr_rank_map_members(rank_map, dp, fr_mesh_stride(&rank_map->mesh, FR_MESH_DP), tp,
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

/* Node of each member of a group, for algorithms whose messages hang on it; NULL without memory, and
 * where all nodes hold as many members, or all members sit in one. */
static int32_t *nodes_of(struct builder *b, fr_axis axis, int32_t group,
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
static void hold(struct builder *b, int32_t nothing, int32_t rank, int32_t message,
                 int32_t micro) {
    struct rank *r = &b->ranks[rank];
    if (r->awaited < 0 && message >= 0) {
        r->awaited = message;
        return;
    }
    if (r->awaited < 0) return;
    int32_t task = add_task(b, nothing, rank, -1, micro);
    wait_for(b, task, message);
    wait_for(b, task, r->awaited);
    wait_for(b, task, r->received);
    r->received = task;
    r->awaited = -1;
}

/* Rail rings send beside each other, so that a rank's last message says nothing of its others: it waits for the last
 * of each ring. */
static void end_rails(struct builder *b, const struct fr_message_list *list, int32_t nothing,
                      fr_axis axis, int32_t group, int32_t micro) {
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
static void add_messages(struct builder *b, const struct fr_message_list *list,
                         const int32_t *class_ids, fr_axis axis, int32_t group, int32_t micro) {
    int32_t first = (int32_t)b->program->n_tasks;
    for (int32_t k = 0; k < list->count && !b->failed; k++) {
        const struct fr_message *m = &list->items[k];
        int32_t src = member(b, axis, group, m->src), dst = member(b, axis, group, m->dst);
        int32_t task = add_task(b, class_ids[k], src, dst, micro);
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
static void end_messages(struct builder *b, int32_t micro) {
    const struct fr_class_price nothing = {0};
    int32_t class_id = add_class(b, FR_TASK_COLLECTIVE, &nothing);
    for (int32_t r = 0; r < b->program->n_ranks; r++) {
        struct rank *rank = &b->ranks[r];
        int32_t task = add_task(b, class_id, r, -1, micro);
        wait_for(b, task, rank->last);
        wait_for(b, task, rank->sent);
        wait_for(b, task, rank->received);
        *rank = (struct rank){task, -1, -1, -1};
    }
}

/* The messages of one group, appended to the program. */
static void spell_out_list(struct builder *b, const struct fr_message_list *list,
                           const struct fr_collective_args *args, int part, fr_axis axis,
                           int32_t group, int32_t *class_ids, int32_t micro) {
    bool rails = list->count > 0 && list->items[0].rail;
    const struct fr_class_price nothing = {0};
    for (int32_t k = 0; group == 0 && k < list->count && !b->failed; k++) {
        const struct fr_message *m = &list->items[k];
        struct fr_class_price price = {.size_B = m->size_B};
        price.part_s[part] = fr_message_alone_s(m, args);
        class_ids[k] = add_class(b, FR_TASK_COLLECTIVE_MESSAGE, &price);
        if (class_ids[k] >= 0)
            b->program->classes[class_ids[k]].latency_s = (float)fr_message_latency_s(m, args);
    }
    if (rails && group == 0)
        class_ids[list->count] = add_class(b, FR_TASK_COLLECTIVE, &nothing);
    add_messages(b, list, class_ids, axis, group, micro);
    if (rails) end_rails(b, list, class_ids[list->count], axis, group, micro);
}

static fr_status spell_out(struct builder *b, const struct fr_operation *comm, int part,
                           int32_t micro) {
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
    for (int32_t g = 0; g < groups && !b->failed; g++) {
        int32_t *node = nodes_of(b, (fr_axis)comm->axis, g, group);
        if (node || g == 0) { /* else all groups are alike */
            list.count = 0;
            args.node = node;
            b->failed = b->failed || algorithm->expand(&args, &list) != FR_OK;
            args.node = NULL;
        }
        if (!class_ids && !b->failed)
            class_ids = fr_malloc((size_t)list.count + 1, sizeof *class_ids);
        if (!class_ids) b->failed = true;
        if (!b->failed)
            spell_out_list(b, &list, &args, part, (fr_axis)comm->axis, g, class_ids, micro);
        free(node);
    }
    end_messages(b, micro);
    free(class_ids);
    fr_message_list_free(&list);
    return FR_OK;
}

static void add_collective(struct builder *b, const struct fr_operation *comm, int32_t micro) {
    bool tp = comm->pass != FR_PASS_ONCE; /* of a pass; else gradients */
    struct fr_class_price price = {.size_B = comm->size};
    int part = tp ? FR_PRICE_TP : FR_PRICE_GRADIENTS;
    if (b->cost.group[comm->axis]->n_ranks <= 1 || comm->times <= 0 || b->status != FR_OK)
        return;
    if (b->as_messages) {
        b->status = spell_out(b, comm, part, micro);
        return;
    }
    price.part_s[part] = fr_operation_s(&b->cost, comm);
    int32_t class_id =
        add_everywhere(b, tp ? FR_TASK_COLLECTIVE : FR_TASK_GRADIENT, &price, micro);
    if (class_id < 0) return;
    b->program->classes[class_id].op = comm->op;
    b->program->classes[class_id].axis = comm->axis;
}

/* ---- layers ----------------------------------------------------------------------------------- */

static void add_collectives(struct builder *b, const struct placed *layer, fr_pass_kind pass,
                            int32_t micro) {
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        if (o->kind == FR_WORK_COLLECTIVE && o->pass == pass) add_collective(b, o, micro);
    }
}

static double waiting(const struct placed *layer, const struct fr_operation *o) {
    return o->common ? layer->work.idle_ranks : 0;
}

static void add_products(struct builder *b, const struct placed *layer, fr_pass_kind pass,
                         int32_t micro) {
    static const fr_task_kind kinds[] = {[FR_PASS_FORWARD] = FR_TASK_FORWARD,
                                         [FR_PASS_INPUT] = FR_TASK_BACKWARD,
                                         [FR_PASS_WEIGHT] = FR_TASK_WEIGHT};
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        struct fr_class_price price = {.waiting = waiting(layer, o)};
        if (o->kind != FR_WORK_PRODUCT || o->pass != pass) continue;
        price.part_s[FR_PRICE_ALWAYS] = fr_operation_s(&b->cost, o);
        add_everywhere(b, kinds[pass], &price, micro);
    }
}

/* Traffic and kernels of a pass, forward or backward, as one task. */
static void add_elementwise(struct builder *b, const struct placed *layer, bool backward,
                            int32_t micro) {
    struct fr_class_price price = {0};
    for (int k = 0; k < layer->work.n_ops; k++) {
        const struct fr_operation *o = &layer->work.op[k];
        bool kernels = o->kind == FR_WORK_KERNELS;
        if (!kernels && o->kind != FR_WORK_TRAFFIC) continue;
        if ((o->pass != FR_PASS_FORWARD) != backward) continue;
        price.part_s[kernels ? FR_PRICE_LAUNCH : FR_PRICE_ALWAYS] +=
            fr_operation_s(&b->cost, o);
        price.waiting = waiting(layer, o);
    }
    add_everywhere(b, FR_TASK_ELEMENTWISE, &price, micro);
}

static void add_forward(struct builder *b, struct placed *layer, int32_t micro) {
    begin(b, layer, FORWARD);
    add_products(b, layer, FR_PASS_FORWARD, micro);
    add_elementwise(b, layer, false, micro);
    add_collectives(b, layer, FR_PASS_FORWARD, micro);
}

static void add_backward(struct builder *b, struct placed *layer, int32_t micro) {
    begin(b, layer, BACKWARD);
    add_collectives(b, layer, FR_PASS_INPUT, micro);
    add_products(b, layer, FR_PASS_INPUT, micro);
    add_products(b, layer, FR_PASS_WEIGHT, micro);
    add_elementwise(b, layer, true, micro);
}

static void add_update(struct builder *b, struct placed *layer) {
    struct fr_class_price price = {.waiting = layer->work.idle_ranks};
    begin(b, layer, UPDATE);
    if (layer->codec_s > 0) {
        struct fr_class_price codec = {.waiting = layer->work.idle_ranks};
        codec.part_s[FR_PRICE_CODEC] = layer->codec_s;
        add_everywhere(b, FR_TASK_GRADIENT_CODEC, &codec, -1);
    }
    add_collectives(b, layer, FR_PASS_ONCE, -1);
    price.part_s[FR_PRICE_ALWAYS] =
        fr_update_s(&b->cost, &b->job->workload, layer->work.parameters_rank);
    add_everywhere(b, FR_TASK_OPTIMIZER, &price, -1);
}

/* ---- the iteration ---------------------------------------------------------------------------- */

/* One layer of each entry. */
static void place(struct builder *b, struct placed *layers) {
    bool codes = fr_codec_codes(b->plan, 0);
    struct fr_plan own;
    struct fr_layers l = fr_layers_of_stage(b->job, fr_codec_plan_of(b->plan, 0, &own), 0);
    while (fr_layers_next(&l)) {
        struct placed *layer = &layers[l.entry];
        struct fr_coded coded = {.time_s = 0};
        fr_layers_work(b->job, &l, &b->cost, codes, &layer->work, &coded);
        layer->codec_s = coded.time_s;
        layer->repeat = l.n;
        for (int phase = FORWARD; phase <= UPDATE; phase++) layer->first_class[phase] = -1;
    }
}

static void lay_out(struct builder *b, struct placed *layers) {
    int n = b->job->workload.n_layers;
    int64_t micro_batches = fr_pipeline_micro_batches(b->job, b->plan);
    for (int32_t micro = 0; micro < micro_batches && !b->failed; micro++) {
        for (int i = 0; i < n; i++)
            for (double r = 0; r < layers[i].repeat; r++) add_forward(b, &layers[i], micro);
        for (int i = b->plan->forward ? 0 : n; i-- > 0;)
            for (double r = 0; r < layers[i].repeat; r++) add_backward(b, &layers[i], micro);
    }
    for (int i = b->plan->forward ? 0 : n; i-- > 0;)
        for (double r = 0; r < layers[i].repeat; r++) add_update(b, &layers[i]);
}

fr_status fr_layers_make(const struct fr_job *job, const struct fr_plan *plan, bool as_messages,
                         struct fr_program *program, struct fr_class_price **price,
                         struct fr_error *err) {
    int64_t ranks = as_messages ? fr_plan_ranks(plan) : 1;
    *program = (struct fr_program){0};
    *price = NULL;
    if (plan->layer_tp)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "plan#/layer_tp",
                       "a grid per layer is priced by the closed form only");
    if (ranks > RANKS_MAX)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "plan",
                       "%lld ranks are too many to spell out one by one", (long long)ranks);
    struct builder b = {.next_class = -1,
                        .job = job,
                        .plan = plan,
                        .program = program,
                        .as_messages = as_messages,
                        .err = err};
    program->n_ranks = (int32_t)ranks;
    struct placed *layers = fr_calloc((size_t)job->workload.n_layers, sizeof *layers);
    b.ranks = fr_malloc((size_t)ranks, sizeof *b.ranks);
    b.failed = !layers || !b.ranks;
    for (int32_t r = 0; r < ranks && !b.failed; r++) b.ranks[r] = (struct rank){-1, -1, -1, -1};
    struct fr_rank_map rank_map;
    b.failed = fr_rank_map_make(job, plan, &rank_map, NULL) != FR_OK || b.failed;
    b.rank_map = &rank_map;
    if (!b.failed && as_messages) b.failed = !map_members(&b, &rank_map);
    if (!b.failed) {
        b.cost = fr_layers_pricing(job, plan, &rank_map, 0);
        b.cost.sent_B = b.sent_B;
        b.cost.extrapolated = &b.extrapolated;
        place(&b, layers);
        lay_out(&b, layers);
    }
    fr_rank_map_free(&rank_map);
    for (int axis = 0; axis < 3; axis++) free(b.members[axis]);
    free(layers);
    free(b.ranks);
    *price = b.price;
    if (b.status != FR_OK) return b.status;
    return b.failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "the program does not fit in memory")
                    : FR_OK;
}
