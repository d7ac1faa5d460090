# %% [markdown]
# # Which of two clusters, and what does the training cost?
#
# Llama 3 8B is to be trained on 1 trillion tokens. One offer has 64 H100 GPUs, another 64 A100 GPUs. Each has its price an hour.
# %%
import forerun

offer = {"dgx-h100": 2.5, "dgx-a100": 1.3}  # USD a device and hour
found = forerun.compare(cluster=list(offer), model="llama-3-8b", ranks=64, set={"global_batch": 512}, tokens="1T",
                        vary={"tp": "1..8*2", "zero": "0..2"}, carbon="0.4 kg/kWh",
                        price=[f"{rate} USD/h" for rate in offer.values()])
runs = {row["cluster"]: row["training"] for row in found["rows"]}
print("cluster   days (90 %)        kUSD (90 %)        MWh    t CO2")
for name, run in runs.items():
    low, high = run["time_low_s"] / run["time_s"], run["time_high_s"] / run["time_s"]
    print(f"{name}  {run['days']:4.1f} ({run['days'] * low:.1f} to {run['days'] * high:.1f})  "
          f"{run['price'] / 1e3:5.1f} ({run['price'] * low / 1e3:.1f} to {run['price'] * high / 1e3:.1f})  "
          f"{run['energy_kWh'] / 1e3:5.1f}  {run['carbon_kg'] / 1e3:5.1f}")
# %%
h100, a100 = runs["dgx-h100"], runs["dgx-a100"]
faster = a100["time_s"] / h100["time_s"]
surely = a100["time_low_s"] / h100["time_high_s"]
print(f"{faster:.1f} times as fast, at least {surely:.1f}; {1 - h100['price'] / a100['price']:.0%} cheaper")
# %% [markdown]
# The H100s finish in {h100["days"]:.1f} days, the A100s in {a100["days"]:.1f}: {faster:.1f} times as long. The intervals do not overlap:
# even a slow run on H100s ends {surely:.1f} times as early as a fast one on A100s. An hour of an A100 is cheaper, and the training
# is not: {a100["price"] / 1e3:.0f} against {h100["price"] / 1e3:.0f} thousand USD.
# %%
found.draw(width="6in")
# %% [markdown]
# ## At which price would you change your mind?
#
# The bill is price times device-hours, so the offers meet where the hours weigh the same.
# %%
even = offer["dgx-h100"] * h100["device_hours"] / a100["device_hours"]
print(f"{even:.2f} USD/h")
# %% [markdown]
# Below {even:.2f} USD an hour the A100s are the cheaper offer. They still take {a100["days"] - h100["days"]:.0f} days more.
#
# ## How sure is that?
#
# Intervals hold 90 % of trainings. They are the model's error on runs that others published (`docs/explanation/accuracy.md`).
# To send it on, `forerun.report(found, output="page.html")` writes one page with the answer, figures and sliders.
