/* Read more than once, so without guard.  One row per file in models/plan/compression/. */
FR_COMPRESSION(powersgd)
FR_COMPRESSION(topk)
