/** @file
 *  Which script starts a plan? */
#ifndef FR_ANSWER_BRIEF_EMITTER_H
#define FR_ANSWER_BRIEF_EMITTER_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"

/** The word of --emit whose script starts @p out: of the runtime's framework, else "megatron" or "sbatch"; NULL: none. */
const char *fr_brief_emitter(const struct fr_job *job, const struct fr_outcome *out);

#endif
