/* Messages at the same time share links, max-min fairly (sim/fluid.h).
 *
 * A message first waits its route's latency, then its bytes flow at the rate that all messages present leave it.
 * Alone it takes its class's time, whatever priced that: the part beyond the bytes and latency of the route (a gather
 * among the receivers) comes after.  So a message is never faster here than on an isolated network, and neither is a
 * task.  A collective that is simulated by messages has no such rest for messages that share a link: they do share it
 * here.
 *
 * In order, messages from one rank to another form a line: each begins when it is ready and the bytes of the one
 * before have arrived.  An exchange joins no line, since both ranks wait for it;
 * nor does a message inside a collective, which has an order of its own.
 *
 * Other tasks end when the tasks that they wait for have ended and their own time has passed.  That end is known as
 * soon as those ends are known, even in the future, so only messages are events.  The loop:
 *   1. tasks whose waits are all known: work gets its end at once, a message its flow's start, or its place in line;
 *   2. the earliest flow start (in order of task) or flow end (in order started, first among equal times) comes next;
 *      an end lets the next in line begin and makes the ends of tasks behind it known: back to 1.
 * A flow that has its links to itself and ends before any other event starts and ends in one step: nothing could tell
 * the difference.  Most messages of a pipeline are such. */
#include "sim/sharing.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/extremes.h"
#include "sim/events.h"
#include "sim/fluid.h"
#include "sim/paths.h"
#include "sim/prefetch.h"
#include "sim/successors.h"

/* A class of messages on one path. */
struct message {
    int32_t class_id, path;
    int32_t other; /* message of the same path, or -1 */
    bool exchange, as_messages, queues, apart;
    double latency_s;                         /* of its class, or 0 */
    double times;                             /* messages that it stands for */
    double before_s, size_B, flow_s, after_s; /* parts of its class's time, during a run */
    double least_s; /* it takes, however free the links are; likewise */
};

/* Data of a task for the loop, side by side and by depth, since programs are larger than caches. */
struct node {
    double ready_s; /* latest end of what it waits for, so far */
    double end_s;   /* of a message, the earliest; then of its flows so far */
    int32_t work;   /* its class; of a message ~ its number */
    int32_t first_successor, task;
    int8_t waits, waits_left, flows_left;
};

/* Messages of a path whose waits are known, in the order in which they are ready, then in order of task.  The first
 * has its flow or its flow's start among the events, and no other has. */
struct line {
    int32_t first, last; /* nodes; first is -1 when nobody is there */
    bool flowing;        /* the first */
};

struct shared {
    struct fr_paths paths;
    struct fr_successors successors;
    struct fr_fluid *fluid;
    struct node *nodes; /* [n + 1]: the last only ends the list behind the one before */
    struct message *messages;
    int32_t n_messages, capacity;
    int32_t *known;           /* nodes whose waits are all over, to be worked on */
    int32_t n_known, n_roots; /* roots wait for nothing: they have the first places */
    struct fr_events starts;  /* of flows, by node; in order of task */
    bool first_is_over;       /* of the starts: its place is the next one's */
    struct line *lines;       /* [n_paths]; NULL: no lines */
    int32_t *next_in_line;    /* [n] the node behind it, or -1 */
    bool under_way;           /* a run: nodes are not as they were made */
    const double *class_s;
    double flow_s; /* end of the next flow */
    double last_s;
};

/* ---- a message's parts ------------------------------------------------------------------------ */

/* Split the class's time into latency, flow at the rate that it has alone, and the rest. */
static void part(struct shared *s, const double *class_B) {
    for (int32_t m = 0; m < s->n_messages; m++) {
        struct message *message = &s->messages[m];
        const struct fr_path *path = &s->paths.paths[message->path];
        double alone_s = s->class_s[message->class_id];
        message->size_B = fr_smaller(class_B[message->class_id], alone_s * path->alone_B_per_s);
        message->flow_s = message->size_B / path->alone_B_per_s;
        message->before_s = fr_smaller(
            message->latency_s > 0 ? message->latency_s : message->times * path->latency_s,
            alone_s - message->flow_s);
        message->after_s =
            message->as_messages ? 0 : alone_s - message->before_s - message->flow_s;
        /* The closed form takes all stages' collectives to meet.  Here they do, or not. */
        message->least_s = message->apart ? message->before_s + message->flow_s : alone_s;
    }
}

