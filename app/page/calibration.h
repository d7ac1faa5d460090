/** @file
 *  What to think of a calibration: checks with a verdict and a reason, and the page that shows
 *  them with every point, figure and residual.  Both read the document "forerun/fit/1" of
 *  `forerun fit --json`.
 *
 *  The rule.  A prediction's interval holds 90 % of an error whose logarithm has the spread
 *      s = hypot(max(0.1, x), v),   x = ln(1 + h) / 0.6745        (calibrate/runs/interval.h)
 *  h the median error on what was held out of the fit, v how the machine's time for the same work
 *  varied, 0.1 assumed of the model.  A calibration
 *      FAILs   where exp(1.645 s) > 2: every prediction's interval reaches beyond twice the time, or
 *              half of it; or where ranks shared cores, or what was not measured had to be assumed
 *      WARNs   where hypot(x, v) > 0.1, that is, where it widens intervals by more than the model
 *              itself does; and for each part of which the same is true: interruptions, speed, the
 *              medians of points, an operation, products of one type.  Those are in h and v
 *              already, or in predictions of some plans alone, so that none fails by itself. */
#ifndef FR_APP_PAGE_CALIBRATION_H
#define FR_APP_PAGE_CALIBRATION_H

#include "base/json.h"
#include "calibrate/fit/fit.h"

typedef enum { FR_VERDICT_PASS, FR_VERDICT_WARN, FR_VERDICT_FAIL } fr_verdict;
/** "PASS", "WARN", "FAIL". */
extern const char *const fr_verdict_names[];

struct fr_check {
    fr_verdict verdict;
    char subject[64];
    char reason[320];
};
enum { FR_CHECKS_MAX = 64 };
struct fr_checks {
    struct fr_check item[FR_CHECKS_MAX];
    int count;
};

/** Judge a fit.  @return FR_OK, or FR_ERR_INPUT when @p root is no "forerun/fit/1". */
fr_status fr_calibration_check(const struct fr_json *root, struct fr_checks *checks,
                               struct fr_error *err);

/** Are the points' numbers there, and possible?  @return FR_OK or FR_ERR_INPUT with the place. */
fr_status fr_calibration_points_check(const struct fr_json *root, struct fr_error *err);
/** The worst verdict. */
fr_verdict fr_calibration_verdict(const struct fr_checks *checks);
/** That verdict with the reasons of all checks that did not pass, the worst first. */
void fr_calibration_judge(const struct fr_checks *checks, struct fr_fit_verdict *judged);

/** Append one self-contained HTML page: no script, nothing fetched, figures inside as SVG. */
void fr_calibration_html(const struct fr_json *root, const struct fr_checks *checks,
                         struct fr_text *html);
/** Append the figure of one series: points with intervals, every form, and below what each form
 *  misses at sizes that were held out.  @p html: as it stands. */
void fr_calibration_figure(const struct fr_json *series, struct fr_text *html);

/** Number of @p key, NaN where it is absent or null. */
double fr_calibration_number(const struct fr_json *object, const char *key);
/** Text of @p key, "" where it is absent. */
const char *fr_calibration_text(const struct fr_json *object, const char *key);

/** The forms of a fit document, in order, then NULL; and the colour of each. */
extern const char *const fr_calibration_forms[];
extern const char *const fr_calibration_colours[];

#endif
