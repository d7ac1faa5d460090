"""compare.py FORERUN [TABLE [CLUSTER]]: what `forerun predict` says of each setting of TABLE (h100_blocks.jsonl), beside
what was measured.  CLUSTER is a preset or file (dgx-h100); one rank of it trains.

Predictions take the setting as it ran: shape, sequence, micro-batch, vocabulary, recomputation, loss, attention kernel, and the
bytes of weights, gradients and AdamW's numbers.  Column "unsaid" says what no key says: of a foreach AdamW its temporary
copies.
Ends with 1 where a line is not what README.md says, or has no prediction."""
import functools
import json
import pathlib
import statistics
import subprocess
import sys

KINDS = {"provenance", "base", "blocks", "edge"}
SHAPE = ("layers", "hidden", "heads", "kv_heads", "head_dim", "sequence", "vocabulary", "tied_embedding")
SETTING = ("model", "experts", "micro_batch", "micro_batches", "recompute", "recompute_layers", "loss", "states", "update",
           "attention", "blocks", "ranks", "outcome")
# states: gradients, the optimiser's bytes a parameter, and weights
BYTES = {"bf16": ("bf16", 4, "bf16"), "master": ("fp32", 12, "bf16"), "fp32": ("fp32", 8, "fp32"), "fsdp": ("fp32", 12, "bf16")}
# AdamW's foreach kernels read and write 20 values a parameter (torch/optim/adamw.py, _multi_tensor_adamw): the product with
# 1 - lr decay 2, lerp 3, the second moment's product 2 and addcmul 3, square root 2, two quotients and a sum 4, addcdiv 4.
# "master" then copies the weights, 4 + 2 B.  They do so at 0.85 of the rate of copies: 80 B of each of 201,326,592 values in
# 4.57 ms on an H200 (line adamw_foreach of its timings), 3.53 of 4.2 TB/s.
FOREACH_B = {"bf16": 40, "master": 90, "fp32": 80}
MEASURED = ("parameters", "between_steps_B", "allocated_B", "reserved_B", "shown_B", "outside_B", "step_s", "step_low_s",
            "step_high_s")


class Malformed(Exception):
    pass


def need(holds, line, sentence):
    if not holds:
        raise Malformed(f"{line.get('kind')} {line.get('id', '')} ({line.get('allocator')}): {sentence}")


def check(line):
    """A line keeps what README.md says of its kind."""
    need(line.get("kind") in KINDS, line, f"a kind is one of {', '.join(sorted(KINDS))}")
    need(line.get("allocator") in ("default", "expandable"), line, "an allocator is default or expandable")
    if line["kind"] != "blocks":
        return
    for key in SHAPE + SETTING:
        need(key in line, line, f"{key} is missing")
    need(line["states"] in BYTES, line, f"states are one of {', '.join(sorted(BYTES))}")
    if line["outcome"] != "ran":
        return
    for key in MEASURED:
        need(isinstance(line.get(key), (int, float)) and line[key] > 0, line, f"{key} is no number above 0")
    need(line["finite"] or line["ranks"] > 1, line, "the loss is not finite")
    need(line["allocated_B"] <= line["reserved_B"] <= line["shown_B"], line,
         "allocated, reserved and shown are not in this order")
    need(line["step_low_s"] <= line["step_s"] <= line["step_high_s"], line, "the median step is not between the extremes")
    need(all(0 < peak_B <= 1.001 * line["allocated_B"] for peak_B in line["moments_B"].values()), line,
         "a moment is above the peak")


def model_of(line):
    """The model file of a setting."""
    gradient, state_B, weight = BYTES[line["states"]]
    found = {"kind": "transformer", "defaults": "modern", "name": line["model"], **{key: line[key] for key in SHAPE},
             "vocabulary_multiple": 1, "gated": True, "biases": False, "norm": "rms", "positions": "rotary", "dtype": "bf16", "qk_norms": line["qk_norm"],
             "gradient_dtype": gradient, "weight_dtype": weight, "optimizer_state": f"{state_B} B",
             "global_batch": line["micro_batch"] * line["micro_batches"] * line["ranks"]}
    if line["experts"]:
        experts = {key: line[key] for key in ("experts", "experts_per_token", "expert_ffn")}
        return {**found, **experts, "ffn": line["expert_ffn"]}
    return {**found, "ffn": line["ffn"]}


