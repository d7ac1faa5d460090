/** @file
 *  Which ranks of a plan's mesh does a rank send to, and which hold the same as it?
 *
 *  tp is innermost, then pp and dp, as models/plan/plan.h has it.  The communicators are fields of struct fr_real; who
 *  holds what is in models/plan/copies.h. */
#ifndef FR_REAL_APPS_RANKS_H
#define FR_REAL_APPS_RANKS_H

#include "real/apps/app.h"

/** No communicators yet. */
void fr_ranks_none(struct fr_real *real);
/** Those of the plan's mesh over @p world.  @return FR_OK; FR_ERR_INPUT unless its size is the plan's ranks */
fr_status fr_ranks_open(struct fr_real *real, MPI_Comm world);
void fr_ranks_close(struct fr_real *real);

#endif
