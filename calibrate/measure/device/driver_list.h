/* Read more than once, so without guard.  One row per file in calibrate/measure/device/driver/. */
FR_DEVICE(cpu)
FR_DEVICE(cuda)
FR_DEVICE(hip)
