# %% [markdown]
# # Will my run fit, and which plan is best?
#
# You are to train Llama 3 8B on 64 H100 GPUs. This notebook asks whether your plan fits, searches a better one, shows where
# its time goes, and writes the script that starts it. Every answer is a dictionary with a table and a figure.
# %%
import forerun

cluster, model, ranks = "dgx-h100", "llama-3-8b", 64
# %% [markdown]
# ## Your plan
#
# Tensor parallelism of 4, and ZeRO 1 over 16 replicas.
# %%
mine = forerun.predict(cluster, model, set={"tp": 4, "dp": 16, "zero": 1, "micro_batch": 2, "global_batch": 512})
print(f"{mine['iteration_time_s']:.2f} s a step, 90 %: {mine['iteration_time_low_s']:.2f} to {mine['iteration_time_high_s']:.2f} s")
fits = f"{mine['fits']:.1%}" if mine["fits"] < 0.999 else "over 99.9%"
print(f"{mine['memory_shown_high_B'] / 1e9:.1f} GB at most of {mine['device_memory_B'] / 1e9:.1f} GB; fits with {fits}")
# %% [markdown]
# A step takes {mine["iteration_time_s"]:.2f} s. With 90 % probability it takes between {mine["iteration_time_low_s"]:.2f} and
# {mine["iteration_time_high_s"]:.2f} s. The device shows {mine["memory_shown_low_B"] / 1e9:.1f} to
# {mine["memory_shown_high_B"] / 1e9:.1f} GB in use: the plan fits with {fits}.
#
# ## A better plan
#
# Search tries every combination of these values and leaves out what may not fit.
# %%
found = forerun.search(cluster, model, ranks=ranks, set={"global_batch": 512}, top=5,
                       vary={"tp": "1..8*2", "pp": [1, 2], "zero": [0, 1, 2], "micro_batch": [1, 2]})
found.rows[0]["plan.tp"], found.rows[0]["plan.zero"], found["evaluated"], found["feasible"]
# %%
best = found["best"]
for plan, odds in zip(found["top"], found["odds"]):
    print(f"{plan['iteration_time_s']:.2f} s  best with {odds['probability_best']:5.1%}  {odds['plan']}")
# %% [markdown]
# {found["feasible"]} of {found["evaluated"]} plans can run. The best takes {best["iteration_time_s"]:.2f} s a step:
# {1 - best["iteration_time_s"] / mine["iteration_time_s"]:.0%} less than yours. It is the fastest with
# {found["odds"][0]["probability_best"]:.0%} probability. Expect {found["expected"]["iteration_time_s"]:.2f} s, since the best of
# many looks better than it is.
#
# ## Where the time goes
# %%
found.draw("breakdown", width="6in")
# %%
parts = sorted(best["breakdown_s"].items(), key=lambda part: -part[1])[:3]
for name, time_s in parts:
    print(f"{name:8} {time_s:.3f} s")
# %% [markdown]
# The largest part is {parts[0][0]}: {parts[0][1] / best["iteration_time_s"]:.0%} of a step.
#
# ## Start it
#
# `emit` writes the script, and names the settings that the framework cannot express.
# %%
script = forerun.emit("torchtitan", cluster, model, plan=best["plan"])
print("\n".join(script.splitlines()[:12]))
