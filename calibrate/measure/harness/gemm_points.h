/** @file
 *  What the three rows of matrix products share. */
#ifndef FR_CALIBRATE_MEASURE_HARNESS_GEMM_POINTS_H
#define FR_CALIBRATE_MEASURE_HARNESS_GEMM_POINTS_H

#include "calibrate/measure/harness/bench.h"

/** State: an operand pool.  run: batch products a call. */
fr_status fr_gemm_open(struct fr_bench *bench, void **state, struct fr_error *err);
fr_sampled fr_gemm_run;
void fr_gemm_head(const struct fr_bench *bench, const struct fr_point *point,
                  struct fr_text *text);
/** Every m, n, k of 2, 4, 8, ... @p largest, so skinny ones too. */
fr_status fr_gemm_plan_grid(struct fr_bench *bench, const struct fr_bench_row *row,
                            fr_dtype dtype, int largest, struct fr_error *err);

/** A sample lasts ten thousand ticks of the clock. */
#define FR_GEMM_CALL_S 0.3e-3

#endif
