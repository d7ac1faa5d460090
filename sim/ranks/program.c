#include "sim/ranks/program.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* ---- classes and tasks ---------------------------------------------------------------------- */

fr_status fr_ranks_check(int64_t ranks, struct fr_error *err) {
    return ranks <= FR_RANKS_PLAYED_MAX
               ? FR_OK
               : fr_fail(err, FR_ERR_UNSUPPORTED, "plan",
                         "has %lld ranks; message by message at most %d are played",
                         (long long)ranks, FR_RANKS_PLAYED_MAX);
}

bool fr_ranks_make(struct fr_ranks_builder *b, int32_t n) {
    b->next_class = -1;
    b->ranks = fr_malloc((size_t)n, sizeof *b->ranks);
    for (int32_t r = 0; b->ranks && r < n; r++)
        b->ranks[r] = (struct fr_ranks_rank){-1, {-1, -1}, -1, -1, -1};
    return b->ranks != NULL;
}

void fr_ranks_begin(struct fr_ranks_builder *b, struct fr_ranks_reused *reused) {
    b->next_class = reused->first_class;
    if (b->next_class < 0) reused->first_class = b->program->n_classes;
}

int32_t fr_ranks_class(struct fr_ranks_builder *b, fr_task_kind kind,
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

int32_t fr_ranks_task(struct fr_ranks_builder *b, int32_t class_id, int32_t rank, int32_t peer,
                      int32_t micro) {
    const struct fr_task task = {
        .class_id = class_id, .rank = rank, .peer = peer, .micro = micro, .chunk = b->chunk};
    if (b->failed || class_id < 0) return -1;
    int32_t number =
        b->program->n_tasks < FR_RANKS_TASKS_MAX ? fr_program_add(b->program, &task) : -1;
    b->failed = number < 0;
    return number;
}

static void wait_for(struct fr_ranks_builder *b, int32_t task, int32_t before) {
    fr_program_wait(b->program, task, before);
}

void fr_ranks_wait(struct fr_ranks_builder *b, int32_t task, int32_t rank) {
    struct fr_ranks_rank *r = &b->ranks[rank];
    wait_for(b, task, r->last);
    wait_for(b, task, r->also[0]);
    wait_for(b, task, r->also[1]);
    r->also[0] = r->also[1] = -1;
}

int32_t fr_ranks_everywhere(struct fr_ranks_builder *b, fr_task_kind kind,
                            const struct fr_class_price *price, int32_t micro) {
    int32_t class_id = fr_ranks_class(b, kind, price);
    for (int32_t k = 0; k < b->n_here; k++) {
        int32_t r = b->here[k], task = fr_ranks_task(b, class_id, r, -1, micro);
        fr_ranks_wait(b, task, r);
        b->ranks[r].last = task;
    }
    return class_id;
}

void fr_ranks_join(struct fr_ranks_builder *b, int32_t micro) {
    const struct fr_class_price nothing = {0};
    int32_t class_id = fr_ranks_class(b, FR_TASK_COLLECTIVE, &nothing);
    if (class_id >= 0) b->program->classes[class_id].unseen = true;
    for (int32_t k = 0; k < b->n_here; k++) {
        struct fr_ranks_rank *r = &b->ranks[b->here[k]];
        if (r->also[0] < 0) continue;
        int32_t task = fr_ranks_task(b, class_id, b->here[k], -1, micro);
        fr_ranks_wait(b, task, b->here[k]);
        r->last = task;
    }
}

/* ---- collectives as messages ------------------------------------------------------------------ */

/* Member j of a communicator. */
static int32_t member(const struct fr_ranks_collective *c, int32_t group, int32_t j) {
    return c->members[group * c->group->n_ranks + j];
}

/* The algorithm that prices it, NULL for a form that has no messages; and by how much the price goes beyond what
 * the algorithm says on these links (a shifted price, say). */
static const struct fr_collective *algorithm_of(const struct fr_ranks_builder *b,
                                                const struct fr_ranks_collective *c,
                                                struct fr_collective_args *args,
                                                double *stretch) {
    const struct fr_price *price = &b->cluster->price[c->op];
    uint32_t unasked = 0;
    *args = fr_group_args(c->group, c->size_B);
    *stretch = 1;
    const bool counts = fr_comm_counts(price, c->group);
    if (counts && price->form != &fr_form_algorithm) return NULL;
    if (counts && price->own_link)
        args->inner = args->outer = args->ring = args->rails = price->link;
    const struct fr_collective *row =
        counts && price->algorithm && price->algorithm->applicable(args)
            ? price->algorithm
            : fr_collective_fastest(c->op, args);
    double of_row_s = row->time_s(args),
           priced_s = fr_cluster_comm_s(b->cluster, c->op, c->group, c->size_B, &unasked);
    if (of_row_s > 0 && fabs(priced_s - of_row_s) > 1e-12 * of_row_s)
        *stretch = priced_s / of_row_s;
    return row;
}

/* Node of each member of a group, for algorithms whose messages hang on it; NULL without memory, and
 * where all nodes hold as many members, or all members sit in one. */
static int32_t *nodes_of(struct fr_ranks_builder *b, const struct fr_ranks_collective *c,
                         int32_t group) {
    const struct fr_group *of = c->group;
    if (of->fewest == of->ranks_per_node || of->level == 0) return NULL;
    int32_t *node = fr_malloc((size_t)of->n_ranks, sizeof *node);
    if (!node) b->failed = true;
    for (int32_t j = 0; node && j < of->n_ranks; j++) {
        int32_t rank = member(c, group, j);
        int64_t slot = b->rank_map->slot ? b->rank_map->slot[rank] : rank;
        node[j] = (int32_t)(slot / b->rank_map->levels.level[0].ranks);
    }
    return node;
}

/* The next action of a rank waits for this message too.  A task of no time joins two waits at a time, after what the
 * rank is known to have received. */
static void hold(struct fr_ranks_builder *b, int32_t nothing, int32_t rank, int32_t message,
                 int32_t micro) {
    struct fr_ranks_rank *r = &b->ranks[rank];
    if (r->awaited < 0 && message >= 0) {
        r->awaited = message;
        return;
    }
    if (r->awaited < 0) return;
    int32_t task = fr_ranks_task(b, nothing, rank, -1, micro);
    wait_for(b, task, message);
    wait_for(b, task, r->awaited);
    wait_for(b, task, r->received);
    r->received = task;
    r->awaited = -1;
}

/* Rail rings send beside each other, so that a rank's last message says nothing of its others: it waits for the last
 * of each ring. */
static void end_rails(struct fr_ranks_builder *b, const struct fr_message_list *list,
                      int32_t nothing, const struct fr_ranks_collective *c, int32_t group,
                      int32_t micro) {
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
        if (!followed[2 * k]) hold(b, nothing, member(c, group, m->src), first + k, micro);
        if (!followed[2 * k + 1]) hold(b, nothing, member(c, group, m->dst), first + k, micro);
    }
    for (int32_t k = 0; followed && k < list->count && !b->failed; k++)
        hold(b, nothing, member(c, group, list->items[k].src), -1, micro);
    free(followed);
}

