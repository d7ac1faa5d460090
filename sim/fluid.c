#include "sim/fluid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/extremes.h"
#include "sim/events.h"

/* One use of a link by a flow that is under way, in the link's list. */
struct use {
    int32_t link, weight;
    int32_t before, after; /* uses of the same link, or -1 */
};

struct flow {
    int64_t tag;
    double left_B, since_s, rate_B_per_s;
    double alone_B_per_s; /* its rate when nothing else is under way */
    int64_t mark;
    uint32_t order;
    int32_t n_uses;
    bool slowed;
};

struct link {
    double rate_B_per_s;
    double left_B_per_s; /* while filling: not yet given away */
    int32_t first;       /* use, or -1 */
    int32_t weight;      /* while filling: of flows not yet fixed */
    int64_t mark;
    bool dirty;
};

struct fr_fluid {
    int32_t n_links, uses_max;
    struct link *links;
    struct flow *flows;              /* slots; free ones listed */
    struct use *uses;                /* uses_max a slot */
    struct fr_events ends;           /* of slots, in the order started */
    int32_t *free_slots, *component; /* slots */
    int32_t n_free, capacity;
    int32_t *dirty, n_dirty, *reached, n_reached; /* links */
    int64_t mark;
    uint32_t order;
    double now_s;
};

/* ---- making and growing ---------------------------------------------------------------------- */

static bool grow(struct fr_fluid *f) {
    int32_t before = f->capacity, now = before ? 2 * before : 256;
    struct flow *flows = fr_realloc(f->flows, (size_t)now, sizeof *flows);
    if (flows) f->flows = flows;
    struct use *uses = fr_realloc(f->uses, (size_t)now * (size_t)f->uses_max, sizeof *uses);
    if (uses) f->uses = uses;
    struct fr_event *heap = fr_realloc(f->ends.heap, (size_t)now, sizeof *heap);
    if (heap) f->ends.heap = heap;
    int32_t *slots = fr_realloc(f->ends.place, 3 * (size_t)now, sizeof *slots);
    if (slots) f->ends.place = slots;
    if (!flows || !uses || !heap || !slots) return false;
    /* places, free slots and component share one array, which moved apart */
    memmove(slots + now, slots + before, (size_t)f->n_free * sizeof *slots);
    f->free_slots = slots + now;
    f->component = slots + 2 * (size_t)now;
    for (int32_t slot = now; slot-- > before;) f->free_slots[f->n_free++] = slot;
    f->capacity = now;
    return true;
}

struct fr_fluid *fr_fluid_new(int32_t n_links, const double *rate_B_per_s, int32_t uses_max) {
    struct fr_fluid *f = fr_calloc(1, sizeof *f);
    if (!f) return NULL;
    f->n_links = n_links;
    f->uses_max = uses_max > 0 ? uses_max : 1;
    f->links = fr_calloc((size_t)n_links + 1, sizeof *f->links);
    f->dirty = fr_malloc(2 * ((size_t)n_links + 1), sizeof *f->dirty);
    if (!f->links || !f->dirty || !grow(f)) {
        fr_fluid_free(f);
        return NULL;
    }
    f->reached = f->dirty + n_links + 1;
    for (int32_t l = 0; l < n_links; l++) {
        f->links[l].rate_B_per_s = rate_B_per_s[l];
        f->links[l].first = -1;
    }
    return f;
}

void fr_fluid_free(struct fr_fluid *f) {
    if (!f) return;
    free(f->links);
    free(f->dirty);
    free(f->flows);
    free(f->uses);
    free(f->ends.heap);
    free(f->ends.place);
    free(f);
}

void fr_fluid_reset(struct fr_fluid *f) {
    for (int32_t l = 0; l < f->n_links; l++) {
        f->links[l].first = -1;
        f->links[l].dirty = false;
    }
    f->ends.n = f->n_free = f->n_dirty = 0;
    for (int32_t slot = f->capacity; slot-- > 0;) f->free_slots[f->n_free++] = slot;
    f->order = 0;
    f->now_s = 0;
}

/* ---- who uses a link ------------------------------------------------------------------------- */

static struct use *uses_of(const struct fr_fluid *f, int32_t slot) {
    return &f->uses[(size_t)slot * (size_t)f->uses_max];
}

/* A link is dirty when a flow came or went on it since the rates were last computed. Rates are computed when somebody
 * asks for them, so ten flows that start at one instant cost one filling instead of ten. */
static void soil(struct fr_fluid *f, int32_t link) {
    if (f->links[link].dirty) return;
    f->links[link].dirty = true;
    f->dirty[f->n_dirty++] = link;
}

bool fr_fluid_is_free(const struct fr_fluid *f, const struct fr_link_use *uses,
                      int32_t n_uses) {
    if (f->ends.n == 0) return true;
    for (int32_t k = 0; k < n_uses; k++)
        if (f->links[uses[k].link].first >= 0) return false;
    return true;
}

