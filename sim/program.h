/** @file
 *  A plan laid out as tasks: what is done, by whom, after what.
 *
 *  A task belongs to a class (the forward pass of stage 3, the message between stages 1 and 2);
 *  tasks of a class take the same work, so a network prices classes, not tasks.  The program
 *  itself holds no durations.  Tasks are numbered so that every task comes after those it
 *  waits for: the order in which a stream takes its tasks is among those waits.
 *
 *  Point-to-point `async`: a message goes from the sender's send stream to the receiver's
 *  receive stream and holds up nobody but its reader; whether messages of one rank hold up each
 *  other is the network's affair.  `duplex`: sender and receiver block
 *  until it is over; a forward send that directly meets a backward receive of the same pair
 *  (Megatron's send_forward_recv_backward) is one exchange.
 */
#ifndef FR_SIM_PROGRAM_H
#define FR_SIM_PROGRAM_H

#include "models/outcome/timeline.h"
#include "models/price/pipeline.h"

enum { FR_TASK_WAITS_MAX = 3 };

struct fr_task_class {
    fr_task_kind kind;
    int32_t stage; /**< whose work it is; of a message, the lower of the two stages */
    bool part;     /**< one of the stage's `buckets` equal parts: of a pass, or of gradients */
    uint8_t op;    /**< of a layer's collective: fr_op, and over which ranks, fr_axis */
    uint8_t axis;
    int16_t clock; /**< of a pass at a clock of its own: which, from 1 for the lowest; else 0 */
    bool
        apart; /**< of a collective's message: other stages' collectives are played too, so which of them share a link is
                     seen, not assumed */
    bool unseen; /**< time that passes beside a rank's work, or joins tasks: nobody's work */
    float latency_s; /**< of a message, the latency that its time holds; 0: its route's */
    float
        times; /**< of a collective's message: equal ones that it stands for, with the latency of each; 0: one */
};

struct fr_task {
    int32_t class_id;
    int32_t rank;  /**< whose stream; of a message the sender's */
    int32_t peer;  /**< receiver of a message, other side of an exchange; -1 */
    int32_t micro; /**< micro-batch, or -1 */
    int32_t after[FR_TASK_WAITS_MAX]; /**< tasks that must be over, or -1 */
    int16_t chunk;
};

struct fr_program {
    int32_t n_ranks;
    int32_t n_classes;
    struct fr_task_class *classes;
    int64_t n_tasks, capacity;
    struct fr_task *tasks;
};

/** Lay out the pipeline: one rank a stage (identical data- and tensor-parallel replicas are
 *  folded into one).
 *  @return FR_OK; FR_ERR_INPUT when the order deadlocks, naming who waits for what;
 *          FR_ERR_NOMEM.  Free with fr_program_free, also on error. */
fr_status fr_program_make(const struct fr_pipeline *pipeline, struct fr_program *program,
                          struct fr_error *err);
void fr_program_free(struct fr_program *program);

/* For those who lay out programs (sim/lay_out.c, sim/layers.c). */

/** Append @p task, which waits for nothing yet.
 *  @return its number, or -1 when memory is exhausted. */
int32_t fr_program_add(struct fr_program *program, const struct fr_task *task);
/** @p task waits for @p before; nothing happens when either is -1, or when it does already.  A
 *  task waits for FR_TASK_WAITS_MAX others at most: more are the caller's mistake. */
void fr_program_wait(struct fr_program *program, int32_t task, int32_t before);

/** Class of a kind of work at a stage, whole or in parts. */
int32_t fr_program_class(const struct fr_program *program, fr_task_kind kind, int32_t stage,
                         bool part);

#endif
