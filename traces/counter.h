/** @file
 *  Power and memory of every rank over time, as the steps a counter takes.
 *
 *      P(t) = busy           while a span computes,
 *             communicating  while one communicates that its rank waits for (fr_span),
 *             idle           otherwise: also while others compute for it, and while an
 *                            asynchronous message is under way
 *
 *  A step is listed only where the value changes, and once at an instant.
 */
#ifndef FR_TRACES_COUNTER_H
#define FR_TRACES_COUNTER_H

#include "traces/format.h"
#include "traces/order.h"

typedef enum { FR_COUNTER_POWER_W, FR_COUNTER_MEMORY_B } fr_counter;

struct fr_step {
    int64_t at_ns;
    double value;
    int64_t number; /**< equal times of a counter keep the order they were listed in */
    int32_t rank;
    fr_counter counter;
};

struct fr_steps {
    struct fr_step *items; /**< by time, then rank, then counter */
    int64_t count;
};

/** Make the steps of what @p o knows; of the timeline of @p order.  Free items, also on
 *  error.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_steps_make(struct fr_order *order, const struct fr_trace_options *o,
                        struct fr_steps *steps, struct fr_error *err);

#endif
