#include "traces/counter.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

/* The activity of a rank during the traversal. */
struct load {
    int32_t computing, communicating;
    double listed_W, before_W; /* of its last step and the one before; NaN before the first */
    int64_t listed, at_ns;     /* that step, and when it was */
};

static double power_W(const struct fr_trace_options *o, const struct load *load, int32_t rank) {
    bool communicates = load->communicating > 0 && !isnan(o->communicating_W);
    if (load->computing > 0) return o->rank_busy_W ? o->rank_busy_W[rank] : o->busy_W;
    return communicates ? o->communicating_W : o->idle_W;
}

static void add_step(struct fr_steps *steps, struct fr_step step) {
    step.number = steps->count;
    steps->items[steps->count++] = step;
}

/* List the power of @p rank at @p at_ns.  A step of the same instant is replaced, or voided
 * (NaN) when it led back to where the rank was: one span follows on another. */
static void list_power(struct fr_steps *steps, const struct fr_trace_options *o,
                       struct load *load, int32_t rank, int64_t at_ns) {
    double watts = power_W(o, load, rank);
    if (watts == load->listed_W) return;
    if (load->listed >= 0 && load->at_ns == at_ns) {
        bool back = watts == load->before_W;
        steps->items[load->listed].value = back ? (double)NAN : watts;
        if (back) load->listed = -1;
    } else {
        load->before_W = load->listed_W;
        load->listed = steps->count, load->at_ns = at_ns;
        add_step(steps, (struct fr_step){at_ns, watts, 0, rank, FR_COUNTER_POWER_W});
    }
    load->listed_W = watts;
}

/* A change of what a rank is doing. */
struct change {
    int64_t at_ns;
    int32_t rank, computing, communicating;
};

static int change_by_time(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    return FR_ORDER(x->at_ns, y->at_ns);
}

/* A span computes, then waits, then communicates; a message computes nothing. */
static int64_t add_changes(const struct fr_span *span, struct change *change) {
    bool message = span->stream == FR_STREAM_SEND || span->stream == FR_STREAM_RECV;
    double alone_s = span->end_s - span->communicating_s;
    int64_t start_ns = fr_trace_ns(span->start_s), end_ns = fr_trace_ns(span->end_s),
            alone_ns = fr_trace_ns(alone_s),
            computed_ns = fr_trace_ns(alone_s - span->waiting_s);
    int64_t n = 0;
    if (alone_ns > end_ns) alone_ns = end_ns;
    if (alone_ns < start_ns) alone_ns = start_ns;
    if (!message && computed_ns > start_ns) {
        change[n++] = (struct change){start_ns, span->rank, 1, 0};
        change[n++] = (struct change){computed_ns, span->rank, -1, 0};
    }
    if (end_ns > alone_ns) {
        change[n++] = (struct change){alone_ns, span->rank, 0, 1};
        change[n++] = (struct change){end_ns, span->rank, 0, -1};
    }
    return n;
}

static void walk_power(const struct fr_timeline *t, const struct fr_trace_options *o,
                       struct change *changes, struct load *loads, struct fr_steps *steps) {
    int64_t n = 0;
    for (int64_t i = 0; i < t->count; i++) n += add_changes(&t->spans[i], changes + n);
    fr_sort_items(changes, (size_t)n, sizeof *changes, change_by_time);
    for (int32_t r = 0; r < t->n_ranks; r++) {
        loads[r] =
            (struct load){.listed_W = (double)NAN, .before_W = (double)NAN, .listed = -1};
        list_power(steps, o, &loads[r], r, 0);
    }
    for (int64_t i = 0; i < n; i++) {
        struct load *load = &loads[changes[i].rank];
        load->computing += changes[i].computing;
        load->communicating += changes[i].communicating;
        list_power(steps, o, load, changes[i].rank, changes[i].at_ns);
    }
}

static void add_memory(const struct fr_trace_options *o, int32_t n_ranks,
                       struct fr_steps *steps) {
    for (int32_t r = 0; o->memory_B && r < n_ranks; r++)
        for (int64_t i = 0; i < o->memory_B[r].n; i++)
            add_step(steps,
                     (struct fr_step){fr_trace_ns(o->memory_B[r].at_s[i]),
                                      o->memory_B[r].value[i], 0, r, FR_COUNTER_MEMORY_B});
}

static int by_time(const void *a, const void *b) {
    const struct fr_step *x = a, *y = b;
    if (x->at_ns != y->at_ns) return FR_ORDER(x->at_ns, y->at_ns);
    if (x->rank != y->rank) return FR_ORDER(x->rank, y->rank);
    if (x->counter != y->counter) return FR_ORDER(x->counter, y->counter);
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Drop what is void, and of the memory given for one instant all but the last. */
static void drop_void(struct fr_steps *steps) {
    int64_t kept = 0;
    for (int64_t i = 0; i < steps->count; i++) {
        const struct fr_step *s = &steps->items[i], *next = s + 1;
        bool replaced = i + 1 < steps->count && next->at_ns == s->at_ns &&
                        next->rank == s->rank && next->counter == s->counter;
        if (!replaced && !isnan(s->value)) steps->items[kept++] = *s;
    }
    steps->count = kept;
}

fr_status fr_steps_make(struct fr_order *order, const struct fr_trace_options *o,
                        struct fr_steps *steps, struct fr_error *err) {
    const struct fr_timeline *t = order->timeline;
    bool power = o->busy_W > 0 && o->idle_W >= 0;
    size_t most = 1, n_ranks = (size_t)t->n_ranks;
    *steps = (struct fr_steps){0};
    if (power) most += n_ranks + 4 * (size_t)t->count;
    for (size_t r = 0; o->memory_B && r < n_ranks; r++) most += (size_t)o->memory_B[r].n;
    if (most == 1) return FR_OK;
    struct load *loads = fr_malloc(n_ranks + 1, sizeof *loads);
    struct change *changes = fr_malloc(4 * (size_t)t->count + 1, sizeof *changes);
    steps->items = fr_malloc(most, sizeof *steps->items);
    bool made = loads && changes && steps->items;
    if (made) {
        if (power) walk_power(t, o, changes, loads, steps);
        add_memory(o, t->n_ranks, steps);
        fr_sort_items(steps->items, (size_t)steps->count, sizeof *steps->items, by_time);
        drop_void(steps);
    }
    free(loads);
    free(changes);
    return made ? FR_OK : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
}
