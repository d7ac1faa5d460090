/** @file
 *  Matrix products measured at scattered shapes, and their time at other shapes.
 *
 *  Where a harness measures a full grid, interpolation in it serves (models/device/gemm/table.c); other
 *  people's tables hold the shapes of some networks, from square to a few columns wide.  A trend
 *  carries the size,
 *
 *      t = launch + 2 m n k / rate (1 + half/m)(1 + half/n) + (m k + k n + m n) / words
 *
 *  and what it leaves is smooth in the logarithms of the shape but for alignment, so it is
 *  interpolated between measured shapes by kriging (Rasmussen and Williams, Gaussian Processes
 *  for Machine Learning, 2006, Eqs. 2.25, 5.12): with a kernel that falls off with the distance
 *  in log m, log n, log k, is less between different transpositions, and less between shapes
 *  divisible by different powers of two.  Range and noise are those with the least leave-one-out
 *  error; few shapes get the trend alone. */
#ifndef FR_CALIBRATE_FIT_SCATTER_H
#define FR_CALIBRATE_FIT_SCATTER_H

#include <stdint.h>

#include "base/status.h"

struct fr_scatter_point {
    int64_t m, n, k;
    int layout; /**< which operands are transposed; any numbering */
    double time_s;
};

enum { FR_SCATTER_TREND = 4 };

struct fr_scatter {
    double trend[FR_SCATTER_TREND]; /**< launch [s], s/flop, s/word, half */
    struct fr_scatter_point *points;
    double *weights;     /**< of each point; NULL: the trend alone */
    double mean;         /**< log residual of the trend */
    double range, noise; /**< of the kernel */
    int n;
    double left_out; /**< median |error| of leave-one-out; negative: trend alone */
};

/** @return FR_OK, FR_ERR_NUMERIC (fewer points than the trend has terms, or no fit), FR_ERR_NOMEM.
 *  Free @p s with fr_scatter_free, also on error. */
fr_status fr_scatter_fit(const struct fr_scatter_point *points, int n, struct fr_scatter *s,
                         struct fr_error *err);
/** Time at the shape of @p point [s]; its time_s is not read. */
double fr_scatter_time_s(const struct fr_scatter *s, const struct fr_scatter_point *point);
void fr_scatter_free(struct fr_scatter *s);

#endif
