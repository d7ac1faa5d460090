#!/bin/sh
# device.sh BIN FAKES law|resume|faults|whole: forerun calibrate --device cuda from samples to a cluster file, with the libraries of FAKES
# in place of NVIDIA's.  law: what they keep is found again to 1 %, and a job that cannot begin says why.  resume: stopped, it
# goes on.  faults: each ends in a sentence.  whole: all of it, with power and with libraries that are missing.
set -u
bin=$1 fakes=$2 part=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failed=0
fail() {
  echo "device.sh: $*"
  failed=1
}

# expect CODE SENTENCE WORDS...: the command ends with CODE and says SENTENCE on standard error
expect() {
  code=$1 sentence=$2
  shift 2
  env "$@" >said.out 2>said
  got=$?
  [ "$got" -eq "$code" ] || fail "$* ended with $got, not $code: $(tail -n 2 said)"
  grep -q "$sentence" said || fail "$* says: $(tail -n 3 said)
  not: $sentence"
}
calibrate="$bin/forerun calibrate --device cuda --quick --budget 2m --reps 3 --out c.json --samples"

no_driver() {
  # Without a GPU's driver: one sentence.  A machine that has one is none to try this on.
  if ! ldconfig -p 2>/dev/null | grep -q libcuda.so.1; then
    expect 1 'libcuda.so.1 is not here' $calibrate none.jsonl
    [ "$(wc -l <said)" -eq 1 ] || fail "no driver is not one line: $(cat said)"
    [ ! -e none.jsonl ] || fail "no driver leaves a file"
    sentence=$(sed "s/^forerun calibrate: [^:]*: //" said)
    "$bin/forerun" doctor --json | grep -qF "$sentence" || fail "doctor does not say: $sentence"
  fi
}

law() {
  expect 2 'did you mean "cuda"' "$bin/forerun" calibrate --device cudda
  expect 2 'belongs to --device' "$bin/forerun" calibrate --base dgx-h100
  expect 1 'sees no GPU' FAKE_CUDA_GPUS=0 $calibrate none.jsonl
  expect 1 'more than the 1 GPU of this host' $calibrate none.jsonl --ranks 2
  expect 1 'cuInit: a fault on demand' FAKE_CUDA_FAULT=cuInit:803 $calibrate none.jsonl
  expect 1 'GPU 0: cuMemAlloc_v2: out of memory' FAKE_CUDA_FAULT=cuMemAlloc_v2:2 $calibrate none.jsonl
  expect 1 'one kind at a time' FAKE_CUDA_GPUS=2 'FAKE_CUDA_NAMES=NVIDIA H100;NVIDIA H200' $calibrate none.jsonl --ranks 2
  [ ! -e none.jsonl ] || fail "a job without a device leaves a file"

  # The law again.
  rows=device_kernel,device_memory,device_link,device_gemm,device_grouped,device_attention
  [ "$part" != whole ] || rows=$rows,device_power
  $calibrate law.jsonl --only $rows >fit.txt 2>said || fail "calibrate ended with $?: $(tail -n 3 said)"
  python3 - <<'END' || failed=1
import json
def SI(text):
    value, unit = text.split()
    return float(value) * {"T": 1e12, "G": 1e9, "M": 1e6, "u": 1e-6}.get(unit[0] if len(unit) > 1 else "", 1)
c = json.load(open("c.json"))
d = c["device"]
wanted = {"efficiency": (d["gemm"]["bf16"]["efficiency"], 0.61), "memory": (SI(d["memory_bandwidth"]), 3.1e12),
          "host_link": (SI(d["host_link"]), 52e9), "launch": (SI(d["launch"]), 3.2e-6)}
a = d["attention"]
wanted |= {"flash": (a["flash"], 0.63), "half_keys": (a["half_keys"], 210), "backward": (a["backward"], 0.79),
           "exponentials": (a["exponentials"], 80),
           "grouped": (d["gemm"]["bf16"]["grouped"], 0.83), "fp8 grouped": (d["gemm"]["fp8"]["grouped"], 0.83)}
if d["power"]["quality"] == "sampled":
    wanted["busy"] = (SI(d["power"]["busy"]), 688)
    wanted["idle"] = (SI(d["power"]["idle"]), 92)
for key, (got, law) in wanted.items():
    if abs(got / law - 1) > 0.01:
        raise SystemExit(f"device.sh: {key} is {got}, the law {law}")
if d["name"] != "NVIDIA H100 80GB HBM3" or "dgx-h100" not in c["source"] or c["levels"][0]["ranks"] != 8:
    raise SystemExit(f"device.sh: the rest is not dgx-h100's: {d['name']}, {c['source']}")
END
  "$bin/forerun" predict --cluster c.json --model llama-3-8b --set tp=8 >said.out 2>said || fail "predict: $(cat said)"
  "$bin/forerun" fit law.jsonl --base dgx-h200 --out h200.json >said.out 2>said || fail "fit --base: $(cat said)"
  grep -q "with scales of blocks: 1.0[89] times as long" said.out || fail "scales of blocks are not said: $(cat said.out)"

  # A GPU of no preset's kind.
  sed 's/NVIDIA H100 80GB HBM3/NVIDIA X1/; s/, "digest": "[0-9a-f]*"//; s/, "question": "[0-9a-f]*"//' law.jsonl >x1.jsonl
  expect 3 'no preset is of the kind of a NVIDIA X1' "$bin/forerun" fit x1.jsonl
}