LOSS = {"eager_cast": "eager", "eager": "eager-16", "compiled": "compiled", "chunked": "chunked"}


@functools.lru_cache(maxsize=None)
def answer(forerun, cluster, model, words):
    """What forerun predict prints, or its complaint."""
    command = [forerun, "predict", "--cluster", cluster, "--model", "-", "--json", *(f"--set={word}" for word in words)]
    done = subprocess.run(command, input=model, capture_output=True, text=True, check=False)
    if done.returncode in (0, 4) and done.stdout:  # 4: it does not fit, as some did not
        return 0, json.loads(done.stdout)
    return done.returncode, done.stderr.strip()


def software(line):
    """The runtime, and what of it a setting changes."""
    words = ["runtime=" + ("pytorch-2.11" if line["blocks"] == "eager" else "pytorch-compiled-2.11")]
    if line["states"] == "master":
        words.append("runtime.framework.frees_gradients=0")
    if line["states"] == "fp32":
        words.append("runtime.framework.casts=1")
    if line["update"] == "foreach":
        words += [f"runtime.framework.update_traffic={FOREACH_B[line['states']]} B", "runtime.framework.update_rate=0.85"]
    return words


def predict(forerun, cluster, line):
    recompute = {"full": "full", "operators": "selective_op"}.get(line["recompute"], "none")
    layers = f"recompute_layers={line['recompute_layers'] or 0}"
    zero = 3 if line["states"] == "fsdp" else 0
    words = (f"micro_batch={line['micro_batch']}", f"recompute={recompute}", f"attention={line['attention']}",
             f"dp={line['ranks']}", f"zero={zero}", "accumulation=apart", "overlap=none", "graphs=none", layers,
             f"loss={LOSS[line['loss']]}", *software(line))
    code, found = answer(forerun, cluster, json.dumps(model_of(line)), words)
    need(code == 0, line, f"no prediction: {found}")
    need(line["outcome"] != "ran" or found["parameters"] == line["parameters"], line,
         f"{line.get('parameters')} parameters measured, {found['parameters']} predicted")
    return found


def unsaid(line):
    return "foreach" if line["update"] == "foreach" else ""


def error(measured, predicted):
    """Of a prediction, as a share of what was measured."""
    return predicted / measured - 1


def inside(value, found, what):
    return found[what + "_low" + unit(what)] <= value <= found[what + "_high" + unit(what)]


def unit(what):
    return "_B" if what == "memory" else "_s"


def timed(line):
    """Of sharded runs the other ranks are not there, and time says nothing."""
    return line["ranks"] == 1


def statistic(name, rows, measured, predicted, what):
    """Mean error, bias and how many lie in their intervals, in words."""
    if not rows:
        return f"{name} -"
    errors = [error(line[measured], predicted(found)) for line, found in rows]
    within = sum(inside(line[measured], found, what) for line, found in rows)
    return (f"{name} mean {100 * statistics.mean(map(abs, errors)):5.1f} %  bias {100 * statistics.mean(errors):+6.1f} %  "
            f"inside {within:2} of {len(rows):2}")


def summary(name, rows):
    memory = statistic("memory", rows, "allocated_B", lambda found: found["memory_B"]["peak"], "memory")
    rows = [row for row in rows if timed(row[0])]
    time = statistic("time", rows, "step_s", lambda found: found["iteration_time_s"], "iteration_time")
    print(f"{name:22}  {memory}   {time}")


def print_row(line, found):
    GB, peak_B = line["allocated_B"] / 1e9, found["memory_B"]["peak"]
    mark = "" if inside(line["allocated_B"], found, "memory") else "*"
    words = [f"{line['id'] + ' ' + line['allocator'][:3]:97}",
             f"{GB:6.2f} {peak_B / 1e9:6.2f} {100 * error(line['allocated_B'], peak_B):+6.1f}{mark:1}",
             f"{line['reserved_B'] / line['allocated_B']:5.3f} {line['outside_B'] / 1e9:5.2f}", seconds(line, found), unsaid(line)]
    print(" ".join(words))


