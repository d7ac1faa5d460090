#!/bin/sh
# device_groups.sh BIN FAKES law|faults|resume: several GPUs that are not there, with libraries of ours in place of NVIDIA's.
# law: collectives make a cluster file that says the libraries' law again to 1 %.  faults: those of NCCL end in sentences.
# resume: stopped, then killed, four ranks go on where they were; a budget ends them.
# device_groups.sh BIN HIP_FAKES amd: an AMD GPU, with libraries of ours in place of AMD's.
set -u
bin=$1 fakes=$2 part=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_LIBRARY_PATH="$fakes"
failed=0
fail() {
  echo "device_groups.sh: $*"
  failed=1
}

# expect SENTENCE WORDS...: the command ends with 5 and says SENTENCE on standard error
expect() {
  sentence=$1
  shift
  env "$@" >said.out 2>said
  got=$?
  [ "$got" -eq 5 ] || fail "$* ended with $got, not 5: $(tail -n 2 said)"
  grep -q "$sentence" said || fail "$* says: $(tail -n 3 said)
  not: $sentence"
}
calibrate="$bin/forerun calibrate --device cuda --quick --budget 20s --reps 1 --samples"
"$bin/forerun" show dgx-h100 | sed 's/"ranks": 8,/"ranks": 2,/' >base.json

law() {
  # Four GPUs of two nodes: collectives of every kind and count, pairs, groups at once, a product beside: the law to 1 %.
  cat >law.py <<'END'
import json, subprocess, sys
forerun = sys.argv[1]
START, HOP, NVLINK, RAIL = 9e-6, 1.1e-6, 371e9, 46e9
FACTOR = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "all_to_all": 1}
def law(op, ranks, size, rate):
    share = FACTOR[op] * (ranks - 1) / ranks if op in FACTOR else 1
    return START + (1 if op == "send_recv" else ranks - 1) * HOP + share * size / rate
for op in (*FACTOR, "broadcast", "reduce", "send_recv"):
    for ranks, rate in ((2, NVLINK), (4, RAIL)):
        if op == "send_recv" and ranks > 2: continue
        for size in (2048, 524288, 134217728):
            said = subprocess.run([forerun, "collective", "--cluster", "c4.json", "--op", op, "--ranks", str(ranks), "--size",
                                   f"{size} B", "--json"], capture_output=True, text=True, check=True).stdout
            got = json.loads(said)["rows"][0]["time_s"]
            if abs(got / law(op, ranks, size, rate) - 1) > 0.01:
                raise SystemExit(f"device_groups.sh: {op} of {size} B over {ranks} takes {got}, the law {law(op, ranks, size, rate)}")
c = json.load(open("c4.json"))
if abs(c["device"]["interference"] / 0.17 - 1) > 0.01:
    raise SystemExit(f"device_groups.sh: interference is {c['device']['interference']}, the law 0.17")
rows = {}
for line in open("four.jsonl"):
    s = json.loads(line)
    if s["kind"] == "pairs" or s["kind"] == "collective" and s.get("groups", 1) > 1:
        rows[s["kind"], s.get("pairs"), s.get("layout"), s.get("direction")] = s
        if s["kind"] == "pairs":
            wanted = law("send_recv", 2, s["size_B"], NVLINK if s["level"] == "node" else RAIL)
            if abs(s["time_s"] / wanted - 1) > 0.01:
                raise SystemExit(f"device_groups.sh: {s}, the law {wanted}")
for line in open("four.jsonl"):
    s = json.loads(line)
    if s["kind"] != "collective": continue
    chosen = s.get("algorithm"), s.get("protocol")
    wanted = (None, None) if s["op"] in ("all_to_all", "send_recv") else ("tree", "ll") if s["size_B"] <= 65536 else ("ring", "simple")
    if chosen != wanted:
        raise SystemExit(f"device_groups.sh: NCCL's choice is {chosen}, not {wanted}: {s}")
if len(rows) < 6:
    raise SystemExit(f"device_groups.sh: pairs and groups at once: only {list(rows)}")
END
  four="$calibrate four.jsonl --base base.json --only device_kernel,device_memory,device_collective,device_pairs,device_segmented,device_overlap"
  FAKE_CUDA_GPUS=4 FAKE_NCCL_NODE=2 $four --out c4.json --ranks 4 --oversubscribe --node-size 2 >fit.txt 2>said ||
    fail "four ranks ended with $?: $(tail -n 3 said)"
  python3 law.py "$bin/forerun" || failed=1
}

