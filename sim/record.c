#include "sim/record.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "sim/engine.h"

bool fr_task_is_message(fr_task_kind kind) {
    return kind == FR_TASK_FORWARD_MESSAGE || kind == FR_TASK_BACKWARD_MESSAGE ||
           kind == FR_TASK_COMPRESSED_MESSAGE || kind == FR_TASK_COMPRESSED_FORWARD ||
           kind == FR_TASK_EXCHANGE || kind == FR_TASK_COLLECTIVE_MESSAGE;
}

bool fr_task_is_collective(fr_task_kind kind) {
    return kind == FR_TASK_GRADIENT || kind == FR_TASK_EMBEDDING || kind == FR_TASK_COLLECTIVE;
}

/* ---- use ------------------------------------------------------------------------------------ */

/* Between two pieces of work a rank communicates as long as its gradients are under way. */
static void add_gap(struct fr_stage_use *use, double start_s, double end_s) {
    use->gradient_exposed_s += fmax(0, fmin(start_s, use->stream_s) - use->free_s);
    use->free_s = fmax(use->free_s, end_s);
}

/* A codec, then the collective, on the gradients' stream; both alone where nothing overlaps. */
static void add_gradient(const struct fr_class_price *price, double start_s, double end_s,
                         struct fr_stage_use *use) {
    double codec_s = price->part_s[FR_PRICE_CODEC];
    use->gradient_s += end_s - start_s - codec_s;
    use->busy_s += codec_s;
    if (codec_s > 0) add_gap(use, start_s, start_s + codec_s);
    use->stream_s = fmax(use->stream_s, end_s);
}

static void add_work(const struct fr_class_price *price, double start_s, double end_s,
                     struct fr_stage_use *use) {
    double busy_s = fr_price_busy_s(price);
    add_gap(use, start_s, end_s);
    use->comm_s += fr_price_comm_s(price);
    use->busy_s += (1 - price->waiting) * busy_s;
    use->waiting_s += price->waiting * busy_s;
}

static void add_task(const struct fr_task *task, fr_task_kind kind,
                     const struct fr_class_price *price, double start_s, double end_s,
                     bool blocking, struct fr_stage_use *use) {
    struct fr_stage_use *own = &use[task->rank],
                        *other = task->peer >= 0 ? &use[task->peer] : NULL;
    if (kind == FR_TASK_GRADIENT) {
        add_gradient(price, start_s, end_s, own);
    } else if (!fr_task_is_message(kind)) {
        add_work(price, start_s, end_s, own);
        if (kind == FR_TASK_EMBEDDING) add_work(price, start_s, end_s, other);
    } else if (blocking && kind != FR_TASK_COLLECTIVE_MESSAGE) {
        add_gap(own, start_s, end_s);
        add_gap(other, start_s, end_s);
        own->blocked_s += end_s - start_s;
        other->blocked_s += end_s - start_s;
    }
}

void fr_record_use(const struct fr_program *program, const struct fr_class_price *price,
                   const double *start_s, const double *end_s, bool blocking,
                   struct fr_stage_use *use) {
    for (int32_t i = 0; i < program->n_ranks; i++) use[i] = (struct fr_stage_use){0};
    for (int64_t t = 0; t < program->n_tasks; t++) {
        const struct fr_task *task = &program->tasks[t];
        const struct fr_task_class *class = &program->classes[task->class_id];
        if (class->unseen) continue;
        add_task(task, class->kind, &price[task->class_id], start_s[t], end_s[t], blocking,
                 use);
    }
    for (int32_t i = 0; i < program->n_ranks; i++) { /* gradients that nothing follows */
        add_gap(&use[i], use[i].stream_s, use[i].stream_s);
        use[i].comm_s += use[i].gradient_exposed_s;
    }
}

/* ---- timeline ------------------------------------------------------------------------------- */

/* Equals in the order scheduled. */
static int by_start(const void *x, const void *y) {
    const struct fr_span *a = x, *b = y;
    if (a->start_s != b->start_s) return FR_ORDER(a->start_s, b->start_s);
    if (a->message != b->message) return FR_ORDER(a->message, b->message);
    return FR_ORDER(a->rank, b->rank);
}