def seconds(line, found):
    """Step time and watts, measured and predicted; blank where time says nothing."""
    if not timed(line):
        return f"{'-':33}"
    measured, predicted = line["step_s"], found["iteration_time_s"]
    mark = "" if inside(measured, found, "iteration_time") else "*"
    busy_W = found["energy_J"]["device"] / predicted
    return (f"{1e3 * measured:7.1f} {1e3 * predicted:7.1f} {100 * error(measured, predicted):+6.1f}{mark:1} "
            f"{line['power_W'] or float('nan'):4.0f} {busy_W:4.0f}")


def print_edges(lines):
    for line in lines:
        if line["outcome"] == "ran" and line["runs_B"]:
            share = line["runs_B"] / line["allocated_B"]
            print(f"least that runs: {line['id']}, {line['allocator']} segments: {share:.3f} of the peak")


def tokens(line):
    return line["micro_batch"] * line["sequence"]


def print_counts(lines):
    """What a layer saves, and what a logit takes at its loss's backward pass beside weights, states and saved values."""
    saved, logits = {}, {}
    for line in lines:
        if line["states"] in ("bf16", "master") and line["recompute"] == "none":
            saved[line["model"], line["blocks"]] = line["saved_layer_B"] / tokens(line) / 2
            if line["loss"] != "chunked" and line["vocabulary"] > 100000 and line["micro_batches"] == 1:
                rest_B = line["between_steps_B"] + line["layers"] * line["saved_layer_B"]
                loss_B = line["moments_B"]["loss_backward"] - rest_B
                logits.setdefault(line["loss"], []).append(loss_B / tokens(line) / line["vocabulary"])
    for loss, values in sorted(logits.items()):
        print(f"loss {loss}: {statistics.median(values):.2f} B a logit in its backward pass, "
              f"{min(values):.2f} to {max(values):.2f}")
    for (model, blocks), values in sorted(saved.items()):
        print(f"{model}, {blocks} blocks: {values:.0f} values of 16 bits saved a token and layer")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    forerun = sys.argv[1]
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("h100_blocks.jsonl")
    cluster = sys.argv[3] if len(sys.argv) > 3 else "dgx-h100"
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        check(line)
    rows = [(line, predict(forerun, cluster, line)) for line in lines if line["kind"] == "blocks"]
    ran = [(line, found) for line, found in rows if line["outcome"] == "ran"]
    if not ran:
        raise Malformed(f"no setting of {path} ran")
    print(f"{'setting':97} {'GB':>6} {'pred.':>6} {'%':>6}  {'res/a':>5} {'out':>5} {'ms':>7} {'pred.':>7} {'%':>6}  "
          f"{'W':>4} pred unsaid")
    for line, found in ran:
        print_row(line, found)
    for line, found in rows:
        if line["outcome"] != "ran":
            says = "fits" if found["feasible"] else "does not fit"
            predicted_GB = found["memory_B"]["peak"] / 1e9
            print(f"{line['id']} {line['allocator']}: {line['outcome']}; predicted {predicted_GB:.2f} GB, {says}")
    print_edges([line for line in lines if line["kind"] == "edge"])
    print_counts([line for line, _ in ran])
    print("* outside the 90 % interval.  GB and ms: measured, predicted; res/a: reserved over allocated; "
          "out: GB outside the allocator")
    for key in ("loss", "states", "update", "recompute", "blocks", "attention", "allocator"):
        for value in sorted({line[key] for line, _ in ran}):
            summary(f"{key} {value}", [row for row in ran if row[0][key] == value])
    for family in sorted({line["model"].split("-")[0] for line, _ in ran}):
        summary(f"family {family}", [row for row in ran if row[0]["model"].startswith(family)])
    summary("one rank", [row for row in ran if timed(row[0])])
    summary("all", ran)


if __name__ == "__main__":
    try:
        main()
    except (Malformed, OSError, ValueError) as fault:
        sys.exit(f"compare.py: {fault}")