/* ---- the loop --------------------------------------------------------------------------------- */

/* Programs are larger than caches and nodes are finished about in order of place: the next of them are fetched in
 * time. */
static void look_ahead(const struct shared *s, const struct node *over) {
    enum { AHEAD = 512 };
    fr_prefetch(over, AHEAD * sizeof *over);
    fr_prefetch(&s->successors.successors[over->first_successor], AHEAD * sizeof(int32_t));
}

static void finish(struct shared *s, struct node *over, double end_s) {
    look_ahead(s, over);
    over->end_s = end_s;
    over->waits_left = over->waits; /* as the next run wants it */
    if (end_s > s->last_s) s->last_s = end_s;
    for (int32_t k = over->first_successor; k < over[1].first_successor; k++) {
        struct node *node = &s->nodes[s->successors.successors[k]];
        if (end_s > node->ready_s) node->ready_s = end_s;
        if (--node->waits_left == 0) s->known[s->n_known++] = s->successors.successors[k];
    }
}

static void push_start(struct shared *s, struct fr_event start) {
    if (s->first_is_over)
        fr_events_down(&s->starts, 0, start);
    else
        fr_events_push(&s->starts, start);
    s->first_is_over = false;
}

/* The message's own time runs from now on. */
static void begin_message(struct shared *s, int32_t at, double now_s) {
    struct node *node = &s->nodes[at];
    const struct message *m = &s->messages[~node->work];
    node->end_s = now_s + m->least_s;
    push_start(s, fr_event_make(now_s + fr_larger(0, m->before_s), (uint32_t)node->task, at));
}

static bool ready_sooner(const struct node *a, const struct node *b) {
    if (a->ready_s < b->ready_s || b->ready_s < a->ready_s) return a->ready_s < b->ready_s;
    return a->task < b->task;
}

/* Known later than the last in line and ready sooner.  That is rare: a rank's passes, which send, end in turn. */
static void push_in(struct shared *s, struct line *line, int32_t at) {
    int32_t *before = &line->first;
    if (line->flowing) before = &s->next_in_line[line->first];
    while (!ready_sooner(&s->nodes[at], &s->nodes[*before])) before = &s->next_in_line[*before];
    s->next_in_line[at] = *before;
    *before = at;
    if (line->first != at) return;
    int32_t k = s->first_is_over;
    while (fr_event_what(s->starts.heap[k]) != s->next_in_line[at]) k++;
    fr_events_take(&s->starts, k);
    begin_message(s, at, s->nodes[at].ready_s);
}

static void join_line(struct shared *s, int32_t at) {
    struct line *line = &s->lines[s->messages[~s->nodes[at].work].path];
    if (line->first < 0) {
        line->first = at;
        begin_message(s, at, s->nodes[at].ready_s);
    } else if (!(line->flowing && line->first == line->last) &&
               ready_sooner(&s->nodes[at], &s->nodes[line->last])) {
        push_in(s, line, at);
        return;
    } else {
        s->next_in_line[line->last] = at;
    }
    s->next_in_line[at] = -1;
    line->last = at;
}

/* The bytes of the first in line have arrived. */
static void leave_line(struct shared *s, struct line *line, double now_s) {
    line->flowing = false;
    line->first = s->next_in_line[line->first];
    if (line->first >= 0)
        begin_message(s, line->first, fr_larger(now_s, s->nodes[line->first].ready_s));
}

static void work_off(struct shared *s) {
    while (s->n_known > 0) {
        int32_t at = s->known[--s->n_known];
        struct node *node = &s->nodes[at];
        if (node->work >= 0) {
            finish(s, node, node->ready_s + s->class_s[node->work]);
            continue;
        }
        const struct message *m = &s->messages[~node->work];
        if (!(m->size_B > 0))
            finish(s, node, node->ready_s + s->class_s[m->class_id]);
        else if (m->queues)
            join_line(s, at);
        else
            begin_message(s, at, node->ready_s);
    }
}

static bool start_flows(struct shared *s, struct node *node, int32_t at) {
    const struct message *m = &s->messages[~node->work];
    int32_t q = m->path;
    if (m->queues) s->lines[q].flowing = true;
    for (int k = 0; k < 1 + m->exchange; k++, q = s->paths.back[q]) {
        const struct fr_path *path = &s->paths.paths[q];
        node->flows_left++;
        if (!fr_fluid_start(s->fluid, at, m->size_B, path->alone_B_per_s,
                            s->paths.links.uses + path->first, path->n_uses))
            return false;
    }
    s->flow_s = fr_fluid_next_s(s->fluid);
    return true;
}

