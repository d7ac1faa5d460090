/** @file
 *  A pipeline's program under construction, shared by the files that lay it out.
 *
 *  Each rank has a list of actions in its order: passes, and with blocking messages their sends
 *  and receives.  Laying out goes round the ranks, each as far as it gets. */
#ifndef FR_SIM_LAY_OUT_H
#define FR_SIM_LAY_OUT_H

#include "sim/program.h"

/* Next action of a rank: a pass, or one side of a blocking message. */
enum fr_action_kind { FR_ACTION_PASS, FR_ACTION_SEND, FR_ACTION_RECEIVE };

struct fr_action {
    enum fr_action_kind kind;
    struct fr_slot slot; /* the pass, or the one whose result travels */
    int32_t peer;
};

struct fr_rank {
    struct fr_action *actions;
    int64_t n_actions, next;
    int32_t last_compute;    /* task, or -1 */
    int32_t last_collective; /* likewise */
    int32_t *made;           /* [chunk]: passes that added to its gradients */
};

struct fr_builder {
    const struct fr_pipeline *p;
    struct fr_program *program;
    struct fr_rank *ranks;
    int32_t *output; /* [2][virtual stage][micro]: task after which the result is there; -1 */
    bool failed;
};

/** The @p k-th action that @p rank has not done yet, or NULL. */
static inline const struct fr_action *fr_action_at(const struct fr_rank *rank, int64_t k) {
    return rank->next + k < rank->n_actions ? &rank->actions[rank->next + k] : NULL;
}

/** Append a task of a class of @p stage; @return its number, or -1 and b->failed. */
int32_t fr_builder_add(struct fr_builder *b, fr_task_kind kind, int32_t stage, int32_t rank,
                       int32_t peer, const struct fr_slot *slot);

/** The boundary that a result crosses, named by its lower stage. */
int32_t fr_builder_boundary(const struct fr_slot *slot, int32_t from, int32_t to);
/** Kind of the message that carries the result of a pass of @p from. */
fr_task_kind fr_builder_message_kind(const struct fr_builder *b, int32_t from,
                                     const struct fr_slot *slot);

/* ---- blocking messages (sim/lay_out_blocking.c) --------------------------------------------- */

/** Do the transfer that rank @p r stands at.  @return false while the other side is not there. */
bool fr_builder_transfer(struct fr_builder *b, int32_t r);

/** Every rank stands at a transfer whose other side stands elsewhere: fail, naming the ring. */
fr_status fr_builder_transfers_deadlock(const struct fr_builder *b, struct fr_error *err);

#endif
