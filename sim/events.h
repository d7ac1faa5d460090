/** @file
 *  Events to come, the earliest first: a heap.
 *
 *  Among equal times the lower `order` comes first, so that the sequence hangs on nothing but what
 *  was put in.  Keys lie in the heap itself: comparing looks nowhere else.  Where `place` is kept
 *  (one for each `what`), an event can be moved or taken out by what it is.
 */
#ifndef FR_SIM_EVENTS_H
#define FR_SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct fr_event {
    double time_s;
    uint32_t order; /**< differs from event to event */
    int32_t what;
};

/** Capacity for as many events as will be in it at once is the owner's affair. */
struct fr_events {
    struct fr_event *heap;
    int32_t n;
    int32_t *place; /**< [what] in the heap, or NULL: not kept */
};

/** Without a branch: which of two events is the sooner is nothing a processor could foresee. */
static inline bool fr_event_sooner(const struct fr_event *a, const struct fr_event *b) {
    return (a->time_s < b->time_s) |
           (!(b->time_s < a->time_s) & (a->order < b->order)); /* no NaN comes here */
}

static inline void fr_events_put(struct fr_events *e, int32_t at, struct fr_event event) {
    e->heap[at] = event;
    if (e->place) e->place[event.what] = at;
}

static inline void fr_events_up(struct fr_events *e, int32_t at, struct fr_event event) {
    for (; at > 0 && fr_event_sooner(&event, &e->heap[(at - 1) / 2]); at = (at - 1) / 2)
        fr_events_put(e, at, e->heap[(at - 1) / 2]);
    fr_events_put(e, at, event);
}

/* To a leaf along the sooner children and from there up: what is put in from the end mostly stays
 * near the leaves, which spares comparing it on the way down. */
static inline void fr_events_down(struct fr_events *e, int32_t at, struct fr_event event) {
    int32_t from = at, child;
    for (; (child = 2 * at + 2) < e->n; at = child) {
        child -= fr_event_sooner(&e->heap[child - 1], &e->heap[child]);
        fr_events_put(e, at, e->heap[child]);
    }
    if (child == e->n) {
        fr_events_put(e, at, e->heap[child - 1]);
        at = child - 1;
    }
    for (; at > from && fr_event_sooner(&event, &e->heap[(at - 1) / 2]); at = (at - 1) / 2)
        fr_events_put(e, at, e->heap[(at - 1) / 2]);
    fr_events_put(e, at, event);
}

/** Where an event at place @p at, of another time than before, belongs. */
static inline void fr_events_move(struct fr_events *e, int32_t at, struct fr_event event) {
    if (at > 0 && fr_event_sooner(&event, &e->heap[(at - 1) / 2]))
        fr_events_up(e, at, event);
    else
        fr_events_down(e, at, event);
}

static inline void fr_events_push(struct fr_events *e, struct fr_event event) {
    fr_events_up(e, e->n++, event);
}

/** Take out the event at place @p at < n; 0 is the earliest. */
static inline struct fr_event fr_events_take(struct fr_events *e, int32_t at) {
    struct fr_event taken = e->heap[at], last = e->heap[--e->n];
    if (at < e->n) fr_events_move(e, at, last);
    return taken;
}

#endif