/* A message shows on both sides; in an exchange each side sends and receives. */
static int64_t add_spans(const struct fr_task *task, fr_task_kind kind, struct fr_span span,
                         struct fr_span *out) {
    out[0] = span;
    if (kind == FR_TASK_EMBEDDING) { /* both ends take part */
        out[1] = span;
        out[1].rank = task->peer;
        out[1].peer = task->rank;
        return 2;
    }
    if (!fr_task_is_message(kind)) return 1;
    out[0].stream = FR_STREAM_SEND;
    out[1] = span;
    out[1].stream = FR_STREAM_RECV;
    out[1].rank = task->peer;
    out[1].peer = task->rank;
    if (kind != FR_TASK_EXCHANGE) return 2;
    out[2] = out[0];
    out[2].rank = task->peer;
    out[2].peer = task->rank;
    out[2].message = out[0].message + 1;
    out[3] = out[2];
    out[3].stream = FR_STREAM_RECV;
    out[3].rank = task->rank;
    out[3].peer = task->peer;
    return 4;
}

/* Spans come by start: each takes the first lane of its stream that is free by then.  The last
 * lane takes what is left over, and may overlap; nothing that a schedule here makes gets there. */
enum { LANES = 32 };

static fr_status assign_lanes(struct fr_timeline *timeline, struct fr_error *err) {
    size_t streams = (size_t)timeline->n_ranks * FR_STREAM_COUNT;
    double *free_s = fr_calloc(streams * LANES, sizeof *free_s);
    if (!free_s) return fr_fail(err, FR_ERR_NOMEM, NULL, "the timeline does not fit in memory");
    for (int64_t k = 0; k < timeline->count; k++) {
        struct fr_span *span = &timeline->spans[k];
        double *lane_s = free_s + ((size_t)span->rank * FR_STREAM_COUNT + span->stream) * LANES;
        int lane = 0;
        while (lane < LANES - 1 && lane_s[lane] > span->start_s * (1 + 1e-12)) lane++;
        lane_s[lane] = span->end_s;
        span->lane = (uint8_t)lane;
    }
    free(free_s);
    return FR_OK;
}

/* Is task @p t the continuation of the pass that the task before it is a part of? */
static bool same_pass(const struct fr_program *program, int64_t t) {
    const struct fr_task *task = &program->tasks[t];
    const struct fr_task_class *class = &program->classes[task->class_id];
    if (!class->part || class->kind == FR_TASK_GRADIENT) return false;
    return t > 0 && task[-1].class_id == task->class_id && task[-1].micro == task->micro &&
           task[-1].chunk == task->chunk;
}

/* How long a rank in this task communicates and computes nothing: a message holds up only those
 * who block. */
static double communicating_s(fr_task_kind kind, const struct fr_class_price *price,
                              double time_s, bool blocking) {
    if (kind == FR_TASK_COLLECTIVE_MESSAGE) return 0;
    if (fr_task_is_message(kind)) return blocking ? time_s : 0;
    if (kind == FR_TASK_GRADIENT) return time_s - price->part_s[FR_PRICE_CODEC];
    return fr_price_comm_s(price);
}

/* A task on the critical path makes its stretch of the span critical. */
static void mark(struct fr_span *span, double start_s, double end_s) {
    double from_s = fmax(start_s, span->start_s), to_s = fmin(end_s, span->end_s);
    if (from_s > to_s) return;
    span->critical_from_s = span->critical ? fmin(from_s, span->critical_from_s) : from_s;
    span->critical_to_s = span->critical ? fmax(to_s, span->critical_to_s) : to_s;
    span->critical = true;
}

/* The first @p first_s of @p rest as a span of its own, which computes, communicates and waits in
 * the same proportions. @return it */
static struct fr_span split(struct fr_span *rest, double first_s) {
    struct fr_span first = *rest;
    double share = first_s / (rest->end_s - rest->start_s);
    first.kind = FR_TASK_RECOMPUTE;
    first.end_s = rest->start_s += first_s;
    rest->communicating_s -= first.communicating_s *= share;
    rest->waiting_s -= first.waiting_s *= share;
    return first;
}

