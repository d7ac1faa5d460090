/** @file
 *  Messages in order on lines (models/price/lines.h), each at the rate that it has alone: would any have shared a link?
 *
 *  A message begins when it is ready and the bytes before it on its line have arrived.  Nothing else holds it up.  So
 *  its arrival follows at once from when it is ready, without events in order of time.
 *
 *      begin = max(ready, free)    start = begin + before    free = start + flow    arrival = begin + T
 *
 *  Sharing a link only adds to that.  So a pipeline whose messages go this way takes as long as the shared one, or
 *  less.  Where no two lines of one narrow link flow at the same time, no message was ever slowed, and both are the
 *  same to the last bit (our derivation).  Two flows that touch do not meet: ends come before beginnings of one time. */
#ifndef FR_MODELS_OUTCOME_MESSAGES_UNSHARED_H
#define FR_MODELS_OUTCOME_MESSAGES_UNSHARED_H

#include "base/extremes.h"
#include "models/outcome/messages/message_lines.h"

/** When the bytes of a message are under way. */
struct fr_message_flow {
    double start_s, end_s;
};

struct fr_unshared_line {
    double free_s;
    double longest_s; /**< of a message's latency and flow */
    int64_t n;
    struct fr_message_flow *flow; /**< [n], in order of time */
    bool waited;                  /**< did a message wait for the one before? */
};

struct fr_unshared {
    const struct fr_pair_lines *lines;
    struct fr_unshared_line *line; /**< [lines->n] */
    struct fr_message_flow *flows;
};

/** Empty lines for @p messages on each.  @return false without memory.  Free with fr_unshared_free, also then. */
bool fr_unshared_make(const struct fr_pair_lines *lines, size_t messages,
                      struct fr_unshared *unshared);
void fr_unshared_free(struct fr_unshared *unshared);

/** A message joins its line, ready no sooner than those before it.  @return when it is over [s] */
static inline double fr_unshared_send(struct fr_unshared_line *line, double ready_s,
                                      const struct fr_message_parts *parts) {
    double begin_s = fr_larger(line->free_s, ready_s),
           start_s = begin_s + fr_larger(0, parts->before_s), end_s = start_s + parts->flow_s;
    line->waited = line->waited || line->free_s > ready_s;
    line->longest_s = fr_larger(line->longest_s, end_s - begin_s);
    line->free_s = end_s;
    line->flow[line->n++] = (struct fr_message_flow){start_s, end_s};
    return begin_s + parts->alone_s;
}

/** Do two lines flow at the same time on a link that is too narrow for both?
 *  @param apart_s  apart_s[P]: the messages that a stage sends are ready so far from one another, or farther */
bool fr_unshared_meet(const struct fr_unshared *unshared, const double *apart_s);

#endif
