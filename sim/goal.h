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
 *  LogGOPSim starts one on another cpu at that cpu's own clock, not when what it requires is done (ATLAHS's copy of it
 *  does not), so a rank has one clock and the order is that of what is required.  Work that goes beside the passes,
 *  gradients in buckets, is of a rank of its own, behind all others, and the two tell each other by messages of one
 *  byte; so is a wait for work of another rank, as that of both ends of the pipeline for the embedding's gradients.
 *  Where a rank's next work could be taken before a message that is ready, which would leave late, it requires that
 *  message's send.  How long messages take is the simulator's: GOAL says their bytes.  Work is rounded to a nanosecond. */
#ifndef FR_SIM_GOAL_H
#define FR_SIM_GOAL_H

#include "base/text.h"
#include "sim/network.h"

/** Append @p work, whose task of class c takes class_s[c].
 *  @return FR_OK, or FR_ERR_NOMEM. */
fr_status fr_goal_write(const struct fr_network_work *work, const double *class_s,
                        struct fr_text *text, struct fr_error *err);

#endif
