#include "traces/order.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

static const double longest_s = 9e9; /* int64_t holds 9.22e18 ns */

int64_t fr_trace_ns(double time_s) { return llround(time_s * 1e9); }

static int64_t start_ns(const struct fr_order *order, int64_t span) {
    return fr_trace_ns(order->timeline->spans[span].start_s);
}

static int64_t end_ns(const struct fr_order *order, int64_t span) {
    return fr_trace_ns(order->timeline->spans[span].end_s);
}

static int by_time(const void *a, const void *b) {
    const struct fr_edge *x = a, *y = b;
    if (x->at_ns != y->at_ns) return FR_ORDER(x->at_ns, y->at_ns);
    return x->span < y->span ? -1 : x->span > y->span;
}

static void fill_endings(struct fr_order *order) {
    for (int64_t i = 0; i < order->timeline->count; i++) {
        int64_t at_ns = end_ns(order, i);
        if (at_ns > start_ns(order, i))
            order->endings[order->n_endings++] = (struct fr_edge){at_ns, i, false};
    }
    fr_sort_items(order->endings, (size_t)order->n_endings, sizeof *order->endings, by_time);
}

/* `waiting` holds, for each message, the span of it that was met first, plus 1. */
static void find_partners(struct fr_order *order, int64_t *waiting) {
    const struct fr_timeline *t = order->timeline;
    for (int64_t i = 0; i < t->count; i++) {
        int32_t message = t->spans[i].message;
        order->partner[i] = -1;
        if (message < 0) continue;
        int64_t other = waiting[message] - 1;
        if (other < 0)
            waiting[message] = i + 1;
        else if (t->spans[other].stream != t->spans[i].stream && order->partner[other] < 0) {
            order->partner[i] = other;
            order->partner[other] = i;
        }
    }
}

static void count_lanes(struct fr_order *order) {
    const struct fr_timeline *t = order->timeline;
    for (int64_t i = 0; i < t->count; i++) {
        const struct fr_span *span = &t->spans[i];
        uint16_t *lanes = &order->lanes[(int64_t)span->rank * FR_STREAM_COUNT + span->stream];
        if (*lanes <= span->lane) *lanes = (uint16_t)(span->lane + 1);
    }
}

int fr_order_lanes(const struct fr_order *order, int32_t rank, int s) {
    return order->lanes[(int64_t)rank * FR_STREAM_COUNT + s];
}

fr_status fr_order_make(const struct fr_timeline *timeline, struct fr_order *order,
                        struct fr_error *err) {
    *order = (struct fr_order){.timeline = timeline};
    if (!(timeline->makespan_s < longest_s))
        return fr_fail(err, FR_ERR_UNSUPPORTED, NULL,
                       "a trace counts nanoseconds and cannot hold a makespan of %g s",
                       timeline->makespan_s);
    size_t n = (size_t)timeline->count, n_messages = 1;
    for (size_t i = 0; i < n; i++)
        if (timeline->spans[i].message >= 0 && (size_t)timeline->spans[i].message >= n_messages)
            n_messages = (size_t)timeline->spans[i].message + 1;
    int64_t *waiting = fr_calloc(n_messages, sizeof *waiting);
    order->partner = fr_malloc(n + 1, sizeof *order->partner);
    order->endings = fr_malloc(n + 1, sizeof *order->endings);
    order->lanes =
        fr_calloc((size_t)timeline->n_ranks + 1, FR_STREAM_COUNT * sizeof *order->lanes);
    bool made = waiting && order->partner && order->endings && order->lanes;
    if (made) {
        count_lanes(order);
        find_partners(order, waiting);
        fill_endings(order);
    }
    free(waiting);
    return made ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}

void fr_order_free(struct fr_order *order) {
    free(order->partner);
    free(order->lanes);
    free(order->endings);
    *order = (struct fr_order){0};
}

bool fr_order_next(struct fr_order *order, struct fr_edge *edge) {
    bool begins = order->begun < order->timeline->count, ends = order->ended < order->n_endings;
    if (!begins && !ends) return false;
    int64_t at_ns = begins ? start_ns(order, order->begun) : 0;
    if (ends && (!begins || order->endings[order->ended].at_ns <= at_ns))
        *edge = order->endings[order->ended++];
    else
        *edge = (struct fr_edge){at_ns, order->begun++, true};
    return true;
}

bool fr_order_is_over(const struct fr_order *order, int64_t span, int64_t now_ns) {
    return span < order->begun && end_ns(order, span) <= now_ns;
}
