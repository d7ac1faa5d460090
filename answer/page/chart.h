/** @file
 *  Live figures: what does Chart.js draw of a result?
 *
 *  One row a figure in charts[] of answer/page/chart.c: points of rows (x, y, colour, what hover shows), points of
 *  plans, or the parts of plans as bars.  The figure's data go into the page as JSON; page.js draws them. */
#ifndef FR_ANSWER_PAGE_CHART_H
#define FR_ANSWER_PAGE_CHART_H

#include "answer/page/page.h"

/** Every figure of a result of @p kind: live, and beneath it as a picture, where there is one. */
void fr_page_charts(struct fr_page *page, const struct fr_json *root, const char *kind);

#endif
