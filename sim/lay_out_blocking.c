/* Blocking messages: both sides stand at a transfer before it begins. */
#include "base/text.h"
#include "sim/lay_out.h"

static bool same_transfer(const struct fr_action *send, const struct fr_action *receive) {
    return send->kind == FR_ACTION_SEND && receive->kind == FR_ACTION_RECEIVE &&
           send->slot.kind == receive->slot.kind && send->slot.micro == receive->slot.micro &&
           send->slot.chunk == receive->slot.chunk;
}

static void join(struct fr_builder *b, fr_task_kind kind, int32_t r, int32_t peer,
                 const struct fr_slot *slot) {
    struct fr_rank *own = &b->ranks[r], *theirs = &b->ranks[peer];
    int32_t task = fr_builder_add(b, kind, fr_builder_boundary(slot, r, peer), r, peer, slot);
    fr_program_wait(b->program, task, own->last_compute);
    fr_program_wait(b->program, task, theirs->last_compute);
    own->last_compute = theirs->last_compute = task;
}

/* Both sides stand at this transfer: do it.  If each side's next action is the other direction
 * of the same pair, both go at once. */
bool fr_builder_transfer(struct fr_builder *b, int32_t r) {
    struct fr_rank *own = &b->ranks[r];
    const struct fr_action *first = fr_action_at(own, 0);
    struct fr_rank *theirs = &b->ranks[first->peer];
    const struct fr_action *other = fr_action_at(theirs, 0);
    const struct fr_action *second = fr_action_at(own, 1),
                           *other_second = fr_action_at(theirs, 1);
    if (!other) return false;
    if (same_transfer(first, other) || same_transfer(other, first)) {
        bool sends = first->kind == FR_ACTION_SEND;
        int32_t from = sends ? r : first->peer, to = sends ? first->peer : r;
        join(b, fr_builder_message_kind(b, from, &first->slot), from, to, &first->slot);
        own->next++;
        theirs->next++;
        return true;
    }
    bool crosses = second && other_second && second->peer == first->peer &&
                   other_second->peer == r && first->kind == FR_ACTION_SEND &&
                   second->kind == FR_ACTION_RECEIVE && other->kind == FR_ACTION_SEND &&
                   other_second->kind == FR_ACTION_RECEIVE &&
                   same_transfer(first, other_second) && same_transfer(other, second);
    if (!crosses) return false;
    join(b, FR_TASK_EXCHANGE, r, first->peer, &first->slot);
    own->next += 2;
    theirs->next += 2;
    return true;
}

/* Every rank stands at a transfer whose other side stands elsewhere: follow the peers round. */
fr_status fr_builder_transfers_deadlock(const struct fr_builder *b, struct fr_error *err) {
    struct fr_text text = {0};
    int32_t stages = b->p->args.stages, at = 0, shown = 0;
    while (at < stages - 1 && !fr_action_at(&b->ranks[at], 0)) at++;
    for (int32_t step = 0; step < stages; step++) at = fr_action_at(&b->ranks[at], 0)->peer;
    int32_t start = at;
    for (int32_t step = 0; step < stages; step++) { /* told from its lowest stage */
        at = fr_action_at(&b->ranks[at], 0)->peer;
        if (at < start) start = at;
    }
    at = start;
    do {
        const struct fr_action *a = fr_action_at(&b->ranks[at], 0);
        if (++shown <= 4)
            fr_text_addf(&text, "%sstage %d blocks to %s stage %d the %s of micro-batch %d",
                         shown > 1 ? ", " : "", at,
                         a->kind == FR_ACTION_SEND ? "send" : "receive from", a->peer,
                         a->slot.kind == FR_SLOT_FORWARD ? "activation" : "gradient",
                         a->slot.micro);
        at = a->peer;
    } while (at != start);
    if (shown > 4) fr_text_addf(&text, ", and so on round %d stages", shown);
    fr_status status = fr_fail(err, FR_ERR_INPUT, "plan#/schedule",
                               "the stages wait for each other: %s", fr_text_get(&text));
    fr_text_free(&text);
    return status;
}
