/* Messages that are under way together share links, max-min fairly (sim/fluid.h).
 *
 * A message first waits its route's latency, then its bytes flow at the rate that all messages
 * present leave it.  Alone it takes its class's time, whatever priced that: what bytes and latency
 * of the route do not account for (a gather among the receivers) comes after.  So a message is
 * never faster here than on an isolated network, and with it no task.  What a spelt-out collective's
 * closed form adds for its own messages' sharing a link is no such rest: they do share it here.
 *
 * Other tasks end when what they wait for has and their time has passed; that is known as soon as
 * those ends are, be they in the future, so only messages are events.  The loop:
 *   1. tasks whose waits are all known: work gets its end at once, a message its flow's start;
 *   2. the earliest of flow starts (in order of task) and flow ends (in order started, first
 *      among equal times) comes next; an end makes the ends of tasks behind it known: back to 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/extremes.h"
#include "sim/paths.h"

struct event {
    double time_s;
    int32_t task;
};

/* What the loop asks of a task, side by side: programs are larger than caches. */
struct node {
    double ready_s; /* latest end of what it waits for, so far */
    int32_t waits;  /* still */
    int32_t class_id, path;
    bool exchange, spelt_out;
};

struct shared {
    struct fr_paths paths;
    struct fr_fluid *fluid;
    int32_t *first_behind, *behind; /* tasks that wait for a task */
    struct node *blank, *nodes;     /* before a run, and during it */
    int8_t *flows_left;
    int32_t *known; /* tasks whose waits are all over, to be worked on */
    int32_t n_known;
    struct event *starts; /* of flows: a heap */
    int64_t n_starts;
    const struct fr_network_work *work;
    const double *class_s;
    double *start_s, *end_s, last_s;
};

/* ---- flow starts, by time, then by task ----------------------------------------------------- */

static bool sooner(const struct event *a, const struct event *b) {
    return a->time_s < b->time_s || (!(b->time_s < a->time_s) && a->task < b->task);
}

static void push(struct shared *s, struct event e) {
    int64_t at = s->n_starts++;
    for (; at > 0 && sooner(&e, &s->starts[(at - 1) / 2]); at = (at - 1) / 2)
        s->starts[at] = s->starts[(at - 1) / 2];
    s->starts[at] = e;
}

static struct event pop(struct shared *s) {
    struct event top = s->starts[0], e = s->starts[--s->n_starts];
    int64_t at = 0;
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= s->n_starts) break;
        if (child + 1 < s->n_starts && sooner(&s->starts[child + 1], &s->starts[child]))
            child++;
        if (!sooner(&s->starts[child], &e)) break;
        s->starts[at] = s->starts[child];
        at = child;
    }
    s->starts[at] = e;
    return top;
}

/* ---- a message's parts ------------------------------------------------------------------------ */

struct parts {
    double before_s, size_B;
};

/* What of the class's time is latency and what is flow, at the rate it has alone. */
static struct parts parts_of(const struct shared *s, const struct node *node) {
    const struct fr_path *path = &s->paths.paths[node->path];
    double alone_s = s->class_s[node->class_id];
    double size_B = fr_least(s->work->class_B[node->class_id], alone_s * path->alone_B_per_s);
    return (struct parts){fr_least(path->latency_s, alone_s - size_B / path->alone_B_per_s),
                          size_B};
}

/* ---- the loop --------------------------------------------------------------------------------- */

static void finish(struct shared *s, int32_t task, double end_s) {
    s->end_s[task] = end_s;
    if (end_s > s->last_s) s->last_s = end_s;
    for (int32_t k = s->first_behind[task]; k < s->first_behind[task + 1]; k++) {
        struct node *node = &s->nodes[s->behind[k]];
        if (end_s > node->ready_s) node->ready_s = end_s;
        if (--node->waits == 0) s->known[s->n_known++] = s->behind[k];
    }
}

static void work_off(struct shared *s) {
    while (s->n_known > 0) {
        int32_t id = s->known[--s->n_known];
        const struct node *node = &s->nodes[id];
        struct parts parts = {0, 0};
        s->start_s[id] = node->ready_s;
        if (node->path >= 0) parts = parts_of(s, node);
        if (parts.size_B > 0)
            push(s, (struct event){node->ready_s + fr_most(0, parts.before_s), id});
        else
            finish(s, id, node->ready_s + s->class_s[node->class_id]);
    }
}

static bool start_flows(struct shared *s, int32_t task) {
    const struct node *node = &s->nodes[task];
    int32_t q = node->path;
    double size_B = parts_of(s, node).size_B;
    s->flows_left[task] = 0;
    s->end_s[task] = 0;
    for (int k = 0; k < 1 + node->exchange; k++, q = s->paths.back[q]) {
        const struct fr_path *path = &s->paths.paths[q];
        s->flows_left[task]++;
        if (!fr_fluid_start(s->fluid, task, size_B, s->paths.uses + path->first, path->n_uses))
            return false;
    }
    return true;
}

/* The part of a message that is left when its bytes have arrived; unhindered it takes exactly its
 * class's time. */
