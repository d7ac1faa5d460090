/* Read more than once, so without guard.  One row per file in trust/runs/watts/, tried in order. */
FR_WATTS(nvidia_smi)
FR_WATTS(dcgm)
FR_WATTS(ipmi)
FR_WATTS(perf)
