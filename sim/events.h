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
#include <string.h>

__extension__ typedef unsigned __int128 fr_event_key;

/** One number, so that one comparison decides: from the top the bits of the time, which compare as a double does that is
 *  not negative, then the order, then `what`. */
struct fr_event {
    fr_event_key key;
};

/** Capacity for as many events as will be in it at once is the owner's affair. */
struct fr_events {
    struct fr_event *heap;
    int32_t n;
    int32_t *place; /**< [what] in the heap, or NULL: not kept */
};

/** @param time_s  >= 0, or INFINITY; not -0
 *  @param order   differs from event to event */
static inline struct fr_event fr_event_make(double time_s, uint32_t order, int32_t what) {
    uint64_t time;
    memcpy(&time, &time_s, sizeof time);
    return (struct fr_event){(fr_event_key)time << 64 | (uint64_t)order << 32 | (uint32_t)what};
}

static inline double fr_event_time_s(struct fr_event event) {
    uint64_t time = (uint64_t)(event.key >> 64);
    double time_s;
    memcpy(&time_s, &time, sizeof time_s);
    return time_s;
}

static inline int32_t fr_event_what(struct fr_event event) {
    return (int32_t)(uint32_t)event.key;
}

/** Without a branch: which of two events is the sooner is nothing a processor could foresee. */
static inline bool fr_event_sooner(struct fr_event a, struct fr_event b) {
    return a.key < b.key;
}

static inline void fr_events_put(struct fr_event *heap, int32_t *place, int32_t at,
                                 struct fr_event event) {
    heap[at] = event;
    if (place) place[fr_event_what(event)] = at;
}

static inline void fr_events_up(struct fr_events *e, int32_t at, struct fr_event event) {
    struct fr_event *heap = e->heap;
    int32_t *place = e->place;
    for (; at > 0 && fr_event_sooner(event, heap[(at - 1) / 2]); at = (at - 1) / 2)
        fr_events_put(heap, place, at, heap[(at - 1) / 2]);
    fr_events_put(heap, place, at, event);
}

/* To a leaf along the sooner children and from there up: what is put in from the end mostly stays
 * near the leaves, which spares comparing it on the way down. */
static inline void fr_events_down(struct fr_events *e, int32_t from, struct fr_event event) {
    struct fr_event *heap = e->heap;
    int32_t *place = e->place, n = e->n, at = from, child;
    for (; (child = 2 * at + 2) < n; at = child) {
        child -= fr_event_sooner(heap[child - 1], heap[child]);
        fr_events_put(heap, place, at, heap[child]);
    }
    if (child == n) {
        fr_events_put(heap, place, at, heap[child - 1]);
        at = child - 1;
    }
    for (; at > from && fr_event_sooner(event, heap[(at - 1) / 2]); at = (at - 1) / 2)
        fr_events_put(heap, place, at, heap[(at - 1) / 2]);
    fr_events_put(heap, place, at, event);
}

/** Where an event at place @p at, of another time than before, belongs. */
static inline void fr_events_move(struct fr_events *e, int32_t at, struct fr_event event) {
    if (at > 0 && fr_event_sooner(event, e->heap[(at - 1) / 2]))
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
