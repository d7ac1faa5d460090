/** @file
 *  Is the machine still as it was calibrated?  Points of an earlier calibration measured again, by row
 *  of the harness.
 *
 *  Slower or faster: of every point that both have, ln(later / earlier) of the own times, those of
 *  samples that nothing interrupted (compare.h), beside what two such calibrations may differ by,
 *
 *      sqrt( w1^2 + w2^2 + (t s)^2 (1/L1 + 1/L2) )
 *
 *  w the half widths of the own times, a tenth where too few samples know none; s what launches
 *  differ by, of the earlier calibration, L launches, t Student's 0.975 quantile.  A row has
 *  drifted when its median point is more than a tenth off and more than half of its points lie
 *  beyond this bound.  With fewer than three points, the median must be more than twice off, since
 *  nothing else shows how far a new draw may lie.
 *
 *  Busier: interruptions take more of the products' time than twice what they took and a tenth,
 *  ln(1 + later) > 2 ln(1 + earlier) + ln 1.1; up to twice is in every prediction's interval.  That is
 *  no drift: measured again, each row would be the same. */
#ifndef FR_CALIBRATE_MEASURE_DRIFTED_H
#define FR_CALIBRATE_MEASURE_DRIFTED_H

#include "calibrate/samples/samples.h"
#include "models/device/interruptions.h"

enum { FR_DRIFTED_ROWS = 24 };

struct fr_drifted_row {
    char name[32]; /**< of the harness */
    int points;    /**< that both measured */
    int outside;
    double ratio; /**< median of later / earlier */
    bool drifted;
};

struct fr_drifted {
    struct fr_drifted_row row[FR_DRIFTED_ROWS];
    int n;
    bool busier;
    double lost_then, lost_now; /**< share of the products' time that interruptions took */
    struct fr_interruptions now;
};

/** The row of the harness that measured a line of samples.jsonl, or the point of @p key (as
 *  fr_sample_key writes it); "" for lines of none. */
void fr_drifted_row_of(const char *key, char name[32]);

/** @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_drifted_find(const struct fr_samples *earlier, const struct fr_samples *later,
                          struct fr_drifted *drifted);

/** Is the machine as it was: nothing drifted, and no busier? */
bool fr_drifted_is_as_before(const struct fr_drifted *drifted);

/** Names of the rows that drifted, separated by commas; "" for none. */
void fr_drifted_names(const struct fr_drifted *drifted, char *names, size_t capacity);

/** Append the file of @p earlier without the points of rows @p names that @p later measured again.
 *  Then append these points of @p later, with its probes where these rows are divided by them
 *  (calibrate/fit/speed.h).  Lines of other rows stay as they are, and so does their fit.  Points
 *  that the later measurement had no time for stay, too.
 *  Both are texts of samples.jsonl.  @return FR_OK or FR_ERR_INPUT. */
fr_status fr_drifted_replace(const char *earlier, const char *later, const char *names,
                             struct fr_text *merged, struct fr_error *err);

#endif