static void end_flow(struct shared *s, double now_s) {
    bool slowed;
    int32_t task = (int32_t)fr_fluid_finish(s->fluid, &slowed);
    const struct node *node = &s->nodes[task];
    double alone_s = s->class_s[node->class_id], end_s = node->ready_s + alone_s;
    struct parts parts = parts_of(s, node);
    double after_s =
        alone_s - parts.before_s - parts.size_B / s->paths.paths[node->path].alone_B_per_s;
    if (node->spelt_out) after_s = 0;
    if (slowed) end_s = fr_most(end_s, now_s + fr_most(0, after_s));
    if (end_s > s->end_s[task]) s->end_s[task] = end_s;
    if (--s->flows_left[task] == 0) finish(s, task, s->end_s[task]);
}

static fr_status run(const struct fr_network_work *work, void *state, const double *class_s,
                     double *start_s, double *end_s, double *makespan_s, struct fr_error *err) {
    struct shared *s = state;
    const struct fr_program *program = work->program;
    s->work = work;
    s->class_s = class_s;
    s->start_s = start_s;
    s->end_s = end_s;
    s->last_s = 0;
    s->n_known = 0;
    s->n_starts = 0;
    fr_fluid_reset(s->fluid);
    memcpy(s->nodes, s->blank, (size_t)program->n_tasks * sizeof *s->nodes);
    for (int64_t t = program->n_tasks; t-- > 0;)
        if (s->nodes[t].waits == 0) s->known[s->n_known++] = (int32_t)t;
    for (;;) {
        work_off(s);
        double flow_s = fr_fluid_next_s(s->fluid);
        double start = s->n_starts ? s->starts[0].time_s : INFINITY;
        if (isinf(flow_s) && isinf(start)) break;
        if (flow_s <= start) {
            end_flow(s, flow_s);
            continue;
        }
        fr_fluid_advance(s->fluid, start);
        if (!start_flows(s, pop(s).task))
            return fr_fail(err, FR_ERR_NOMEM, NULL, "the messages do not fit in memory");
    }
    *makespan_s = s->last_s;
    return FR_OK;
}

/* ---- preparing -------------------------------------------------------------------------------- */

static bool list_waits(const struct fr_program *program, struct shared *s) {
    size_t n = (size_t)program->n_tasks;
    s->first_behind = fr_calloc(n + 2, sizeof *s->first_behind);
    s->blank = fr_calloc(2 * n + 1, sizeof *s->blank);
    if (!s->first_behind || !s->blank) return false;
    s->nodes = s->blank + n;
    for (size_t t = 0; t < n; t++) {
        const struct fr_task *task = &program->tasks[t];
        fr_task_kind kind = program->classes[task->class_id].kind;
        s->blank[t] = (struct node){.class_id = task->class_id,
                                    .path = s->paths.task_path[t],
                                    .exchange = kind == FR_TASK_EXCHANGE,
                                    .spelt_out = kind == FR_TASK_COLLECTIVE_MESSAGE};
        for (int k = 0; k < FR_TASK_WAITS_MAX && task->after[k] >= 0; k++) {
            s->first_behind[task->after[k] + 2]++;
            s->blank[t].waits++;
        }
    }
    for (size_t t = 2; t < n + 2; t++) s->first_behind[t] += s->first_behind[t - 1];
    s->behind = fr_malloc((size_t)s->first_behind[n + 1] + 1, sizeof *s->behind);
    if (!s->behind) return false;
    for (size_t t = 0; t < n; t++)
        for (int k = 0; k < FR_TASK_WAITS_MAX && program->tasks[t].after[k] >= 0; k++)
            s->behind[s->first_behind[program->tasks[t].after[k] + 1]++] = (int32_t)t;
    return true;
}

static void close_shared(void *state) {
    struct shared *s = state;
    fr_paths_free(&s->paths);
    fr_fluid_free(s->fluid);
    free(s->first_behind);
    free(s->behind);
    free(s->blank);
    free(s->flows_left);
    free(s->known);
    free(s->starts);
    free(s);
}

static fr_status open_shared(const struct fr_network_work *work, void **state,
                             struct fr_error *err) {
    size_t n = (size_t)work->program->n_tasks + 1;
    struct shared *s = fr_calloc(1, sizeof *s);
    *state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the network does not fit in memory");
    FR_TRY(fr_paths_make(work, &s->paths, err));
    s->fluid = fr_fluid_new(s->paths.n_links, s->paths.rate_B_per_s, s->paths.uses_max);
    s->known = fr_malloc(n, sizeof *s->known);
    s->flows_left = fr_malloc(n, 1);
    s->starts = fr_malloc(n, sizeof *s->starts);
    if (!list_waits(work->program, s) || !s->fluid || !s->known || !s->flows_left || !s->starts)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the network does not fit in memory");
    return FR_OK;
}

const struct fr_network fr_network_shared = {
    .name = "shared",
    .summary = "messages under way together share links, max-min fairly",
    .source =
        "progressive filling: Bertsekas & Gallager, Data Networks, 2nd ed., section 6.5.2",
    .engine = "event",
    .open = open_shared,
    .close = close_shared,
    .run = run,
};