faults() {
  # Without NCCL, or where it cannot begin, all else is measured; a collective that fails or hangs ends in a sentence.
  two="$calibrate two.jsonl --base base.json --out c2.json --ranks 2 --only device_kernel,device_memory,device_collective --force"
  FAKE_CUDA_GPUS=2 FAKE_CUDA_FAULT=ncclCommInitRank:2 $two >fit.txt 2>said || fail "NCCL that does not begin: $(tail -n 2 said)"
  grep -q 'ncclCommInitRank: a fault on demand, code 2; .*; collectives are not measured' said || fail "it is not said: $(cat said)"
  expect 'NCCL: ncclAllReduce: a fault on demand, code 6' FAKE_CUDA_GPUS=2 'FAKE_CUDA_FAULT=ncclAllReduce:6@20' $two
  expect 'hang\|no sign of life\|no progress\|stuck' FAKE_CUDA_GPUS=2 'FAKE_CUDA_HANG=ncclAllReduce@20' $two --patience 1
}

# until LINES: the samples have so many, or the job is over
until_lines() {
  while [ "$(wc -l 2>/dev/null <go.jsonl || echo 0)" -lt "$1" ] && kill -0 "$job" 2>/dev/null; do sleep 0.1; done
}

resume() {
  # Four GPUs of two nodes, products at once and collectives of groups: stopped by a signal, then killed, it goes on.
  rows=device_kernel,device_grouped,device_collective,device_segmented
  go="$bin/forerun calibrate --device cuda --quick --reps 2 --samples go.jsonl --base base.json --out go.json --ranks 4
    --oversubscribe --node-size 2 --only $rows"
  export FAKE_CUDA_GPUS=4 FAKE_NCCL_NODE=2
  FAKE_CUDA_WAIT_US=4000 $go --budget 5m >fit.txt 2>said &
  job=$!
  until_lines 25
  kill -TERM "$job"
  wait "$job"
  [ $? -eq 5 ] || fail "stopped, it did not end with 5: $(tail -n 2 said)"
  stopped=$(wc -l <go.jsonl)
  FAKE_CUDA_WAIT_US=4000 $go --budget 5m --resume >fit.txt 2>said &
  job=$!
  until_lines $((stopped + 25))
  kill -KILL "$job"
  wait "$job"
  [ $? -eq 137 ] || fail "it was over before it was killed: $(tail -n 2 said)"
  # Its ranks notice, and let go of the file.
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    $go --budget 5m --resume >fit.txt 2>said && break
    [ "$i" -lt 15 ] || fail "killed, it does not go on: $(tail -n 2 said)"
    sleep 0.5
  done
  python3 - <<'END' || failed=1
import json
seen, kinds, ends = set(), set(), []
for line in open("go.jsonl"):
    s = json.loads(line)
    if s["kind"] == "end": ends.append(s["reason"])
    if "rep" not in s: continue
    head = tuple((k, v) for k, v in s.items() if k not in ("time_s", "digest", "algorithm", "protocol"))
    if head in seen: raise SystemExit(f"device_groups.sh: twice: {line}")
    seen.add(head)
    kinds.add((s["kind"], s.get("batch", 1) > 1, s.get("groups", 1) > 1))
    if s.get("op") == "all_reduce" and "algorithm" not in s:
        raise SystemExit(f"device_groups.sh: without NCCL's choice: {line}")
wanted = {("kernel", False, False), ("gemm", True, False), ("collective", False, False), ("collective", False, True)}
if not wanted <= kinds: raise SystemExit(f"device_groups.sh: resumed, it has only {kinds}")
if ends[0] != "signal" or ends[-1] != "complete": raise SystemExit(f"device_groups.sh: its ends are {ends}")
END
  # A budget that is too short ends it, and what cannot be left out is there.
  FAKE_CUDA_WAIT_US=4000 "$bin/forerun" calibrate --device cuda --budget 2s --samples short.jsonl --base base.json --out short.json \
    --ranks 4 --oversubscribe --node-size 2 --only $rows >fit.txt 2>said || fail "a short budget: $(tail -n 2 said)"
  grep -q '"reason": "budget"' short.jsonl || fail "a budget of 2 s did not end it: $(tail -n 1 short.jsonl)"
  [ -s short.json ] || fail "a short budget leaves no cluster file"
}

amd() {
  # An AMD GPU: its preset's file with the law in it.
  FAKE_CUDA_NAMES='AMD Instinct MI300X' "$bin/forerun" calibrate --device hip --quick --budget 20s --reps 1 \
    --samples amd.jsonl --out amd.json --only device_kernel,device_memory,device_link >fit.txt 2>said ||
    fail "--device hip ended with $?: $(tail -n 2 said)"
  grep -q 'AMD Instinct MI300X of .* is of mi300x' amd.json || fail "amd.json does not say whose it is: $(head -n 5 amd.json)"
  grep -q '"memory_bandwidth": "3.\(0[7-9]\|1[0-3]\)' amd.json || fail "amd.json is off the law: $(grep memory_bandwidth amd.json)"
}

$part
exit $failed
