/* Read more than once, so without guard.  One row per file in calibrate/measure/knob/. */
FR_KNOB(cpufreq)
FR_KNOB(nvidia)
