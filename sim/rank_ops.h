/** @file
 *  A program as each of its ranks sees it, for formats that have ranks with operations of their own.
 *
 *  A task of work is one operation of its rank.  For a message the sender has a SEND and the receiver a RECV with the
 *  same tag.  For an exchange each side has both.  A wait for work of another rank, as that of both ends of the
 *  pipeline for the embedding's gradients, is a message of one byte, a word.  Operations of a rank are distinguished
 *  by their labels, which are 1 and more. */
#ifndef FR_SIM_RANK_OPS_H
#define FR_SIM_RANK_OPS_H

#include "sim/network.h"

typedef enum {
    FR_RANK_SENDS,
    FR_RANK_RECEIVES,
    FR_RANK_WORKS,
    FR_RANK_SENDS_WORD,
    FR_RANK_RECEIVES_WORD
} fr_rank_op_kind;

struct fr_rank_op {
    fr_rank_op_kind kind;
    int32_t rank, peer; /**< peer: other end of a message, else -1 */
    int64_t label;
    int64_t tag;    /**< of a message, from 1; else 0 */
    int64_t size_B; /**< of a message, at least 1; else 0 */
    int64_t task;   /**< of the program; of a word, whose end it tells */
};

/** Called for every operation and for every dependency, in the order of the program.  `later` and `before` are labels
 *  of @p rank, and the operation of `later` was passed earlier. */
struct fr_rank_ops_to {
    void *context;
    void (*op)(void *context, const struct fr_rank_op *op);
    void (*need)(void *context, int32_t rank, int64_t later, int64_t before);
};

void fr_rank_ops(const struct fr_network_work *work, const struct fr_rank_ops_to *to);

/** Does a task go from rank to rank?  A message without bytes is work of no time's length. */
bool fr_rank_ops_is_message(const struct fr_program *program, int64_t task);

#endif
