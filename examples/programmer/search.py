"""Which plan of this model is fastest on 64 GPUs, and how sure is that?

    PYTHONPATH=PREFIX/share/forerun/python python3 search.py
"""

import forerun

found = forerun.search("dgx-h100", "llama-3-70b", ranks=64, top=3,
                       set={"global_batch": 128, "micro_batch": 1, "sequence_parallel": True},
                       vary={"tp": "1..8*2", "pp": "1..8*2", "recompute": ["none", "selective"],
                             "zero": [0, 1]})
print(f"{found['evaluated']} plans, {found['feasible']} feasible")
for plan, odds in zip(found["top"], found["odds"]):
    print(f"{plan['iteration_time_s']:.3f} s  {plan['memory_B']['peak'] / 1e9:.1f} GB  "
          f"best with {odds['probability_best']:.0%}  {odds['plan']}")
