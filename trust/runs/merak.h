/** @file
 *  What Perseus' and Zeus' trainings of Merak have in common. */
#ifndef FR_TRUST_RUNS_MERAK_H
#define FR_TRUST_RUNS_MERAK_H

#include "trust/runs/runs.h"

/** Set model and plan of a row whose columns call the model @p model and its stages @p partition.
 *  @return FR_RUN_USABLE, or why not. */
fr_run_skip fr_run_merak(const struct fr_run_source *in, const char *model,
                         const char *partition, const char *micro_batch,
                         struct fr_run_row *out);

#endif
