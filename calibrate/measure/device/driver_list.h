/* Read more than once, so without guard.  One row per file in calibrate/measure/device/. */
FR_DEVICE(cpu)
FR_DEVICE(cuda)
