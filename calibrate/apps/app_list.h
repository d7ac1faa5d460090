FR_REAL_APP(tensor)
FR_REAL_APP(phantom)
FR_REAL_APP(grid)
FR_REAL_APP(pipeline)
