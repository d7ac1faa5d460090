#!/bin/sh
# run.sh OUT_FOLDER [SECONDS [FORERUN]]: trains blocks of transformers on the GPU of this machine and writes what was
# measured to OUT_FOLDER/blocks.jsonl, first with expandable segments, then with PyTorch's default allocator.  With
# FORERUN, the program, it then calibrates the GPU: OUT_FOLDER/samples.jsonl, fitted.json, report.html, and in fitted.txt and preset.txt
# what is predicted of the blocks from that file and from the preset of the GPU's kind; traced.txt is what a file made of
# a PyTorch trace says beside them.
#   SECONDS   after which each of the two begins nothing new (default 200; with FORERUN 140, so that all of it takes
#             eight minutes)
# Needs a python3 with PyTorch that sees a GPU, and nothing else; sets nothing of the card.  What OUT_FOLDER holds
# already is not measured again.  README.md says what the lines mean, compare.py puts predictions beside them.
set -u
if [ "$#" -lt 1 ]; then
  sed -n '2,11s/^# //p' "$0" >&2
  exit 2
fi
out=$1 forerun=${3-}
if [ -n "$forerun" ]; then seconds=${2-140}; else seconds=${2-200}; fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" || exit 1
if ! python3 -c 'import torch; raise SystemExit(not torch.cuda.is_available())'; then
  echo "run.sh: python3 has no PyTorch that sees a GPU" >&2
  exit 1
fi
for allocator in expandable_segments:True expandable_segments:False; do
  end=$(($(date +%s) + seconds))
  for try in 1 2 3; do # a failed device wants a new process, which goes on with the next setting
    left=$((end - $(date +%s)))
    [ "$left" -gt 0 ] || break
    PYTORCH_CUDA_ALLOC_CONF=$allocator PYTHONDONTWRITEBYTECODE=1 timeout $((left + 40)) \
      python3 "$here/blocks.py" "$out/blocks.jsonl" --seconds "$left" && break
    echo "run.sh: try $try ended with $?" >&2
  done
done
[ -n "$forerun" ] || exit 0

# cuBLASLt, cuDNN and NCCL are PyTorch's own where the loader knows no others.
libraries=$(python3 -c 'import pathlib, site
print(*{str(p.parent) for s in site.getsitepackages() for p in pathlib.Path(s).glob("nvidia/*/lib/lib*.so.*")}, sep=":")')
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries"
resume=
[ ! -s "$out/samples.jsonl" ] || resume=--resume
"$forerun" doctor >"$out/doctor.txt"
"$forerun" calibrate --device cuda --budget 100s --samples "$out/samples.jsonl" --out "$out/fitted.json" $resume \
  >"$out/fit.txt" || exit 1
sed -n '/^products/,$p' "$out/fit.txt"
"$forerun" fit "$out/samples.jsonl" --json >"$out/fit.json"
"$forerun" report "$out/samples.jsonl" -o "$out/report.html" -f >/dev/null
preset=$(sed -n 's/.*what was not measured is of \([a-z0-9-]*\)".*/\1/p' "$out/fitted.json")
[ -s "$out/trace.json" ] || PYTHONDONTWRITEBYTECODE=1 timeout 60 python3 "$here/trace.py" "$out/trace.json"
if "$forerun" import profiler "$out/trace.json" >"$out/trace.jsonl" 2>"$out/trace.txt" &&
  "$forerun" fit "$out/trace.jsonl" --out "$out/traced.json" -f >>"$out/trace.txt"; then
  clusters='fitted preset traced'
else
  clusters='fitted preset'
fi
cat "$out/trace.txt"
for cluster in $clusters; do
  file=$out/$cluster.json
  [ $cluster != preset ] || file=$preset
  PYTHONDONTWRITEBYTECODE=1 python3 "$here/compare.py" "$forerun" "$out/blocks.jsonl" "$file" >"$out/$cluster.txt" || exit 1
  echo "$cluster: $(tail -n 1 "$out/$cluster.txt")"
done
