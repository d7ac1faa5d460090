"""blocks.py TABLE [--seconds S] [--tiny]: trains small stacks of transformer blocks, each for a few seconds, and
appends what was measured to TABLE, a JSON object a line (README.md says what the keys mean).

What TABLE holds already is not done again, so that a run that was cut off goes on there.  After S seconds nothing new
begins.  --tiny tries every setting in a form that a processor trains at once.  The allocator is chosen by PyTorch's
own variable before the start (run.sh).  Ends with 3 where the device fails so that only a new process can go on."""
import argparse
import gc
import json
import math
import os
import statistics
import sys
import time
import traceback

import torch
import torch.nn.functional as F

import card
import settings
import transformer
import watch
from training import Training

TIMED_S, MOST_STEPS = 1.8, 16
FACTORS = (1.0, 1.005, 1.01, 1.015, 1.02, 1.03, 1.04, 1.06, 1.08, 1.10, 1.15, 1.2)  # of the peak: memory limits tried
CONFIGURED = [os.environ.get(name, "") for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")]
ALLOCATOR = "expandable" if any("expandable_segments:True" in words for words in CONFIGURED) else "default"
PRINTED = ("kind", "id", "outcome", "allocated_B", "step_s", "runs_B")


def short(value):
    """Numbers of six digits, in lists and objects too; whole numbers stay."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: short(some) for key, some in value.items()}
    return [short(some) for some in value] if isinstance(value, list) else value


class Table:
    def __init__(self, path):
        self.lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.lines = [json.loads(line) for line in file]
        self.file = open(path, "a", encoding="utf-8")

    def has(self, kind, name=None):
        return any((line["kind"], line.get("id"), line["allocator"]) == (kind, name, ALLOCATOR) for line in self.lines)

    def add(self, line):
        line = short({**line, "allocator": ALLOCATOR})
        self.lines.append(line)
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        print(" ".join(f"{key}={line[key]}" for key in PRINTED if key in line), flush=True)


def clear():
    """Nothing of a training stays behind: no compiled code, no tensor, no cached block, no workspace of cuBLAS."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    gc.collect()
    if card.CUDA:
        getattr(torch._C, "_cuda_clearCublasWorkspaces", lambda: None)()
        torch.cuda.empty_cache()


def guarded(work):
    """What work() returns, and how it ended: "ran", "out of memory", or the error in a line."""
    try:
        return work(), "ran"
    except torch.cuda.OutOfMemoryError:
        return None, "out of memory"
    except Exception as error:  # whatever it is, the settings after it are still worth trying
        traceback.print_exc()
        return None, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def lost(outcome):
    """The device refuses everything from now on."""
    return "CUDA error" in outcome or "AcceleratorError" in outcome


def base():
    """What is in use before the first tensor, and after the first product."""
    if card.CUDA:
        torch.cuda.init()
        card.synchronize()
    context_B = card.shown_B()
    a = torch.randn(4096, 4096, device=card.DEVICE, dtype=torch.bfloat16) if card.CUDA else torch.ones(8, 8)
    (a @ a).sum().item()
    card.synchronize()
    return {"kind": "base", "context_B": context_B, "after_product_B": card.shown_B() - card.reserved_B(),
            "segments": card.segments()}


def groups_of_queries(attention):
    """Whether this attention kernel takes fewer keys than queries itself, forward and backward."""
    def attend():
        q, k, v = (torch.randn(1, heads, 256, 64, device=card.DEVICE, dtype=torch.bfloat16, requires_grad=True)
                   for heads in (4, 2, 2))
        F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).float().sum().backward()

    choose(attention)
    return guarded(attend)[1] == "ran"


def choose(attention):
    """flash: cuDNN's kernel; flash-2: FlashAttention-2 as PyTorch carries it."""
    if not card.CUDA:
        return
    torch.backends.cuda.enable_math_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_flash_sdp(attention == "flash-2")
    torch.backends.cuda.enable_cudnn_sdp(attention == "flash")


def start(setting, native):
    """A training of the setting, on a clear device."""
    choose(setting["attention"])
    torch.manual_seed(1)
    return Training(setting, not native[setting["attention"]])


