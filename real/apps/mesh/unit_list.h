/* Read more than once, so without guard.  One row per file in real/apps/mesh/unit/. */
FR_UNIT(tensor)
FR_UNIT(grid)
FR_UNIT(phantom)
FR_UNIT(convolution)
FR_UNIT(domain)
FR_UNIT(block)
FR_UNIT(embedding)
FR_UNIT(logits)
