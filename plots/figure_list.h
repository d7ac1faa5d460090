/* Read more than once, so without guard.  One row per file in plots/figure/. */
FR_FIGURE(energy_time)
FR_FIGURE(grid)
FR_FIGURE(fit)
FR_FIGURE(pareto)
FR_FIGURE(scaling)
FR_FIGURE(gemm)
FR_FIGURE(gantt)
