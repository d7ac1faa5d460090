/** @file
 *  A straight line with no negative coefficient through points that are known to the same share. */
#ifndef FR_CALIBRATE_ENERGY_LINE_H
#define FR_CALIBRATE_ENERGY_LINE_H

enum { FR_LINE_POINTS_MAX = 64 };

/** y = constant + slope x, both >= 0, with the least sum of ((y_i - line(x_i)) / y_i)^2; where the free
 *  line has a negative coefficient, the best one without it.
 *  @param n  1 to FR_LINE_POINTS_MAX; y > 0 */
void fr_line_fit(const double *x, const double *y, int n, double *constant, double *slope);

#endif
