/** @file
 *  A folded program with all its replicas, to check that the fold changes nothing and for engines
 *  that cannot fold. */
#ifndef FR_SIM_UNFOLD_H
#define FR_SIM_UNFOLD_H

#include "sim/network.h"

/** Every task tp x dp times.  Replica (t, d) of rank r becomes rank (d n_ranks + r) tp + t; classes
 *  stay those of the folded program.  Task i becomes tasks i tp dp .. (i+1) tp dp - 1.
 *  @return FR_OK or FR_ERR_NOMEM, also when there would be more than 2^31 tasks.  Free with
 *  fr_program_free, also on error. */
fr_status fr_program_unfold(const struct fr_program *folded,
                            const struct fr_network_rank_map *rank_map,
                            struct fr_program *program, struct fr_error *err);

#endif
