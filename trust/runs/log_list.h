/* Read more than once, so without guard.  One row per file in trust/runs/log/. */
FR_RUN_LOG(megatron)
FR_RUN_LOG(nemo)
FR_RUN_LOG(torchtitan)
FR_RUN_LOG(mlperf)
