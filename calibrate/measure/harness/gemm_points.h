/** @file
 *  Shared parts of the rows of matrix products. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_GEMM_POINTS_H
#define FR_CALIBRATE_MEASURE_HARNESS_GEMM_POINTS_H

#include "calibrate/measure/harness/bench.h"

/** State: an operand pool.  run: batch products a call. */
fr_status fr_gemm_open(struct fr_bench *bench, void **state, struct fr_error *err);
fr_sampled fr_gemm_run;
/** The point's products on a device. */
struct fr_device_task fr_gemm_device_task(const struct fr_point *point);
fr_sampled fr_gemm_device_run;
void fr_gemm_head(const struct fr_bench *bench, const struct fr_point *point,
                  struct fr_text *text);
/** As @p point is, every m, n, k of 2, 4, 8, ... @p largest, so skinny ones too. */
fr_status fr_gemm_plan_grid(struct fr_bench *bench, struct fr_point point, int largest,
                            struct fr_error *err);

/** The coarse grid on which products are timed in other ways, as @p point is: all shapes of a few sizes but what
 *  @p skips says. */
fr_status fr_gemm_plan_coarse(struct fr_bench *bench, struct fr_point point,
                              bool (*skips)(const struct fr_point *), struct fr_error *err);
/** Are all dimensions at least @p from? */
static inline bool fr_gemm_is_large(const struct fr_point *p, int from) {
    return p->m >= from && p->n >= from && p->k >= from;
}

/** A sample lasts ten thousand ticks of the clock. */
#define FR_GEMM_CALL_S 0.3e-3

#endif
