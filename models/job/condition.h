/** @file
 *  When is a fact of a runtime taken?  Conditions on a job and a plan of it, by name: what "when" of a runtime file says.
 *
 *  To add one: a row of FR_CONDITION_LIST and its function in condition.c. */
#ifndef FR_MODELS_JOB_CONDITION_H
#define FR_MODELS_JOB_CONDITION_H

#include "models/job/job.h"

/** Names in order, then NULL; 0 is "always". */
extern const char *const fr_condition_names[];
/** The same in words that a table of facts shows. */
const char *fr_condition_words(int condition);
/** Does it hold of @p plan, a plan of @p job? */
bool fr_condition_holds(int condition, const struct fr_job *job, const struct fr_plan *plan);

#endif
