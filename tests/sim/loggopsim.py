"""loggopsim.py FORERUN -- exported GOAL schedules in the real simulators (LogGOPSim, and ATLAHS's copy of it).

Each program of PROGRAMS is exported, turned into GOAL's binary form by the tool's own txt2bin and played with the latency
that Forerun takes for a message between stages; the end must be what `forerun predict` says, to a nanosecond for each
operation, as work is rounded to nanoseconds.  Two things GOAL's simulators count otherwise: words of one byte (gradients
beside the passes, tied embeddings) cost a latency too, and messages of a latency alone are not sent one by one nor queue at
an adapter; programs with them are played with messages that take no time in either.
The tools are looked for in the folders of FORERUN_TOOLS (separated by ":"), each with
txt2bin and LogGOPSim, and on PATH; without any the test is skipped."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FORERUN = sys.argv[1]
QUIET = [f"cluster.levels.{i}.{what}" for i in (0, 1) for what in ("latency=0 s", "bandwidth=1000 PB/s")]
STAGES = {"kind": "stages", "forward": "1 ms", "backward": "2 ms", "message": "1 MB"}
PROGRAMS = [
    (model, f"pp={pp}", f"global_batch={batch}", *more)
    for model, pp, batch, *more in [
        ("stages", 1, 4), ("stages", 2, 8), ("stages", 4, 8), ("stages", 8, 16),
        ("stages", 4, 8, "schedule=gpipe"), ("stages", 2, 6, "schedule=gpipe"),
        ("stages", 4, 8, "schedule=zero-bubble"), ("stages", 8, 8, "schedule=zero-bubble"),
        ("stages", 4, 16, "schedule=interleaved", "chunks=2"),
        ("stages", 2, 8, "schedule=interleaved", "chunks=4"),
        ("llama-3-8b", 2, 8, "tp=4"), ("llama-3-8b", 4, 16, "tp=4"), ("llama-3-8b", 8, 16, "tp=2"),
        ("llama-3-8b", 4, 8, "tp=4", "schedule=gpipe"), ("llama-3-8b", 4, 16, "tp=4", "schedule=zero-bubble"),
        ("llama-3-8b", 4, 16, "tp=4", "schedule=interleaved", "chunks=2"),
        ("llama-3-8b", 1, 16, "tp=8", "dp=2"), ("llama-3-8b", 4, 32, "tp=4", "dp=2", "overlap=none"),
        ("llama-3-8b", 4, 32, "tp=4", "dp=2", "overlap=gradient"),
        ("gpt-2.5b", 4, 16, "tp=8", "dp=2"),
    ]
]


def tools():
    folders = [f for f in os.environ.get("FORERUN_TOOLS", "").split(":") if f]
    found = [f for f in folders if os.access(os.path.join(f, "LogGOPSim"), os.X_OK)]
    on_path = shutil.which("LogGOPSim")
    return found + ([os.path.dirname(on_path)] if on_path else [])


def forerun(*words):
    return subprocess.run([FORERUN, *words], check=True, capture_output=True, text=True).stdout


def value(document, key):
    """The first value of a key, however deep it is."""
    if isinstance(document, dict):
        if key in document:
            return document[key]
        for inner in document.values():
            found = value(inner, key)
            if found is not None:
                return found
    return None


def end_ns(folder, binary, latency_ns):
    words = ["-b", "-f", binary, "-L", latency_ns, "-o", 0, "-g", 0, "-G", 0, "-O", 0, "-S", 2**30]
    said = subprocess.run([os.path.join(folder, "LogGOPSim"), *map(str, words)], check=True,
                          capture_output=True, text=True).stdout
    return int(re.search(r"Maximum finishing time at host \d+: (\d+)", said)[1])


def is_quiet(model, sets):
    crowded = model != "stages" and any(s in ("schedule=zero-bubble", "schedule=interleaved") for s in sets)
    shared = "dp=2" in sets and "pp=1" not in sets  # messages of two pipelines queue at one adapter
    return crowded or shared or model == "gpt-2.5b" or "overlap=gradient" in sets


def options(path, sets):
    return ["--cluster", "a100-hdr", "--model", path, *(w for s in sets for w in ("--set", s))]


def message_ns(path, sets):
    """Of one micro-batch in one pipeline, two messages are on the way there and back for each boundary."""
    stages = int(sets[0].split("=")[1])
    if stages == 1:
        return 0
    sets = [s for s in sets if not s.startswith(("schedule", "chunks", "global_batch", "overlap"))]
    dp = next((int(s[3:]) for s in sets if s.startswith("dp=")), 1)
    said = json.loads(forerun("predict", *options(path, [*sets, f"global_batch={dp}", "overlap=none"]), "--json"))
    return 1e9 * value(said, "pp_comm") / (2 * (stages - 1))


def main():
    found = tools()
    if not found:
        print("skipped: no LogGOPSim on PATH or in the folders of FORERUN_TOOLS")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        stages = os.path.join(scratch, "stages.json")
        with open(stages, "w", encoding="utf-8") as file:
            json.dump(STAGES, file)
        goal, binary = os.path.join(scratch, "a.goal"), os.path.join(scratch, "a.bin")
        for model, *sets in PROGRAMS:
            path = stages if model == "stages" else model
            quiet = is_quiet(model, sets)
            played = [*sets, *QUIET] if quiet else sets
            forerun("export", "goal", *options(path, played), "--out", goal)
            said = json.loads(forerun("predict", *options(path, played), "--json"))
            want = 1e9 * (value(said, "iteration_time_s") - value(said, "fixed"))
            latency = 0 if quiet else message_ns(path, sets)
            with open(goal, encoding="utf-8") as file:
                slack = file.read().count(":")
            for folder in found:
                subprocess.run([os.path.join(folder, "txt2bin"), "-i", goal, "-o", binary], check=True,
                               capture_output=True)
                got = end_ns(folder, binary, round(latency))
                good = abs(got - want) <= slack
                wrong += not good
                print(f"{'' if good else 'NOT '}within {slack:.0f} ns: {model} {' '.join(sets)}: got {got} ns, "
                      f"wanted {want:.0f} ns, messages of {latency:.0f} ns")
    print(f"{len(PROGRAMS)} programs, {len(found)} simulators, {wrong} off")
    return wrong > 0


sys.exit(main())
