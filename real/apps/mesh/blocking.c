#include "real/apps/mesh/blocking.h"

#include "base/alloc.h"

struct fr_slot *fr_blocking_orders(const struct fr_schedule *schedule,
                                   const struct fr_schedule_args *args) {
    int64_t n = fr_schedule_slots(schedule, args);
    struct fr_slot *slots = fr_calloc((size_t)(args->stages * n), sizeof *slots);
    for (int32_t i = 0; slots && i < args->stages; i++) schedule->order(args, i, slots + i * n);
    return slots;
}

int fr_blocking_source(int stages, int i, const struct fr_slot *slot) {
    if (slot->kind == FR_SLOT_FORWARD) return i - 1;
    return slot->kind == FR_SLOT_BACKWARD && i + 1 < stages ? i + 1 : -1;
}

int fr_blocking_target(int stages, int i, const struct fr_slot *slot) {
    if (slot->kind == FR_SLOT_BACKWARD) return i - 1;
    return slot->kind == FR_SLOT_FORWARD && i + 1 < stages ? i + 1 : -1;
}

static bool same(const struct fr_slot *a, const struct fr_slot *b) {
    return a->kind == b->kind && a->micro == b->micro;
}

bool fr_blocking_pairs(int stages, const struct fr_slot *slots, int64_t n_slots, int i,
                       int64_t at) {
    const struct fr_slot *own = slots + i * n_slots;
    int to = fr_blocking_target(stages, i, &own[at]);
    if (to < 0 || at + 1 == n_slots || fr_blocking_source(stages, i, &own[at + 1]) != to)
        return false;
    const struct fr_slot *theirs = slots + to * n_slots;
    for (int64_t k = 0; k + 1 < n_slots; k++)
        if (same(&theirs[k], &own[at + 1])) return same(&theirs[k + 1], &own[at]);
    return false;
}

/* ---- who waits for whom -------------------------------------------------------------------------- */

struct orders {
    int stages;
    const struct fr_slot *slots;
    int64_t n_slots;
    struct fr_blocking_state *at;
};

static const struct fr_slot *slot_of(const struct orders *o, int i, int64_t slot) {
    return &o->slots[i * o->n_slots + slot];
}

/* Take what needs no other stage, and go on to the next slot where all of one is done. */
static void settle(const struct orders *o, int i) {
    struct fr_blocking_state *s = &o->at[i];
    while (s->slot < o->n_slots) {
        const struct fr_slot *slot = slot_of(o, i, s->slot);
        if (fr_blocking_source(o->stages, i, slot) < 0) s->read = true;
        if (s->read && fr_blocking_target(o->stages, i, slot) < 0) s->sent = true;
        if (!s->read || !s->sent) return;
        *s = (struct fr_blocking_state){.slot = s->slot + 1, .read = s->early};
    }
}

/* The slot whose message stage @p i can receive now: its own, or the next where it sends at once.  @return -1: none */
static int64_t receives(const struct orders *o, int i, bool *next) {
    const struct fr_blocking_state *s = &o->at[i];
    *next = false;
    if (s->slot >= o->n_slots) return -1;
    if (!s->read) return s->slot;
    *next = !s->early && fr_blocking_pairs(o->stages, o->slots, o->n_slots, i, s->slot);
    return *next ? s->slot + 1 : -1;
}

/* Move the result that stage @p i stands at to where it is read, if that stage stands there, too. */
static bool transfer(const struct orders *o, int i) {
    struct fr_blocking_state *s = &o->at[i];
    bool next;
    if (s->slot >= o->n_slots || !s->read || s->sent) return false;
    const struct fr_slot *sent = slot_of(o, i, s->slot);
    int to = fr_blocking_target(o->stages, i, sent);
    int64_t at = to < 0 ? -1 : receives(o, to, &next);
    if (at < 0) return false; /* nobody reads it, or not yet */
    const struct fr_slot *read = slot_of(o, to, at);
    if (read->kind != sent->kind || read->micro != sent->micro ||
        fr_blocking_source(o->stages, to, read) != i)
        return false;
    s->sent = true;
    if (next)
        o->at[to].early = true;
    else
        o->at[to].read = true;
    return true;
}

int fr_blocking_deadlock(int stages, const struct fr_slot *slots, int64_t n_slots,
                         struct fr_blocking_state *at) {
    const struct orders o = {stages, slots, n_slots, at};
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < stages; i++) settle(&o, i);
        for (int i = 0; i < stages; i++) moved = transfer(&o, i) || moved;
    }
    for (int i = 0; i < stages; i++)
        if (at[i].slot < n_slots) return i;
    return -1;
}
