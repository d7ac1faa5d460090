/** @file
 *  Which release does a user run who names none?
 *
 *  The newest preset that suits the devices.  Where the user states a date instead (`runtime.date`), the release is the
 *  newest of the same line that was out by then.  A line is the newest preset, the older one that it comes from (`from`),
 *  and so on.  A date of a year or a month means all of it.  Where the whole line is newer, the oldest of the line is
 *  taken, and its facts have drifted (drift.h). */
#ifndef FR_MODELS_JOB_RELEASE_H
#define FR_MODELS_JOB_RELEASE_H

#include <stdbool.h>

/** The preset for a model of today or of 2019 and devices of @p generation ("": not stated).
 *  @param until      2026, 2026-06 or 2026-06-30; NULL or "": any date
 *  @param[out] name  of FR_RUNTIME_NAME bytes */
void fr_release_newest(bool modern, const char *generation, const char *until, char *name);

/** The runtime that the last `runtime=NAME` of @p sets names; NULL: none does. */
const char *fr_release_name_set(const char *const *sets, int n_sets);
/** The date that the last `runtime.date=DATE` of @p sets states; NULL: none does. */
const char *fr_release_date_set(const char *const *sets, int n_sets);

#endif
