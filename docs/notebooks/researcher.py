# %% [markdown]
# # How wide should a phantom layer be?
#
# Phantom parallelism replaces the messages of tensor parallelism by *k* ghost neurons a rank (Seal et al.). Fewer ghost
# neurons send less in each iteration. The network then needs more or fewer iterations to the same loss. The paper measured
# these iterations, and the model file has them. Energy to the target loss joins both.
# %%
import forerun

found = forerun.search("frontier", "ffn-16384", ranks=[8, 16, 32], objective="energy", top=0,
                       vary={"method": ["tensor", "phantom"], "ghost": [2, 4, 6, 16]})
print("method   k  ranks  iterations  J an iteration  kJ to the loss")
for row in found.rows:
    print(f"{row['plan.method']:8} {row['plan.ghost'] or '-':>2} {row['ranks']:5} {row['iterations']:10}  "
          f"{row['iteration_energy_J']:14.1f}  {row['total_energy_J'] / 1e3:14.1f}")
# %% [markdown]
# Widths whose iterations nobody measured are left out.
# %%
tensor = {row["ranks"]: row for row in found.rows if row["plan.method"] == "tensor"}
phantom = {row["ranks"]: row for row in found.rows if row["plan.method"] == "phantom"}
saved = {ranks: 1 - phantom[ranks]["total_energy_J"] / tensor[ranks]["total_energy_J"] for ranks in sorted(tensor)}
print({ranks: f"{share:.0%}" for ranks, share in saved.items()})
# %% [markdown]
# On 8 ranks phantom parallelism needs {phantom[8]["iterations"]} iterations and tensor parallelism {tensor[8]["iterations"]}.
# It saves {saved[8]:.0%} of the energy to the target loss. On 32 ranks it saves {saved[32]:.0%}.
# %%
found.draw("energy-time", width="6in")
# %% [markdown]
# ## What if the network were slower?
#
# A job is checked once and asked often. Here the bandwidth between nodes changes.
# %%
job = forerun.Job("frontier", "ffn-16384", set={"method": "phantom", "tp": 16, "ghost": 6})
times = {}
for rate in (6.25, 12.5, 25, 50):
    answer = job.set({"cluster.levels.2.bandwidth": f"{rate} GB/s"}).predict()
    times[rate] = answer["iteration_time_s"]
    print(f"{rate:5} GB/s  {answer['iteration_time_s'] * 1e3:.2f} ms, {answer['breakdown_s']['tp_comm'] * 1e3:.2f} ms of messages")
# %% [markdown]
# An eighth of the bandwidth costs {times[6.25] / times[50] - 1:.1%} more time: the ghost layer's messages are small.
#
# ## A pipeline over time
#
# The event engine plays every task. In a notebook the answer shows its timeline.
# %%
played = forerun.simulate("a100-hdr", "gpt-2.5b", set={"tp": 8, "pp": 4, "dp": 1, "global_batch": 8 * 8, "micro_batch": 8})
played
# %%
utilisation = [stage["utilisation"] for stage in played["stages"]]
print(f"{min(utilisation):.0%} to {max(utilisation):.0%}")
# %% [markdown]
# Stages are busy for {min(utilisation):.0%} to {max(utilisation):.0%} of an iteration. The rest is messages, and the
# bubble of 8 micro-batches over 4 stages.