/* The codec of @p gradient, which computes; what is left of the span is the collective. @return it */
static struct fr_span split_codec(struct fr_span *gradient, double codec_s) {
    struct fr_span codec = *gradient;
    codec.kind = FR_TASK_GRADIENT_CODEC;
    codec.stream = FR_STREAM_COMPUTE;
    codec.size_B = codec.communicating_s = 0;
    codec.end_s = gradient->start_s += fmin(codec_s, gradient->end_s - gradient->start_s);
    return codec;
}

/* The beginning of a task becomes a span of its own: the forward pass that a backward pass repeats (all at once where
 * the pass is in parts), or the codec of gradients.
 * @return the spans added */
static int add_beginning(const struct fr_class_price *price, struct fr_span *span,
                         struct fr_span *out) {
    double codec_s = span->kind == FR_TASK_GRADIENT ? price->part_s[FR_PRICE_CODEC] : 0;
    if (price->again_s > 0)
        *out = split(span, price->again_s);
    else if (codec_s > 0)
        *out = split_codec(span, codec_s);
    else
        return 0;
    return 1;
}

/* Parts of one pass are one span, after what it repeats if that is a span of its own. */
static void extend(struct fr_timeline *timeline, const struct fr_class_price *price,
                   double start_s, double end_s, bool critical) {
    struct fr_span *span = &timeline->spans[timeline->count - 1];
    span->end_s = end_s;
    span->communicating_s += fr_price_comm_s(price);
    span->waiting_s += price->waiting * fr_price_busy_s(price);
    if (!critical) return;
    mark(span, start_s, end_s);
    if (timeline->count > 1 && span[-1].kind == FR_TASK_RECOMPUTE)
        mark(&span[-1], start_s, end_s);
}

fr_status fr_record_timeline(const struct fr_program *program,
                             const struct fr_class_price *price, const double *start_s,
                             const double *end_s, double makespan_s, bool blocking,
                             struct fr_timeline *timeline, struct fr_error *err) {
    bool *critical = fr_calloc((size_t)program->n_tasks + 1, sizeof *critical);
    timeline->spans = fr_malloc((size_t)program->n_tasks * 4 + 1, sizeof *timeline->spans);
    if (!critical || !timeline->spans) {
        free(critical);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the timeline does not fit in memory");
    }
    fr_engine_critical(program, end_s, critical);
    int32_t message = 0;
    for (int64_t t = 0; t < program->n_tasks; t++) {
        const struct fr_task *task = &program->tasks[t];
        fr_task_kind kind = program->classes[task->class_id].kind;
        bool collective = fr_task_is_collective(kind);
        /* Where it decides, the path goes through it. */
        if (program->classes[task->class_id].unseen && !(critical[t] && end_s[t] > start_s[t]))
            continue;
        if (same_pass(program, t)) {
            extend(timeline, &price[task->class_id], start_s[t], end_s[t], critical[t]);
            continue;
        }
        struct fr_span span = {
            .start_s = start_s[t],
            .end_s = end_s[t],
            .size_B = price[task->class_id].size_B,
            .rank = task->rank,
            .micro = task->micro,
            .chunk = task->chunk,
            .peer = task->peer,
            .message = fr_task_is_message(kind) ? message : -1,
            .communicating_s =
                communicating_s(kind, &price[task->class_id], end_s[t] - start_s[t], blocking),
            .waiting_s =
                price[task->class_id].waiting * fr_price_busy_s(&price[task->class_id]),
            .stream = collective ? FR_STREAM_COLLECTIVE : FR_STREAM_COMPUTE,
            .kind = (uint8_t)kind};
        struct fr_span *first = &timeline->spans[timeline->count];
        int before = add_beginning(&price[task->class_id], &span, first);
        if (before && critical[t]) mark(first, start_s[t], end_s[t]);
        timeline->count += before;
        if (critical[t]) mark(&span, start_s[t], end_s[t]);
        timeline->count += add_spans(task, kind, span, timeline->spans + timeline->count);
        if (fr_task_is_message(kind)) message += kind == FR_TASK_EXCHANGE ? 2 : 1;
    }
    free(critical);
    fr_sort_items(timeline->spans, (size_t)timeline->count, sizeof *timeline->spans, by_start);
    timeline->n_ranks = timeline->n_stages = program->n_ranks;
    timeline->makespan_s = makespan_s;
    return assign_lanes(timeline, err);
}
