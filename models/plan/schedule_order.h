/** @file
 *  An order of passes written out: by the user in a file, or by a schedule of the table.
 *
 *  The file lists, for each stage from stage 0, its passes in the order they run:
 *
 *      { "name": "eager", "source": "...",
 *        "stages": ["F0 F1 B0 F2 B1 B2", "F0 B0 F1 B1 F2 B2"] }
 *
 *  F is a forward, B a backward pass (where W stands beside it: its input gradients), W weight
 *  gradients; the number is the micro-batch; `F2.1` is micro-batch 2 of model chunk 1.  A stage
 *  may also be a list, ["F0", "F1", ...], and the whole may be the array alone.  Each stage
 *  runs every pass of every micro-batch and chunk once; W everywhere or nowhere.
 */
#ifndef FR_MODELS_PLAN_SCHEDULE_ORDER_H
#define FR_MODELS_PLAN_SCHEDULE_ORDER_H

#include "base/json.h"
#include "models/plan/schedule.h"

/** An order of passes as the user wrote it. */
struct fr_schedule_order {
    int32_t stages, micro_batches, chunks;
    bool splits_backward;
    int64_t n_slots;       /**< of each stage */
    struct fr_slot *slots; /**< [stages][n_slots] */
};

/** Read @p node: the array, or the object with "stages".
 *  @return FR_OK; FR_ERR_INPUT for what is no order, and for one that deadlocks, naming the
 *          cycle; FR_ERR_NOMEM.  Free with fr_schedule_order_free, also on error. */
fr_status fr_schedule_order_read(const struct fr_json *node, struct fr_schedule_order *order,
                                 struct fr_error *err);
/** The same from a file. */
fr_status fr_schedule_order_read_file(const char *path, struct fr_schedule_order *order,
                                      struct fr_error *err);
void fr_schedule_order_free(struct fr_schedule_order *order);

/** The pass whose result @p slot of stage @p i reads: @p needed, on stage @p on.
 *  @return false for the first forward passes, which read the samples. */
bool fr_slot_needs(const struct fr_schedule_args *a, int32_t i, const struct fr_slot *slot,
                   struct fr_slot *needed, int32_t *on);

/** The stages stand at slot next[i] of slots[stages][n_slots], and none can go on: fail with
 *  the cycle of who waits for whom. */
fr_status fr_schedule_deadlock(const struct fr_schedule_args *a, const struct fr_slot *slots,
                               int64_t n_slots, const int64_t *next, const char *where,
                               struct fr_error *err);

#endif
