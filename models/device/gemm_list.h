/* Read more than once, so without guard.  One row per file in models/device/gemm/. */
FR_GEMM(saturating)
FR_GEMM(batch)
FR_GEMM(table)
FR_GEMM(tiled)
