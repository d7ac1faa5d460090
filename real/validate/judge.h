/** @file
 *  Do real runs confirm the predictions?
 *
 *  A prediction claims its interval, so the interval is tested.  Predictions are confirmed
 *  when
 *      the cluster file's calibration did not fail (calibrate/judge/check.h: an interval beyond a factor
 *      of two is met by nearly anything), and
 *      at least nine in ten of the rows that count meet their intervals of 90 %.
 *  Median error and floor are printed beside it and decide nothing: an error that is large in
 *  them and not in the intervals leaves fewer rows that meet. */
#ifndef FR_REAL_VALIDATE_JUDGE_H
#define FR_REAL_VALIDATE_JUDGE_H

#include "base/text.h"
#include "real/validate/validate.h"

typedef enum { FR_NOT_CONFIRMED, FR_CONFIRMED, FR_NOT_JUDGED } fr_confirmation;

/** Judge a validation that was scored with @p cluster. */
fr_confirmation fr_validate_confirmed(const struct fr_cluster *cluster,
                                      const struct fr_validation *validation);

/** Append the same as a sentence without an end, with the numbers that it rests on. */
void fr_validate_judge(const struct fr_cluster *cluster, const struct fr_validation *validation,
                       struct fr_text *text);

#endif
