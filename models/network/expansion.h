/** @file
 *  How an algorithm of models/network/collective/ writes its messages down.
 *
 *  fr_collective_expand opens and closes; a row sends round by round.  A message follows everything that its source received in earlier
 *  rounds and has sent, and everything that its destination received.  This is the one-port rule of fr_message_list.
 *  `after` states it message by message, so an engine need not know it.  Within a round a rank sends and receives at
 *  once.
 *
 *  Memory running out is noticed once, at the end; until then sends do nothing.
 */
#ifndef FR_MODELS_NETWORK_EXPANSION_H
#define FR_MODELS_NETWORK_EXPANSION_H

#include "models/network/collective.h"

struct fr_expansion {
    struct fr_message_list *list;
    int64_t n_ranks, ranks_per_node;
    bool around;       /**< messages go round the ring of all ranks */
    bool by_node;      /**< price a message by where it goes; otherwise as a flat algorithm */
    bool failed;       /**< out of memory, or more messages than a list can hold */
    int32_t *sent;     /**< last message of each rank, or -1 */
    int32_t *received; /**< last message to each rank, or -1 */
    int32_t *heard;    /**< the same as of the end of the previous round */
};

void fr_expansion_send(struct fr_expansion *e, int64_t src, int64_t dst, double size_B);
/** Begin a round: messages sent from here on may carry data that arrived so far. */
void fr_expansion_next_round(struct fr_expansion *e);

/** All ranks cut into rings of `members` ranks that lie `stride` apart.  {p, 1} is everyone,
 *  {r, 1} the nodes, {p / r, r} the ranks of equal place in all nodes. */
struct fr_peers {
    int64_t members, stride;
};

/** One round: every rank sends to the member @p shift places further, 0 < shift < members. */
void fr_expand_shift(struct fr_expansion *e, struct fr_peers peers, int64_t shift,
                     double size_B);
/** One round: every rank exchanges with rank ^ @p distance; p a power of two. */
void fr_expand_exchange(struct fr_expansion *e, int64_t distance, double size_B);

#endif
