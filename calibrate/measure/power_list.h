/* Read more than once, so without guard.  One row per file in calibrate/measure/power/, tried in order. */
FR_METER(powercap)
FR_METER(nvml)
FR_METER(rocm_smi)
FR_METER(slurm)
FR_METER(slurm_job)
FR_METER(log)
FR_METER(constant)