/* A message waits for what its algorithm says; the first that a rank sends, and the first that
 * it receives, for what the rank did before. */
static void add_messages(struct fr_ranks_builder *b, const struct fr_message_list *list,
                         const int32_t *class_ids, const struct fr_ranks_collective *c,
                         int32_t group, int32_t micro) {
    int32_t first = (int32_t)b->program->n_tasks;
    for (int32_t k = 0; k < list->count && !b->failed; k++) {
        const struct fr_message *m = &list->items[k];
        int32_t src = member(c, group, m->src), dst = member(c, group, m->dst);
        int32_t task = fr_ranks_task(b, class_ids[k], src, dst, micro);
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
static void end_messages(struct fr_ranks_builder *b, int32_t micro) {
    const struct fr_class_price nothing = {0};
    int32_t class_id = fr_ranks_class(b, FR_TASK_COLLECTIVE, &nothing);
    for (int32_t k = 0; k < b->n_here; k++) {
        const int32_t r = b->here[k];
        struct fr_ranks_rank *rank = &b->ranks[r];
        int32_t task = fr_ranks_task(b, class_id, r, -1, micro);
        wait_for(b, task, rank->last);
        wait_for(b, task, rank->sent);
        wait_for(b, task, rank->received);
        *rank = (struct fr_ranks_rank){task, {-1, -1}, -1, -1, -1};
    }
}

/* Messages of a list that are alike are of one class: class_ids[count], after them that of nothing where rings are
 * joined. */
static void make_classes(struct fr_ranks_builder *b, const struct fr_message_list *list,
                         const struct fr_ranks_collective *c,
                         const struct fr_collective_args *args, double stretch,
                         int32_t *class_ids) {
    enum { KNOWN = 16 };
    const struct fr_class_price nothing = {0};
    struct {
        double size_B, alone_s, latency_s;
        int32_t class_id;
    } known[KNOWN];
    int n = 0;
    for (int32_t k = 0; k < list->count && !b->failed; k++) {
        const struct fr_message *m = &list->items[k];
        double scale = stretch * c->times, size_B = scale * m->size_B,
               alone_s = scale * fr_message_alone_s(m, args),
               latency_s = scale * fr_message_latency_s(m, args);
        int at = 0;
        while (at < n && !(fabs(known[at].size_B - size_B) <= 0 &&
                           fabs(known[at].alone_s - alone_s) <= 0 &&
                           fabs(known[at].latency_s - latency_s) <= 0))
            at++;
        if (at < n) {
            class_ids[k] = known[at].class_id;
            continue;
        }
        struct fr_class_price price = {.size_B = size_B};
        price.part_s[c->part] = alone_s;
        class_ids[k] = fr_ranks_class(b, FR_TASK_COLLECTIVE_MESSAGE, &price);
        if (class_ids[k] < 0) continue;
        struct fr_task_class *class = &b->program->classes[class_ids[k]];
        class->latency_s = (float)latency_s;
        class->times = (float)c->times;
        class->apart = b->rank_map->mesh.size[FR_MESH_PP] > 1;
        class->op = (uint8_t)c->op;
        at = n < KNOWN ? n++ : k % KNOWN;
        known[at].size_B = size_B;
        known[at].alone_s = alone_s;
        known[at].latency_s = latency_s;
        known[at].class_id = class_ids[k];
    }
    if (list->count > 0 && list->items[0].rail)
        class_ids[list->count] = fr_ranks_class(b, FR_TASK_COLLECTIVE, &nothing);
}

static fr_status no_messages(struct fr_ranks_builder *b, const struct fr_ranks_collective *c) {
    return fr_fail(b->err, FR_ERR_UNSUPPORTED, b->cluster_from,
                   "%s is priced by form \"%s\", which has no messages; give it form "
                   "\"algorithm\"",
                   fr_op_names[c->op], b->cluster->price[c->op].form->name);
}

/* Each communicator's messages, appended to the program. */
static fr_status spell_out(struct fr_ranks_builder *b, const struct fr_ranks_collective *c,
                           int32_t micro) {
    struct fr_collective_args args;
    double stretch;
    const struct fr_collective *algorithm = algorithm_of(b, c, &args, &stretch);
    struct fr_message_list list = {0};
    int32_t *class_ids = NULL;
    if (!algorithm) return no_messages(b, c);
    for (int32_t g = 0; g < c->n_groups && !b->failed; g++) {
        int32_t *node = nodes_of(b, c, g);
        if (node || g == 0) { /* else all groups are alike */
            list.count = 0;
            args.node = node;
            b->failed = b->failed || fr_collective_expand(algorithm, &args, &list) != FR_OK;
            args.node = NULL;
        }
        if (!class_ids && !b->failed) {
            class_ids = fr_malloc((size_t)list.count + 1, sizeof *class_ids);
            b->failed = !class_ids;
            if (class_ids) make_classes(b, &list, c, &args, stretch, class_ids);
        }
        if (!b->failed) add_messages(b, &list, class_ids, c, g, micro);
        if (!b->failed && list.count > 0 && list.items[0].rail)
            end_rails(b, &list, class_ids[list.count], c, g, micro);
        free(node);
    }
    end_messages(b, micro);
    free(class_ids);
    fr_message_list_free(&list);
    return FR_OK;
}

void fr_ranks_messages(struct fr_ranks_builder *b, const struct fr_ranks_collective *c,
                       int32_t micro) {
    if (c->group->n_ranks <= 1 || c->times <= 0 || b->status != FR_OK) return;
    b->status = spell_out(b, c, micro);
}

double fr_ranks_tasks(const struct fr_ranks_builder *b, const struct fr_ranks_collective *c) {
    struct fr_collective_args args;
    double stretch, n;
    const struct fr_collective *algorithm = algorithm_of(b, c, &args, &stretch);
    struct fr_message_list list = {0};
    bool made = algorithm && fr_collective_expand(algorithm, &args, &list) == FR_OK;
    n = made ? 1 + (double)list.count / (double)c->group->n_ranks : 0;
    fr_message_list_free(&list);
    return n;
}
