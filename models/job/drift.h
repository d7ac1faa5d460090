/** @file
 *  How far is software from any release whose facts are known, and by how much may its time have changed since?
 *
 *  One plan on one machine takes another time with another release.  A runtime states by how much, with two facts
 *  `drift`.  The first is the change of the logarithm of a step's time in a year.  The second is its width: a
 *  standard deviation that grows with the square root of time, as many small changes add up.  Presets are releases,
 *  so their own facts have not drifted.  A user's own runtime has the facts of the preset that it comes from, and is
 *  as far from it as their dates lie apart; one without a date is taken as FR_DRIFT_UNDATED_YEARS away. */
#ifndef FR_MODELS_JOB_DRIFT_H
#define FR_MODELS_JOB_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

/** Releases that published rows name come two months to a year apart. */
#define FR_DRIFT_UNDATED_YEARS 1.0

struct fr_drift {
    double years;   /**< from `since`; 0: its facts are its own */
    bool older;     /**< than that */
    double mean;    /**< change of the logarithm of a step's time a year */
    double width;   /**< standard deviation of that after a year */
    char date[16];  /**< of the software; "": none */
    char since[64]; /**< the preset whose facts it has */
};

/** Years between two dates, 2026, 2026-06 or 2026-06-30, each the middle of what it names: more than 0 where @p date
 *  is the later. */
double fr_drift_years(const char *date, const char *other);

/** Standard deviation of the logarithm of a time: width sqrt(years). */
double fr_drift_deviation(const struct fr_drift *drift);
/** Expected change of the logarithm of a time since then: mean times years, negative where the software is older. */
double fr_drift_moved(const struct fr_drift *drift);

/** Capacity for what fr_drift_line writes. */
enum { FR_DRIFT_LINE = 256 };

/** "software of 2027-03 is 0.8 years beyond megatron-bridge-26.06: interval wider by 10 % (standard deviation)"; "" where
 *  nothing is wider.  @return @p out */
const char *fr_drift_line(const struct fr_drift *drift, char *out, size_t capacity);

#endif
