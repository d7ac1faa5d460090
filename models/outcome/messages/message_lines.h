/** @file
 *  Messages in order on lines that share links (models/price/lines.h), played in order of time.
 *
 *  A message begins when it is ready and its line is free.  Alone it takes the time T that it was priced at.  First
 *  comes the latency of its way, then its n bytes at the rate r that it has alone, then what is left of T (a gather
 *  among the receivers).  The line is free again when the bytes have arrived.
 *
 *      flow = min(n, T r) / r      before = min(latency, T - flow)      after = T - before - flow
 *
 *  Where two lines at most meet on a link that each fills alone, the rate is r / 2 while any line that meets this one
 *  is busy, else r.  Otherwise rates are raised together until a link is full (progressive filling; Bertsekas &
 *  Gallager, Data Networks, 2nd ed., section 6.5.2).
 *  Two events a message, and at each the ends of the lines that meet it are worked out anew (our derivation).
 *
 *  Differences of rounding can grow: a message that begins later beside another ends later by twice as much.  So
 *  bytes are counted as the engine counts them (sim/fluid.h), and ends come before beginnings of one time. */
#ifndef FR_MODELS_OUTCOME_MESSAGES_MESSAGE_LINES_H
#define FR_MODELS_OUTCOME_MESSAGES_MESSAGE_LINES_H

#include "models/price/lines.h"

struct fr_message_lines;

/** A message's size on its line, and its time alone with the parts before, during and after its bytes. */
struct fr_message_parts {
    double size_B, alone_s, before_s, flow_s, after_s;
};

/** Split the time of a message of @p size_B that takes @p alone_s alone. */
struct fr_message_parts fr_message_split(const struct fr_path *path, double size_B,
                                         double alone_s);

/** Empty lines, for messages 0 .. n_messages-1.  @return NULL without memory.  Free with fr_message_lines_free. */
struct fr_message_lines *fr_message_lines_make(const struct fr_pair_lines *lines,
                                               size_t n_messages);
void fr_message_lines_free(struct fr_message_lines *run);

/** Message @p message is ready at @p ready_s, which is not before what fr_message_lines_next said last, nor before
 *  the message that joined this line last.
 *  @param parts  size_B > 0; kept by address until it has arrived */
void fr_message_lines_send(struct fr_message_lines *run, int32_t line, size_t message,
                           double ready_s, const struct fr_message_parts *parts);

/** The next message whose bytes arrive, at which stage, and when it is over [s].  @return false: none is under way */
bool fr_message_lines_next(struct fr_message_lines *run, size_t *message, int32_t *to,
                           double *end_s);

#endif
