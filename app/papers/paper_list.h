/* Read more than once, so without guard.  One row per file in app/papers/paper/. */
FR_PAPER(phantom)
FR_PAPER(grid)
FR_PAPER(optimus)
FR_PAPER(training)
FR_PAPER(collectives)
FR_PAPER(dsp)
FR_PAPER(gemm)
FR_PAPER(plans)
