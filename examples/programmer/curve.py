"""A curve over an input: what would a slower or faster network make of this plan?

    PYTHONPATH=PREFIX/share/forerun/python python3 curve.py > curve.csv
"""

import forerun

job = forerun.Job("a100-hdr", "gpt-2.5b",
                  set={"tp": 4, "pp": 2, "dp": 2, "micro_batch": 8, "global_batch": 32})
print("bandwidth_GB_per_s,time_s,low_s,high_s,bubble_s")
for rate in (5, 10, 20, 40, 80):
    job.set({"cluster.levels.1.bandwidth": f"{rate} GB/s"})
    o = job.predict()
    print(f"{rate},{o['iteration_time_s']:.6g},{o['iteration_time_low_s']:.6g},"
          f"{o['iteration_time_high_s']:.6g},{o['breakdown_s']['bubble']:.6g}")
