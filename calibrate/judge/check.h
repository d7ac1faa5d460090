/** @file
 *  How good is a calibration?  Checks with a verdict and a reason, from the document
 *  "forerun/fit/1" of `forerun fit --json`.
 *
 *  The rule.  A prediction's interval holds 90 % of an error whose logarithm has the spread
 *      s = hypot(max(0.1, x), v),   x = ln(1 + h) / 0.6745        (trust/interval.h)
 *  h the median error on what was held out of the fit, v how the machine's time for the same work
 *  varied, 0.1 assumed of the model.  A calibration
 *      FAILs   where exp(1.645 s) > 2: every prediction's interval reaches beyond twice the time, or
 *              half of it; or where ranks shared cores, or what was not measured had to be assumed
 *      WARNs   where hypot(x, v) > 0.1, that is, where it widens intervals by more than the model
 *              itself does; and for each part of which the same is true: interruptions, speed, the
 *              medians of points, an operation, products of one type.  Those are in h and v
 *              already, or in predictions of some plans alone, so that none fails by itself. */
#ifndef FR_CALIBRATE_JUDGE_CHECK_H
#define FR_CALIBRATE_JUDGE_CHECK_H

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

/** The worst verdict. */
fr_verdict fr_calibration_verdict(const struct fr_checks *checks);
/** That verdict with the reasons of all checks that did not pass, the worst first. */
void fr_calibration_judge(const struct fr_checks *checks, struct fr_fit_verdict *judged);

/** For check.c: are the numbers there, and possible?  @return FR_OK or FR_ERR_INPUT with the
 *  place. */
fr_status fr_calibration_numbers_check(const struct fr_json *root, struct fr_error *err);

/** Is every number in @p node one that can be shown, within 1e300 of 0?  @return FR_OK or FR_ERR_INPUT with the place */
fr_status fr_check_shown(const struct fr_json *node, struct fr_error *err);

#endif
