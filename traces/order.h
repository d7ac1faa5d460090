/** @file
 *  Events of a timeline, in the order of a clock that counts nanoseconds.
 *
 *  At equal times spans end before others begin, so that a lane is never in two at once; a
 *  span of no length is one event, its beginning.
 */
#ifndef FR_TRACES_ORDER_H
#define FR_TRACES_ORDER_H

#include "models/outcome/timeline.h"

/** Nearest whole nanosecond. */
int64_t fr_trace_ns(double time_s);

struct fr_edge {
    int64_t at_ns, span;
    bool begins;
};

struct fr_order {
    const struct fr_timeline *timeline;
    int64_t *partner; /**< [count] the other span of a message, or -1 */
    uint16_t *lanes;  /**< [n_ranks][FR_STREAM_COUNT] lanes in use, 0 for none */
    struct fr_edge *endings;
    int64_t n_endings;
    int64_t begun, ended; /**< the walk: spans and endings behind it */
};

/** Prepare a walk over @p timeline, which must outlive it.  Free with fr_order_free, also on
 *  error.  @return FR_OK, FR_ERR_UNSUPPORTED beyond 285 years, FR_ERR_NOMEM. */
fr_status fr_order_make(const struct fr_timeline *timeline, struct fr_order *order,
                        struct fr_error *err);
void fr_order_free(struct fr_order *order);

/** The next event.  @return false after the last. */
bool fr_order_next(struct fr_order *order, struct fr_edge *edge);

/** Lanes of stream @p s of @p rank. */
int fr_order_lanes(const struct fr_order *order, int32_t rank, int s);

/** Has the walk passed the end of @p span, now that it is at @p now_ns? */
bool fr_order_is_over(const struct fr_order *order, int64_t span, int64_t now_ns);

#endif
