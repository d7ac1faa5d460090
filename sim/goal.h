/** @file
 *  A program as a GOAL schedule, which LogGOPSim and its kin read (Hoefler, Siebert & Lumsdaine, Group
 *  Operation Assembly Language, ICPP 2009; Hoefler, Schneider & Lumsdaine, LogGOPSim, LSAP 2010).
 *
 *      num_ranks 2
 *      rank 0 {
 *      l3: calc 120000            work of 120 us: whole nanoseconds
 *      l4: send 1024b to 1 tag 1  a message; its other end is a recv with the same tag
 *      l4 requires l3
 *      }
 *
 *  Each rank of the program is one of GOAL's: a folded program's stages, once.  No operation has a `cpu` word:
 *  LogGOPSim starts an operation on another cpu at that cpu's own clock, not when its required operations are done
 *  (ATLAHS's copy waits).  So a rank has one clock, and the requirements give the order.
 *
 *  Work beside the passes, gradients in buckets, belongs to a rank of its own, numbered after all others.  The two
 *  synchronise by messages of one byte.  A wait for work of another rank is such a message too, as that of both ends
 *  of the pipeline for the embedding's gradients.  Where a rank's next work could start before a message that is
 *  ready, the message would leave late, so the work requires that message's send.  The simulator decides how long
 *  messages take: GOAL states their bytes.  Work is rounded to a nanosecond. */
#ifndef FR_SIM_GOAL_H
#define FR_SIM_GOAL_H

#include "base/text.h"
#include "sim/network.h"

/** Append @p work, whose task of class c takes class_s[c].
 *  @return FR_OK, or FR_ERR_NOMEM. */
fr_status fr_goal_write(const struct fr_network_work *work, const double *class_s,
                        struct fr_text *text, struct fr_error *err);

#endif