resume() {
  # Told to stop, it goes on with --resume; so it does when killed, and not on another card.
  FAKE_CUDA_WAIT_US=20000 $calibrate stop.jsonl --only device_kernel,device_gemm >said.out 2>said &
  job=$!
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s stop.jsonl ] && [ "$(wc -l <stop.jsonl)" -gt 30 ] && break
    sleep 0.25
  done
  kill -TERM "$job"
  wait "$job"
  [ $? -eq 5 ] || fail "stopped, it did not end with 5: $(tail -n 2 said)"
  before=$(wc -l <stop.jsonl)
  expect 3 'device was' 'FAKE_CUDA_NAMES=NVIDIA H200' $calibrate stop.jsonl --resume
  rm -f c.json
  $calibrate stop.jsonl --only device_kernel,device_gemm --resume >fit.txt 2>said || fail "resumed, it ended with $?: $(tail -n 3 said)"
  [ "$(wc -l <stop.jsonl)" -gt "$before" ] || fail "resumed, it measured nothing"
  [ "$(grep -c '"kind": "kernel"' stop.jsonl)" -gt 0 ] || fail "no launch was measured"
}

faults() {
  # While it measures: what was measured is kept.
  expect 5 'GPU 0: cuStreamSynchronize' 'FAKE_CUDA_FAULT=cuStreamSynchronize:214@60' $calibrate fault.jsonl --only device_kernel,device_memory
  [ -s fault.jsonl ] || fail "a fault on the way leaves nothing"
  expect 5 'hang\|no sign of life\|no progress\|stuck' 'FAKE_CUDA_HANG=cuStreamSynchronize@60' $calibrate hang.jsonl --only device_kernel,device_memory --patience 2
}

lacks() {
  # Without cuBLASLt or NVML the rest is measured, and it says so.
  rm -f c.json
  FAKE_CUDA_FAULT=cublasLtCreate:1 $calibrate lack.jsonl --only device_kernel,device_memory,device_gemm >said.out 2>said ||
    fail "without cuBLASLt it ended with $?"
  grep -q 'nothing is known of products of GPUs' said || fail "without cuBLASLt it does not say so: $(cat said)"
  grep -q '"gemm"' lack.jsonl && fail "without cuBLASLt there are products"
  rm -f c.json
  FAKE_CUDA_FAULT='cublasLtMatmulAlgoGetHeuristic:15@2' $calibrate few.jsonl --only device_kernel,device_memory >said.out 2>said ||
    fail "a dtype that is not there: $(tail -n 2 said)"
  FAKE_CUDA_MIG=1 $calibrate mig.jsonl --only device_kernel >said.out 2>said
  grep -q 'is divided (MIG)' said || fail "a divided GPU is not said: $(cat said)"
  "$bin/forerun" doctor >said.out 2>said
  grep -q 'gpus  *works  *calibrate --device cuda: 1 GPU' said.out || fail "doctor does not see the GPU: $(cat said.out)"
}

is() { [ "$part" = "$1" ] || [ "$part" = whole ]; }
! is law || no_driver
export LD_LIBRARY_PATH="$fakes"
! is law || law
! is resume || resume
! is faults || faults
[ "$part" != whole ] || lacks
exit $failed
