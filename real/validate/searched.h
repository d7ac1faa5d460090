/** @file
 *  The plans that a search found best, to be run for real: what `forerun search --json` printed.
 *
 *  Each plan stands there whole, and so does the model; what the search varied of the model is beside
 *  the plan.  The programs that run them are chosen by plan.  Plans of one model, batch and
 *  rank count make a group, among which a choice is judged.
 *
 *  Plans that cannot be run here are reported with the reason and left out: those that a
 *  program refuses, and those that need more memory than this machine has. */
#ifndef FR_REAL_VALIDATE_SEARCHED_H
#define FR_REAL_VALIDATE_SEARCHED_H

#include "real/validate/validate.h"

/** Append the first @p top plans of the search's file @p path.
 *  @param model  file or preset; NULL: the search's
 *  @return FR_OK; FR_ERR_INPUT with file and place for what is no search's JSON; FR_ERR_IO; FR_ERR_NOMEM. */
fr_status fr_validate_searched(const char *path, const char *model, int64_t top,
                               struct fr_validation *validation, struct fr_error *err);

/** Refuse the scored rows of @p validation that need more than @p memory_B in all. */
void fr_validate_refuse_large(struct fr_validation *validation, double memory_B);

#endif