/* Put the flow's uses at the head of their links' lists. On a free way no rate changes, neither its own nor another's,
 * so the links stay clean. Most messages of a well-placed plan take this path. */
static void join(struct fr_fluid *f, int32_t slot, bool free_way) {
    struct use *uses = uses_of(f, slot);
    for (int32_t k = 0; k < f->flows[slot].n_uses; k++) {
        struct link *link = &f->links[uses[k].link];
        int32_t id = slot * f->uses_max + k;
        uses[k].before = -1;
        uses[k].after = link->first;
        if (link->first >= 0) f->uses[link->first].before = id;
        link->first = id;
        if (!free_way) soil(f, uses[k].link);
    }
}

/* Take the flow's uses out of their links' lists. Lists are doubly linked, since a flow ends anywhere in the list of
 * each of its links. */
static void leave(struct fr_fluid *f, int32_t slot) {
    struct use *uses = uses_of(f, slot);
    for (int32_t k = 0; k < f->flows[slot].n_uses; k++) {
        const struct use *u = &uses[k];
        if (u->before >= 0)
            f->uses[u->before].after = u->after;
        else
            f->links[u->link].first = u->after;
        if (u->after >= 0) f->uses[u->after].before = u->before;
        if (f->links[u->link].first >= 0) soil(f, u->link); /* somebody may go faster now */
    }
}

/* ---- filling --------------------------------------------------------------------------------- */

/* Add a link to the component, once: f->mark tells those of this filling from those of earlier ones, so that nothing
 * has to be cleared between two fillings. */
static void reach(struct fr_fluid *f, int32_t link) {
    if (f->links[link].mark == f->mark) return;
    f->links[link].mark = f->mark;
    f->links[link].left_B_per_s = f->links[link].rate_B_per_s;
    f->links[link].weight = 0;
    f->reached[f->n_reached++] = link;
}

/* Collect the component: all flows on the dirty links, all links of these flows, and so on.  Flows outside share no
 * link with it, hence their rates cannot change.  f->reached grows while it is read (a breadth-first search).
 * @return how many flows */
static int32_t collect(struct fr_fluid *f) {
    int32_t n = 0;
    f->mark++;
    f->n_reached = 0;
    for (int32_t k = 0; k < f->n_dirty; k++) {
        reach(f, f->dirty[k]);
        f->links[f->dirty[k]].dirty = false;
    }
    f->n_dirty = 0;
    for (int32_t k = 0; k < f->n_reached; k++)
        for (int32_t id = f->links[f->reached[k]].first; id >= 0; id = f->uses[id].after) {
            int32_t slot = id / f->uses_max;
            f->links[f->reached[k]].weight += f->uses[id].weight;
            if (f->flows[slot].mark == f->mark) continue;
            f->flows[slot].mark = f->mark;
            f->component[n++] = slot;
            const struct use *uses = uses_of(f, slot);
            for (int32_t u = 0; u < f->flows[slot].n_uses; u++) reach(f, uses[u].link);
        }
    return n;
}

/* Give a flow its rate from now on. Its end moves only if the rate changed:
 *
 *     left = left - x (now - since)      end = now + left / x'
 *
 * A flow that keeps its rate keeps its end to the last bit. Otherwise rounding would depend on how often others came
 * and went, and two runs of one program could differ. */
static void set_rate(struct fr_fluid *f, int32_t slot, double rate_B_per_s) {
    struct flow *flow = &f->flows[slot];
    flow->mark = f->mark + 1; /* fixed; collect marks anew each time */
    if (rate_B_per_s >= flow->alone_B_per_s)
        rate_B_per_s = flow->alone_B_per_s;
    else
        flow->slowed = true;
    if (!(rate_B_per_s < flow->rate_B_per_s) && !(flow->rate_B_per_s < rate_B_per_s)) return;
    double left_B = flow->left_B - flow->rate_B_per_s * (f->now_s - flow->since_s);
    flow->left_B = left_B > 0 ? left_B : 0;
    flow->since_s = f->now_s;
    flow->rate_B_per_s = rate_B_per_s;
    fr_events_move(&f->ends, f->ends.place[slot],
                   fr_event_make(f->now_s + flow->left_B / rate_B_per_s, flow->order, slot));
}

/* The bottleneck: the link whose share for each of its flows is the least,
 *
 *     share = (c - sum of w x over fixed flows) / (sum of w over the others)
 *
 * No flow on it can go faster, and every other link can give its flows at least as much.  Links whose flows are all
 * fixed drop out of the list, so that later rounds do not look at them again. */
