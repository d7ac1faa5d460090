"""stacks.py FORERUN TIMINGS CLUSTER: predictions of the stacks of blocks in TIMINGS (lines of kind "blocks" of a GPU's timings:
forward and backward pass of so many blocks, nothing else), beside what was measured.

A stack is what twice as many blocks take in addition: embedding, loss and all that comes once cancel out.  The update of
their parameters is left out by a memory traffic of nothing.  The timings name models whose shapes are below; Qwen3's
0.6b is in them with heads of 64 values, which its number of parameters says.  Attention is cuDNN's, PyTorch's choice on
these cards with keys as many as queries' heads."""
import json
import statistics
import subprocess
import sys

SHAPES = {
    "llama-3-8b": {"hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "ffn": 14336},
    "llama-3-70b": {"hidden": 8192, "heads": 64, "kv_heads": 8, "head_dim": 128, "ffn": 28672},
    "qwen3-0.6b-like": {"hidden": 1024, "heads": 16, "kv_heads": 8, "head_dim": 64, "ffn": 3072},
}
PASSES = {"kind": "transformer", "defaults": "modern", "vocabulary": 1024, "vocabulary_multiple": 1, "gated": True,
          "biases": False, "norm": "rms", "positions": "rotary", "dtype": "bf16", "gradient_dtype": "bf16",
          "optimizer_state": "4 B"}


def predicted(forerun, cluster, line, layers):
    """Time, its bounds, and parameters of a model of so many layers."""
    model = {**PASSES, **SHAPES[line["model"]], "name": line["model"], "layers": layers, "sequence": line["tokens"],
             "global_batch": line["batch"]}
    runtime = "pytorch-compiled-2.11" if line["compiled"] else "pytorch-2.11"
    words = (f"micro_batch={line['batch']}", "attention=flash", "dp=1", "recompute=none", "graphs=none", "overlap=none",
             f"runtime={runtime}", "runtime.framework.update_traffic=1e-9 B")
    command = [forerun, "predict", "--cluster", cluster, "--model", "-", "--json", *(f"--set={word}" for word in words)]
    done = subprocess.run(command, input=json.dumps(model), capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"stacks.py: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    forerun, timings, cluster = sys.argv[1:]
    with open(timings, encoding="utf-8") as file:
        lines = [line for line in map(json.loads, file) if line["kind"] == "blocks"]
    if not lines:
        sys.exit(f"stacks.py: {timings} has no stacks of blocks")
    errors, within = [], 0
    for line in lines:
        one, two = (predicted(forerun, cluster, line, times * line["layers"]) for times in (1, 2))
        time_s = two["iteration_time_s"] - one["iteration_time_s"]
        low, high = (two[f"iteration_time_{end}_s"] / two["iteration_time_s"] for end in ("low", "high"))
        inside = low * time_s <= line["step_s"] <= high * time_s
        errors.append(time_s / line["step_s"] - 1)
        within += inside
        how = "compiled" if line["compiled"] else "eager"
        print(f"{line['layers']:2} x {line['model']:16} {line['batch']} x {line['tokens']} {how:8} "
              f"{1e3 * line['step_s']:7.1f} {1e3 * time_s:7.1f} ms {100 * errors[-1]:+6.1f} %{'' if inside else ' *'}")
    print(f"all  mean {100 * statistics.mean(map(abs, errors)):4.1f} %  bias {100 * statistics.mean(errors):+4.1f} %  "
          f"inside {within} of {len(lines)}")


if __name__ == "__main__":
    main()