static void end_message(struct shared *s, struct node *node, double now_s) {
    const struct message *m = &s->messages[~node->work];
    if (m->queues) leave_line(s, &s->lines[m->path], now_s);
    finish(s, node, node->end_s);
}

/* The part of a message that is left when its bytes have arrived; unhindered it takes exactly its
 * class's time. */
static void end_flow(struct shared *s) {
    bool slowed;
    double now_s = s->flow_s;
    struct node *node = &s->nodes[fr_fluid_finish(s->fluid, &slowed)];
    if (slowed)
        node->end_s =
            fr_larger(node->end_s, now_s + fr_larger(0, s->messages[~node->work].after_s));
    s->flow_s = fr_fluid_next_s(s->fluid);
    if (--node->flows_left == 0) end_message(s, node, now_s);
}

/* When the flow after the first of the starts begins. */
static double second_start_s(const struct fr_events *starts) {
    double next_s = starts->n > 1 ? fr_event_time_s(starts->heap[1]) : INFINITY;
    return starts->n > 2 ? fr_smaller(next_s, fr_event_time_s(starts->heap[2])) : next_s;
}

/* The earliest of the starts. */
static bool start_message(struct shared *s) {
    double start_s = fr_event_time_s(s->starts.heap[0]);
    int32_t at = fr_event_what(s->starts.heap[0]);
    struct node *node = &s->nodes[at];
    const struct message *m = &s->messages[~node->work];
    const struct fr_path *path = &s->paths.paths[m->path];
    double flow_end_s = start_s + m->flow_s;
    s->first_is_over = true;
    if (flow_end_s < s->flow_s && flow_end_s <= second_start_s(&s->starts) && !m->exchange &&
        fr_fluid_is_free(s->fluid, s->paths.links.uses + path->first, path->n_uses)) {
        end_message(s, node, flow_end_s);
        return true;
    }
    fr_fluid_advance(s->fluid, start_s);
    return start_flows(s, node, at);
}

/* In order of task: one who writes by place keeps as many lines open as there are ranks, and those at distances of a
 * power of two, as with 512 micro-batches, turn each other out of the caches. */
static void read_times(struct shared *s, double *start_s, double *end_s) {
    enum { AHEAD = 16 };
    int64_t n = s->successors.n;
    const int32_t *place = s->successors.place;
    for (int64_t t = 0; t < n; t++) {
        struct node *node = &s->nodes[place[t]];
        if (t + AHEAD < n) fr_prefetch(&s->nodes[place[t + AHEAD]], 0);
        start_s[t] = node->ready_s;
        end_s[t] = node->end_s;
        node->ready_s = 0; /* as the next run wants it */
    }
    s->under_way = false;
}

/* After a run without an end. */
static void reset_nodes(struct shared *s) {
    for (int64_t at = 0; at < s->successors.n; at++) {
        s->nodes[at].ready_s = 0;
        s->nodes[at].flows_left = 0;
        s->nodes[at].waits_left = s->nodes[at].waits;
    }
}

static void begin(struct shared *s, const double *class_s, const double *class_B) {
    if (s->under_way) reset_nodes(s); /* the run before ran out of memory */
    s->under_way = true;
    s->class_s = class_s;
    s->last_s = 0;
    s->n_known = s->starts.n = 0;
    s->first_is_over = false;
    fr_fluid_reset(s->fluid);
    s->flow_s = INFINITY;
    part(s, class_B);
    for (int32_t q = 0; s->lines && q < s->paths.n_paths; q++)
        s->lines[q] = (struct line){.first = -1, .last = -1};
    for (int32_t at = s->n_roots; at-- > 0;) s->known[s->n_known++] = at;
}

fr_status fr_sharing_run(const struct fr_network_work *work, void *state, const double *class_s,
                         double *start_s, double *end_s, double *makespan_s,
                         struct fr_error *err) {
    struct shared *s = state;
    begin(s, class_s, work->class_B);
    for (;;) {
        work_off(s);
        if (s->first_is_over) fr_events_take(&s->starts, 0);
        s->first_is_over = false;
        double start = s->starts.n ? fr_event_time_s(s->starts.heap[0]) : INFINITY;
        if (isinf(s->flow_s) && isinf(start)) break;
        if (s->flow_s <= start)
            end_flow(s);
        else if (!start_message(s))
            return fr_fail(err, FR_ERR_NOMEM, NULL, "the messages do not fit in memory");
    }
    read_times(s, start_s, end_s);
    *makespan_s = s->last_s;
    return FR_OK;
}

