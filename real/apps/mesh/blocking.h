/** @file
 *  Blocking messages between stages (`p2p` duplex): sender and receiver stand at a message until it is over.
 *
 *  Two sends that directly meet, each followed by a receive from the other stage, go at once (Megatron-LM's
 *  send_forward_recv_backward), as sim/lay_out_blocking.c has it.  A pass reads one message before it, and sends one
 *  after it. */
#ifndef FR_REAL_APPS_MESH_BLOCKING_H
#define FR_REAL_APPS_MESH_BLOCKING_H

#include "models/plan/schedule.h"

/** The slots of all stages in their orders, [stages fr_schedule_slots]; NULL: memory is exhausted.  Free with free. */
struct fr_slot *fr_blocking_orders(const struct fr_schedule *schedule,
                                   const struct fr_schedule_args *args);
/** The stage whose result a slot of stage @p i reads, and the one that reads its own; -1: none.  Stages have one chunk. */
int fr_blocking_source(int stages, int i, const struct fr_slot *slot);
int fr_blocking_target(int stages, int i, const struct fr_slot *slot);
/** Does what slot @p at of stage @p i sends go at once with what its next slot reads?  Both sides stand at both then.
 *  @param slots  [stages n_slots] */
bool fr_blocking_pairs(int stages, const struct fr_slot *slots, int64_t n_slots, int i,
                       int64_t at);

/** Where a stage is. */
struct fr_blocking_state {
    int64_t slot;
    bool read, sent,
        early; /**< its message is there; its result is gone; the next one's message is there */
};
/** Find stages that wait for each other for ever in the orders @p slots [stages n_slots].
 *  @param at  scratch memory [stages], zero.  @return the lowest stage that does not end, or -1 */
int fr_blocking_deadlock(int stages, const struct fr_slot *slots, int64_t n_slots,
                         struct fr_blocking_state *at);

#endif
