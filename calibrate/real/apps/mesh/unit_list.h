/* Read more than once, so without guard.  One row per file in calibrate/real/apps/mesh/unit/. */
FR_UNIT(tensor)
FR_UNIT(grid)
FR_UNIT(phantom)
