/** @file
 *  Axes that read well: a logarithmic range around the values, and ticks with their unit
 *  ("36 ms", "4 KiB"), since one picture may span nanoseconds to hours. */
#ifndef FR_PLOTS_SCALE_H
#define FR_PLOTS_SCALE_H

#include <stdint.h>

#include "plots/picture.h"

/** Range of the positive values seen; start from FR_SCALE_EMPTY. */
struct fr_scale {
    double low, high;
};
#define FR_SCALE_EMPTY ((struct fr_scale){0, 0})

/** Widen @p scale to hold @p value; values that no logarithmic axis can show are passed over. */
void fr_scale_include(struct fr_scale *scale, double value);
/** Margin around the values: a seventh of the span at each end, and at least a factor of 2 in
 *  all, so that there are two ticks. */
struct fr_scale fr_scale_padded(struct fr_scale seen);

/** Write a logarithmic axis ("x" or "y") over the padded range, with at most @p ticks_max
 *  ticks: decimal ones for FR_QUANTITY_TIME, _ENERGY and _WORK_RATE, powers of two for _SIZE. */
void fr_scale_axis(struct fr_picture *p, const char *axis, struct fr_scale seen,
                   fr_quantity quantity, int ticks_max);

/** Write a logarithmic axis over @p range of numbers without a unit: ticks at 1, 2 and 5 times powers of ten, over more
 *  than three decades at those alone. */
void fr_scale_plain(struct fr_picture *p, const char *axis, struct fr_scale range);

/** Write a logarithmic x axis for whole numbers (rank counts, dimensions): a tick at each of
 *  the ascending @p values where they fit, else at powers of two. */
void fr_scale_counts(struct fr_picture *p, const int64_t *values, int n, int ticks_max);

/** Write a linear axis from 0 (or below, where @p low is negative) in percent. */
void fr_scale_percent(struct fr_picture *p, const char *axis, double low, double high);

/** A plain number of @p digits significant digits for a tick or a label: "0.0123", "1,640", never "1.64e+03", except
 *  beyond 1e15 and below 1e-4.  @return @p out. */
const char *fr_scale_number(double value, int digits, char *out, size_t capacity);

/** Write a linear axis from 0 to @p high, its ticks as fr_scale_number writes them. */
void fr_scale_linear(struct fr_picture *p, const char *axis, double high);

/** @p si for a tick or a label: "36.3 ms", "4 KiB", three digits.  @return @p out. */
const char *fr_scale_text(double si, fr_quantity quantity, char *out, size_t capacity);

#endif
