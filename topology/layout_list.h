/* Read more than once, so without guard.  One row per file in topology/layout/. */
FR_LAYOUT(nvidia_topo)
FR_LAYOUT(nccl_xml)
FR_LAYOUT(slurm)
