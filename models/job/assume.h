/** @file
 *  What is assumed of a plan where nobody says otherwise?
 *
 *  fr_plan_default is how transformers were trained in 2019: scores in memory, gradients reduced after the
 *  last pass, norms on every rank.  A model whose file says `"defaults": "modern"` (a Hugging Face config
 *  does unless told otherwise) starts from what its frameworks have done since:
 *
 *      attention          flash
 *      sequence_parallel  true where tp > 1 (Korthikanti et al. 2022)
 *      overlap            gradient where replicas reduce, but with zero 3, whose exchanges are beside the
 *                         passes already, with compression, and where launches block
 *      gradients          of 16 bits, unless the model says: whatever the plan, since plans of one model share it
 *
 *  What was taken so is kept, to be printed beside the answer. */
#ifndef FR_MODELS_JOB_ASSUME_H
#define FR_MODELS_JOB_ASSUME_H

#include "models/job/job.h"

/** Fill the plan of @p job, as it stands. */
void fr_job_assume(struct fr_job *job);

/** The same for a search, whose plans have degrees of their own: keys go back to their defaults in plans
 *  that have nothing to read them. */
void fr_job_assume_any(struct fr_job *job);

/** "attention flash, overlap gradient, ..."; "" where nothing was. @return @p out. */
const char *fr_job_assumed(const struct fr_job *job, char *out, size_t capacity);

#endif
