/* Read more than once, so without guard.  One row per file in models/plan/schedule/. */
FR_SCHEDULE(gpipe)
FR_SCHEDULE(one_f_one_b)
FR_SCHEDULE(doubled)
FR_SCHEDULE(interleaved)
FR_SCHEDULE(zero_bubble)
FR_SCHEDULE(zero_bubble_v)
FR_SCHEDULE(dualpipe_v)
FR_SCHEDULE(custom)
