/** @file
 *  The page of a calibration: its verdict, every point, figure and residual. */
#ifndef FR_CALIBRATE_JUDGE_CALIBRATION_PAGE_H
#define FR_CALIBRATE_JUDGE_CALIBRATION_PAGE_H

#include "calibrate/judge/check.h"

struct fr_page_gaps;

/** Append one self-contained HTML page: no script, nothing fetched, figures inside as SVG; what it lacks
 *  of them is added to @p gaps. */
void fr_calibration_html(const struct fr_json *root, const struct fr_checks *checks,
                         struct fr_text *html, struct fr_page_gaps *gaps);

#endif