def measure(setting, native):
    before, retries = card.allocated_B(), card.retries()
    training = start(setting, native)
    clear()
    card.reset_peak()
    for _ in range(2):
        card.synchronize()
        begin_s = time.monotonic()
        training.step(watch.Nobody())
        card.synchronize()
        step_s = time.monotonic() - begin_s
    first_B = card.peak_B()
    card.reset_peak()
    clock = watch.Clock()
    with card.Meter() as meter:
        for _ in range(max(4, min(MOST_STEPS, round(TIMED_S / step_s)))):
            loss = training.step(clock)
        card.synchronize()
    steps = clock.steps_s()
    whole = sorted(sum(step.values()) for step in steps)
    line = {"parameters": training.parameters(), "allocated_B": card.peak_B() - before, "reserved_B": card.peak_reserved_B(),
            "shown_B": card.shown_B(), "outside_B": card.shown_B() - card.reserved_B(), "first_allocated_B": first_B - before,
            "before_B": before, "retries": card.retries() - retries, "steps": len(steps), "step_s": statistics.median(whole),
            "step_low_s": whole[0], "step_high_s": whole[-1],
            **{f"{part}_s": statistics.median(step[part] for step in steps) for part in steps[0]},
            "power_W": meter.power_W, "clock_MHz": meter.clock_MHz, "finite": math.isfinite(loss.item())}
    moments = watch.Moments()
    between_B = card.allocated_B() - before
    training.step(moments)
    return {**line, "between_steps_B": between_B,
            "saved_layer_B": round((moments.after_layers_B - moments.before_layers_B) / setting["layers"]),
            "moments_B": {moment: peak_B - before for moment, peak_B in moments.peak_B.items()}}


def least(setting, native, allocated_B):
    """The least of FACTORS times the peak with which three steps still run, by bisection."""
    def runs(factor):
        card.limit(factor * allocated_B / max(card.memory_B(), 1))
        clear()
        try:
            return guarded(lambda: three_steps(setting, native))[1] == "ran"
        finally:
            card.limit(1)

    low, high, tries = -1, len(FACTORS), []
    while high - low > 1:
        middle = (low + high) // 2
        ran = runs(FACTORS[middle])
        tries.append([FACTORS[middle], ran])
        low, high = (low, middle) if ran else (middle, high)
    return {"allocated_B": allocated_B, "tries": tries,
            "runs_B": round(FACTORS[high] * allocated_B) if high < len(FACTORS) else None,
            "fails_B": round(FACTORS[low] * allocated_B) if low >= 0 else None}


def three_steps(setting, native):
    training = start(setting, native)
    for _ in range(3):
        training.step(watch.Nobody())
    card.synchronize()


def try_settings(table, wanted, native, end_s):
    for setting in wanted:
        if table.has("blocks", setting["id"]):
            continue
        if time.monotonic() > end_s:
            return
        begin_s = time.monotonic()
        measured, outcome = guarded(lambda setting=setting: measure(setting, native))
        clear()
        table.add({"kind": "blocks", **setting, "outcome": outcome, "kv_repeated": not native[setting["attention"]],
                   **(measured or {}), "took_s": time.monotonic() - begin_s})
        if lost(outcome):
            sys.exit(3)


def try_edges(table, wanted, native, end_s):
    for setting in wanted:
        measured = [line["allocated_B"] for line in table.lines
                    if line.get("id") == setting["id"] and line.get("outcome") == "ran" and line["allocator"] == ALLOCATOR]
        if table.has("edge", setting["id"]) or not measured:
            continue
        if time.monotonic() > end_s:
            return
        found, outcome = guarded(lambda setting=setting, peak_B=measured[0]: least(setting, native, peak_B))
        clear()
        table.add({"kind": "edge", "id": setting["id"], "outcome": outcome, **(found or {})})
        if lost(outcome):
            sys.exit(3)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    words.add_argument("table")
    words.add_argument("--seconds", type=float, default=200)
    words.add_argument("--tiny", action="store_true")
    words = words.parse_args()
    end_s = time.monotonic() + words.seconds
    table = Table(words.table)
    if not table.has("provenance"):
        table.add({**card.provenance(), "grouped_products": transformer.GROUPED is not None})
        table.add(base())
    native = {attention: groups_of_queries(attention) for attention in ("flash-2", "flash")}
    clear()
    wanted = [settings.tiny(setting) if words.tiny else setting for setting in settings.SETTINGS]
    late = [setting for setting in wanted if setting["blocks"] == "compiled" or setting["states"] == "fsdp"]
    try_settings(table, [setting for setting in wanted if setting not in late], native, end_s)
    try_edges(table, [setting for setting in wanted if setting["id"] in settings.EDGES], native, end_s)
    try_settings(table, late, native, end_s)  # compilers and communicators stay in memory
    missing = sum(not table.has("blocks", setting["id"]) for setting in wanted)
    print(f"{len(wanted) - missing} of {len(wanted)} settings are in {words.table}")


if __name__ == "__main__":
    main()
