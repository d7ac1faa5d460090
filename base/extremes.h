/** @file
 *  fmin and fmax are calls, since a NaN gives way to a number there; for loops that know of none. */
#ifndef FR_BASE_EXTREMES_H
#define FR_BASE_EXTREMES_H

/** The smaller of two numbers, neither of them NaN. */
static inline double fr_smaller(double a, double b) { return a < b ? a : b; }
/** The larger of two numbers, neither of them NaN. */
static inline double fr_larger(double a, double b) { return a > b ? a : b; }

#endif
