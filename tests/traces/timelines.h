/* Timelines to write: one made by hand, and valid random ones. */
#ifndef FR_TESTS_TRACES_TIMELINES_H
#define FR_TESTS_TRACES_TIMELINES_H

#include "tests/cmocka.h"

#include <stdlib.h>

#include "traces/format.h"

enum { RANDOM_SPANS_MAX = 1200 };

/* Two stages, one micro-batch there and back; the first message takes no time, and its receive
 * stands before its send. */
static struct fr_span hand_spans[] = {
    {0, 1e-3, 0, 0, 0, 0, -1, -1, FR_STREAM_COMPUTE, 0, FR_TASK_FORWARD, true, 0, 0, 0, 0},
    {1e-3, 1e-3, 64, 1, 0, 0, 0, 0, FR_STREAM_RECV, 0, FR_TASK_FORWARD_MESSAGE, true, 0, 0, 0,
     0},
    {1e-3, 1e-3, 64, 0, 0, 0, 1, 0, FR_STREAM_SEND, 0, FR_TASK_FORWARD_MESSAGE, true, 0, 0, 0,
     0},
    {1e-3, 2e-3, 0, 1, 0, 0, -1, -1, FR_STREAM_COMPUTE, 0, FR_TASK_FORWARD, true, 0, 0, 0, 0},
    {2e-3, 4e-3, 0, 1, 0, 0, -1, -1, FR_STREAM_COMPUTE, 0, FR_TASK_BACKWARD, true, 0, 0, 0, 0},
    {4e-3, 4.5e-3, 64, 1, 0, 0, 0, 1, FR_STREAM_SEND, 0, FR_TASK_BACKWARD_MESSAGE, true, 0, 0,
     0, 0},
    {4.1e-3, 4.5e-3, 64, 0, 0, 0, 1, 1, FR_STREAM_RECV, 0, FR_TASK_BACKWARD_MESSAGE, true, 0, 0,
     0, 0},
    {4.5e-3, 6.5e-3, 0, 0, 0, 0, -1, -1, FR_STREAM_COMPUTE, 0, FR_TASK_BACKWARD, true, 0, 0, 0,
     0},
    {6.5e-3, 7e-3, 1e6, 0, -1, 0, -1, -1, FR_STREAM_COLLECTIVE, 0, FR_TASK_GRADIENT, false, 0,
     0, 0.5e-3, 0},
};
static const struct fr_timeline hand = {
    2, 2, hand_spans, sizeof hand_spans / sizeof *hand_spans, 7e-3, 0};

/* SplitMix64: Steele, Lea, Flood, OOPSLA 2014. */
static inline uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}
static inline int32_t below(uint64_t *state, int32_t n) {
    return (int32_t)(draw(state) % (uint64_t)n);
}

/* Often zero or below a nanosecond, so that rounding has something to get wrong. */
static inline double some_s(uint64_t *state) {
    static const double scale_s[] = {0, 1e-10, 1e-9, 1e-6, 1e-3};
    return scale_s[below(state, 5)] * (double)below(state, 1000) / 700;
}

static inline int by_start(const void *a, const void *b) {
    const struct fr_span *x = a, *y = b;
    if (x->start_s != y->start_s) return x->start_s < y->start_s ? -1 : 1;
    if (x->end_s != y->end_s) return x->end_s < y->end_s ? -1 : 1;
    if (x->rank != y->rank) return x->rank - y->rank;
    return (int)x->stream - (int)y->stream;
}

/* Messages and lone spans on 12 ranks, each begun when its lanes are free. */
static inline struct fr_timeline random_timeline(uint64_t seed, struct fr_span *spans) {
    enum { RANKS = 12, LANES = 3 };
    double free_s[RANKS][FR_STREAM_COUNT][LANES] = {{{0}}};
    struct fr_timeline t = {RANKS, 4, spans, 0, 0, 0};
    for (int32_t i = 0; t.count + 2 <= RANDOM_SPANS_MAX; i++) {
        int32_t rank = below(&seed, RANKS), to = (rank + 1 + below(&seed, 11)) % RANKS;
        bool message = below(&seed, 2) == 0;
        struct fr_span span = {.rank = rank, .micro = i % 7, .peer = -1, .message = -1};
        span.critical = below(&seed, 5) == 0;
        span.stream = below(&seed, 9) ? FR_STREAM_COMPUTE : FR_STREAM_COLLECTIVE;
        span.kind = (uint8_t)below(&seed, 3);
        if (message) {
            span.stream = FR_STREAM_SEND, span.kind = FR_TASK_BACKWARD_MESSAGE;
            span.lane = (uint8_t)below(&seed, LANES);
            span.peer = to, span.message = i, span.size_B = 1e3 * i;
        }
        double *own_s = &free_s[rank][span.stream][span.lane], lag_s = some_s(&seed);
        uint8_t its_lane = (uint8_t)below(&seed, LANES);
        double *its_s = &free_s[to][FR_STREAM_RECV][its_lane];
        span.start_s = fmax(*own_s, message ? *its_s : 0) + some_s(&seed);
        span.end_s = *own_s = span.start_s + some_s(&seed);
        if (span.stream != FR_STREAM_COMPUTE || i % 3 == 0)
            span.communicating_s = (span.end_s - span.start_s) * below(&seed, 5) / 4;
        if (i % 7 == 0) span.waiting_s = (span.end_s - span.start_s - span.communicating_s) / 3;
        spans[t.count++] = span;
        t.makespan_s = fmax(t.makespan_s, span.end_s);
        if (!message) continue;
        span.rank = to, span.peer = rank, span.stream = FR_STREAM_RECV, span.lane = its_lane;
        span.start_s += lag_s;
        span.end_s = *its_s = span.end_s + lag_s;
        spans[t.count++] = span;
        t.makespan_s = fmax(t.makespan_s, span.end_s);
    }
    qsort(spans, (size_t)t.count, sizeof *spans, by_start);
    return t;
}

/* Text of @p t in format @p f; freed by the caller. */
static inline struct fr_text written(const struct fr_format *f, const struct fr_timeline *t,
                                     const struct fr_trace_options *o) {
    struct fr_text out = {0};
    struct fr_error err = {0};
    if (f->write(t, o, &out, &err) != FR_OK) fail_msg("%s: %s", f->name, err.detail);
    return out;
}

#endif
