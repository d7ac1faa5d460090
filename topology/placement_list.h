/* Read more than once, so without guard.  One row per file in topology/placement/. */
FR_PLACEMENT(linear)
FR_PLACEMENT(round_robin)
FR_PLACEMENT(by_axis)
FR_PLACEMENT(file)
FR_PLACEMENT(balanced)
FR_PLACEMENT(optimised)
