/** @file
 *  How many iterations a plan needs to the target loss (the paper's nu).
 *
 *  Per iteration the smallest phantom width always wins, which is no answer: a smaller model
 *  may need more iterations.  So nu is an input, measured or published: one number, or a
 *  table over (method, tp, ghost).  Methods that compute exactly what one processor would
 *  (tensor, grid) share their rows.  Between two rows of the same tp, or else of the same
 *  ghost, nu is interpolated linearly in logarithms and marked; elsewhere it is unknown.
 */
#ifndef FR_MODELS_ITERATIONS_H
#define FR_MODELS_ITERATIONS_H

#include "models/workload.h"

typedef enum {
    FR_ITERATIONS_UNKNOWN,
    FR_ITERATIONS_GIVEN,
    FR_ITERATIONS_INTERPOLATED,
} fr_iterations_origin;

/** Read "iterations": a number, or {"source": ..., "table": [{"method", "tp", "ghost",
 *  "iterations"}, ...]}, or such a table alone.  tp and ghost may be absent: any. */
fr_status fr_iterations_read(const struct fr_json *node, struct fr_workload *workload,
                             struct fr_error *err);

/** Iterations of @p method at (@p tp, @p ghost) by @p workload's table.
 *  @param[out] iterations  set unless unknown */
fr_iterations_origin fr_iterations_find(const struct fr_workload *workload,
                                        const struct fr_method *method, int64_t tp,
                                        int64_t ghost, double *iterations);

#endif