static int32_t bottleneck(struct fr_fluid *f, double *share_B_per_s) {
    int32_t best = -1, kept = 0;
    for (int32_t k = 0; k < f->n_reached; k++) {
        const struct link *link = &f->links[f->reached[k]];
        if (link->weight == 0) continue;
        /* Rounding must not leave a flow without any. */
        double least = 1e-12 * link->rate_B_per_s;
        double share = (link->left_B_per_s > least ? link->left_B_per_s : least) / link->weight;
        f->reached[kept++] = f->reached[k];
        if (best >= 0 && !(share < *share_B_per_s)) continue;
        best = f->reached[k];
        *share_B_per_s = share;
    }
    f->n_reached = kept;
    return best;
}

/* Fix all flows of the bottleneck at its share, and take them off the other links on their way. A link's share never
 * falls by this: flows that leave it take no more than its own share, since the bottleneck's was the least. */
static void fix_flows_of(struct fr_fluid *f, int32_t link, double share_B_per_s) {
    for (int32_t id = f->links[link].first; id >= 0; id = f->uses[id].after) {
        int32_t slot = id / f->uses_max;
        if (f->flows[slot].mark != f->mark) continue;
        const struct use *uses = uses_of(f, slot);
        for (int32_t u = 0; u < f->flows[slot].n_uses; u++) {
            f->links[uses[u].link].weight -= uses[u].weight;
            f->links[uses[u].link].left_B_per_s -= uses[u].weight * share_B_per_s;
        }
        set_rate(f, slot, share_B_per_s);
    }
}

/* Progressive filling of the component that joins the dirty links. Every round fixes at least one link's flows, so
 * there are at most as many rounds as links. One flow alone needs no round: its rate is that of its narrowest link. */
static void resolve(struct fr_fluid *f) {
    double share_B_per_s = 0;
    if (f->n_dirty == 0) return;
    int32_t n = collect(f), link;
    if (n == 1) {
        set_rate(f, f->component[0], f->flows[f->component[0]].alone_B_per_s);
    } else if (n > 0) {
        while ((link = bottleneck(f, &share_B_per_s)) >= 0)
            fix_flows_of(f, link, share_B_per_s);
    }
    f->mark++; /* past the marks of fixed flows */
}

/* ---- flows come and go ----------------------------------------------------------------------- */

double fr_fluid_alone_B_per_s(const struct fr_fluid *f, const struct fr_link_use *uses,
                              int32_t n_uses) {
    double least_B_per_s = INFINITY;
    for (int32_t k = 0; k < n_uses; k++)
        least_B_per_s =
            fr_smaller(least_B_per_s, f->links[uses[k].link].rate_B_per_s / uses[k].weight);
    return least_B_per_s;
}

bool fr_fluid_start(struct fr_fluid *f, int64_t tag, double size_B, double alone_B_per_s,
                    const struct fr_link_use *uses, int32_t n_uses) {
    if (f->n_free == 0 && !grow(f)) return false;
    int32_t slot = f->free_slots[--f->n_free];
    struct flow *flow = &f->flows[slot];
    *flow = (struct flow){.tag = tag,
                          .order = f->order++,
                          .left_B = size_B,
                          .since_s = f->now_s,
                          .alone_B_per_s = alone_B_per_s,
                          .n_uses = n_uses};
    for (int32_t k = 0; k < n_uses; k++)
        uses_of(f, slot)[k] = (struct use){.link = uses[k].link, .weight = uses[k].weight};
    /* With every link to itself it hinders nobody and needs no filling. */
    bool free_way = fr_fluid_is_free(f, uses, n_uses);
    if (free_way) flow->rate_B_per_s = alone_B_per_s;
    double end_s = free_way ? f->now_s + size_B / alone_B_per_s : INFINITY;
    fr_events_push(&f->ends, fr_event_make(end_s, flow->order, slot));
    join(f, slot, free_way);
    return true;
}

/* The heap is ordered by time and then by the order in which flows started, so that equal ends come in a fixed order. */
double fr_fluid_next_s(struct fr_fluid *f) {
    resolve(f);
    return f->ends.n ? fr_event_time_s(f->ends.heap[0]) : INFINITY;
}

void fr_fluid_advance(struct fr_fluid *f, double now_s) {
    resolve(f);
    f->now_s = now_s;
}

int64_t fr_fluid_finish(struct fr_fluid *f, bool *slowed) {
    resolve(f);
    struct fr_event end = fr_events_take(&f->ends, 0);
    int32_t slot = fr_event_what(end);
    f->now_s = fr_larger(f->now_s, fr_event_time_s(end));
    *slowed = f->flows[slot].slowed;
    leave(f, slot);
    f->free_slots[f->n_free++] = slot;
    return f->flows[slot].tag;
}

int32_t fr_fluid_rates(struct fr_fluid *f, int32_t max, int64_t *tag, double *rate_B_per_s) {
    resolve(f);
    for (int32_t k = 0; k < f->ends.n && k < max; k++) {
        const struct flow *flow = &f->flows[fr_event_what(f->ends.heap[k])];
        tag[k] = flow->tag;
        rate_B_per_s[k] = flow->rate_B_per_s;
    }
    return f->ends.n;
}
