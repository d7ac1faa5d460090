/** @file
 *  Is the machine still as it was calibrated?  Points of an earlier calibration measured again, by row
 *  of the harness.
 *
 *  Of every point that both have, ln(later / earlier) of the medians, beside the interval within which
 *  the earlier calibration expects a repetition of itself (compare.h).  A row has drifted when its
 *  median point is more than a tenth off and more than half of its points lie outside what was expected,
 *  those that expect nothing (fewer than six samples) counted by the tenth alone. */
#ifndef FR_CALIBRATE_MEASURE_DRIFTED_H
#define FR_CALIBRATE_MEASURE_DRIFTED_H

#include "calibrate/samples/samples.h"

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
};

/** The row of the harness that measured a line of samples.jsonl, or the point of @p key (as
 *  fr_sample_key writes it); "" for lines of none. */
void fr_drifted_row_of(const char *key, char name[32]);

/** @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_drifted_find(const struct fr_samples *earlier, const struct fr_samples *later,
                          struct fr_drifted *drifted);

/** Names of the rows that drifted, separated by commas; "" for none. */
void fr_drifted_names(const struct fr_drifted *drifted, char *names, size_t capacity);

/** Append the file of @p earlier without what rows @p names measured, then what @p later measured.
 *  Both are texts of samples.jsonl.  @return FR_OK or FR_ERR_INPUT. */
fr_status fr_drifted_replace(const char *earlier, const char *later, const char *names,
                             struct fr_text *merged, struct fr_error *err);

#endif
