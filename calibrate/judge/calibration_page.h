/** @file
 *  The page of a calibration: its verdict, every point, figure and residual. */
#ifndef FR_CALIBRATE_JUDGE_CALIBRATION_PAGE_H
#define FR_CALIBRATE_JUDGE_CALIBRATION_PAGE_H

#include "answer/page/page.h"
#include "calibrate/judge/check.h"

/** Append the whole page of @p root, a document "forerun/fit/1". */
void fr_calibration_page(struct fr_page *page, const struct fr_json *root,
                         const struct fr_checks *checks);

#endif
