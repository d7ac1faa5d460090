/** @file
 *  Published runs as somebody knows them who knows little: a mixture of experts, its machine and its mesh.
 *
 *  Readers of published files state what recipes set beside their tables: modules that are computed again, graphs,
 *  copies of tokens, layers of stages.  A user who asks about a mesh does not.  A bare run keeps the model, the
 *  machine, the ranks, the degrees, the batches, the sequence and the precision.  All else is assumed. */
#ifndef FR_STUDIES_TRAINING_BARE_H
#define FR_STUDIES_TRAINING_BARE_H

#include "trust/runs/runs.h"

/** Replace @p runs by the bare runs of those with experts.
 *  @param how  "run": as they are, not bare; "release": with the release that each names; "date": with the date of that
 *              release alone (models/job/release.h); "newest": with neither
 *  @return FR_OK; FR_ERR_INPUT of a row that says too little; FR_ERR_NOMEM. */
fr_status fr_bare_runs(const char *how, struct fr_runs *runs, struct fr_error *err);

#endif
