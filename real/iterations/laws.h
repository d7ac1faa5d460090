/** @file
 *  Laws of iterations (models/plan/iterations_law.h) from what was measured at several points.
 *
 *  A law is fitted only where there is a point more than it has coefficients, so that its error is known,
 *  and holds between the points alone.  Errors are relative: least squares of ln (measured / law), of the batch
 *  of measured / law - 1.
 */
#ifndef FR_REAL_ITERATIONS_LAWS_H
#define FR_REAL_ITERATIONS_LAWS_H

#include "models/plan/iterations_law.h"

struct fr_law_point {
    double at;         /**< k, the batch, or the share that goes compressed */
    double tp;         /**< of k */
    double iterations; /**< or, of a share, those over the ones without compression */
};

/** Fit the law along @p along to @p n points; of ghost neurons law->method is the caller's to set.
 *  @return false where they are too few, or no such law. */
bool fr_law_fit(fr_law_along along, const struct fr_law_point *points, int n,
                struct fr_iterations_law *law);

#endif