/* ---- preparing -------------------------------------------------------------------------------- */

/* The number of the messages of a class on a path, -1 without memory; @p latest[path] is the last one
 * numbered. */
static int32_t number_of(struct shared *s, int32_t *latest, const struct fr_program *program,
                         int32_t class_id, int32_t path) {
    fr_task_kind kind = program->classes[class_id].kind;
    for (int32_t m = latest[path]; m >= 0; m = s->messages[m].other)
        if (s->messages[m].class_id == class_id) return m;
    if (s->n_messages == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 256;
        struct message *grown = fr_realloc(s->messages, (size_t)s->capacity, sizeof *grown);
        if (!grown) return -1;
        s->messages = grown;
    }
    s->messages[s->n_messages] = (struct message){
        .class_id = class_id,
        .path = path,
        .other = latest[path],
        .exchange = kind == FR_TASK_EXCHANGE,
        .as_messages = kind == FR_TASK_COLLECTIVE_MESSAGE,
        .queues = s->lines && kind != FR_TASK_EXCHANGE && kind != FR_TASK_COLLECTIVE_MESSAGE,
        .apart = program->classes[class_id].apart,
        .latency_s = program->classes[class_id].latency_s,
        .times = program->classes[class_id].times > 0 ? program->classes[class_id].times : 1};
    return latest[path] = s->n_messages++;
}

static bool list_nodes(const struct fr_program *program, struct shared *s) {
    size_t n = (size_t)program->n_tasks;
    int32_t *latest = fr_malloc((size_t)s->paths.n_paths + 1, sizeof *latest);
    s->nodes = fr_calloc(n + 1, sizeof *s->nodes);
    bool fits = latest && s->nodes;
    for (int32_t q = 0; fits && q < s->paths.n_paths; q++) latest[q] = -1;
    for (size_t at = 0; fits && at < n; at++) {
        int32_t id = s->successors.task[at], path = s->paths.task_path[id];
        const struct fr_task *task = &program->tasks[id];
        struct node *node = &s->nodes[at];
        node->task = id;
        node->first_successor = s->successors.first[at];
        node->work = task->class_id;
        if (path >= 0) {
            int32_t number = number_of(s, latest, program, task->class_id, path);
            node->work = ~number;
            fits = number >= 0;
        }
        while (node->waits < FR_TASK_WAITS_MAX && task->after[node->waits] >= 0) node->waits++;
        node->waits_left = node->waits;
        s->n_roots += node->waits == 0;
    }
    if (fits) s->nodes[n].first_successor = s->successors.first[n];
    free(latest);
    return fits;
}

void fr_sharing_close(void *state) {
    struct shared *s = state;
    fr_paths_free(&s->paths);
    fr_successors_free(&s->successors);
    fr_fluid_free(s->fluid);
    free(s->nodes);
    free(s->messages);
    free(s->known);
    free(s->starts.heap);
    free(s->lines);
    free(s->next_in_line);
    free(s);
}

fr_status fr_sharing_open(const struct fr_network_work *work, bool in_order, void **state,
                          struct fr_error *err) {
    size_t n = (size_t)work->program->n_tasks + 1;
    struct shared *s = fr_calloc(1, sizeof *s);
    *state = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the network does not fit in memory");
    FR_TRY(fr_paths_make(work, &s->paths, err));
    s->fluid =
        fr_fluid_new(s->paths.links.n, s->paths.links.rate_B_per_s, s->paths.links.uses_max);
    s->known = fr_malloc(n, sizeof *s->known);
    s->starts.heap = fr_malloc(n, sizeof *s->starts.heap);
    bool fits = s->fluid && s->known && s->starts.heap;
    if (in_order) {
        s->lines = fr_malloc((size_t)s->paths.n_paths + 1, sizeof *s->lines);
        s->next_in_line = fr_malloc(n, sizeof *s->next_in_line);
        fits = fits && s->lines && s->next_in_line;
    }
    if (!fits || !fr_successors_make(work->program, &s->successors) ||
        !list_nodes(work->program, s))
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the network does not fit in memory");
    return FR_OK;
}
