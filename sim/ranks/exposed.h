/** @file
 *  How long does a rank communicate while it computes nothing, where collectives are messages?
 *
 *  Played as operations, collectives have times of their own (sim/record.h).  As messages they have not: a rank is in one as
 *  long as a message of it comes or goes, and that counts where the rank does no work beside it. */
#ifndef FR_SIM_RANKS_EXPOSED_H
#define FR_SIM_RANKS_EXPOSED_H

#include "sim/record.h"

/** Add such times to comm_s of use[n_ranks].  @return FR_OK or FR_ERR_NOMEM */
fr_status fr_exposed_add(const struct fr_program *program, const double *start_s,
                         const double *end_s, struct fr_stage_use *use, struct fr_error *err);

#endif
