/* Read more than once, so without guard.  One row per file in models/workload/kind/. */
FR_KIND(ffn)
FR_KIND(mlp)
FR_KIND(cnn)
FR_KIND(stages)
FR_KIND(transformer)
FR_KIND(branches)
