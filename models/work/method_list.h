/* Read more than once, so without guard.  One row per file in models/work/method/. */
FR_METHOD(tensor)
FR_METHOD(phantom)
FR_METHOD(grid)
FR_METHOD(subgraph)
