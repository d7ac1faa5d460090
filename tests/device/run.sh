#!/bin/sh
# run.sh OUT_FOLDER [SECONDS]: trains blocks of transformers on the GPU of this machine and writes what was measured to
# OUT_FOLDER/blocks.jsonl, first with expandable segments, then with PyTorch's default allocator.
#   SECONDS   after which each of the two begins nothing new (default 200)
# Needs a python3 with PyTorch that sees a GPU, and nothing else; sets nothing of the card.  What OUT_FOLDER holds
# already is not measured again.  README.md says what the lines mean, compare.py puts predictions beside them.
set -u
if [ "$#" -lt 1 ]; then
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
fi
out=$1 seconds=${2-200}
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
