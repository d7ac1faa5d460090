#!/bin/sh
# test_compare.sh PYTHON FORERUN: every line of the table is well formed and has a prediction, and the check can fail.
set -eu
python=$1 forerun=$2
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export PYTHONDONTWRITEBYTECODE=1
"$python" "$here/compare.py" "$forerun" >"$out/said"
grep -q '^all  *memory mean .* of 76 ' "$out/said" || {
  echo "compare.py does not end with the mean error of 76 settings:"
  tail -n 1 "$out/said"
  exit 1
}


# From a file that was fitted to the card alone, without the blocks: how near it comes.
"$python" "$here/compare.py" "$forerun" "$here/h200_blocks.jsonl" "$here/h200_fitted.json" >"$out/said"
tail -n 1 "$out/said" | grep -q '^all  *memory mean .* of 45 .*time mean  *[0-3]\.[0-9] %.*inside 45 of 45' || {
  echo "compare.py does not find the H200's 45 settings within 4 % in the mean, each inside its interval:"
  tail -n 1 "$out/said"
  exit 1
}

refused() { # refused SENTENCE SCRIPT : a line changed by SCRIPT of sed is refused with it
  grep '"kind": "blocks"' "$here/h100_blocks.jsonl" | sed -e "$2" -e 1q >"$out/table"
  if "$python" "$here/compare.py" "$forerun" "$out/table" >"$out/said" 2>&1 || ! grep -q "$1" "$out/said"; then
    echo "compare.py takes a line changed by $2, where it should say: $1"
    cat "$out/said"
    exit 1
  fi
}
refused 'a kind is one of' 's/"kind": "blocks"/"kind": "block"/'
refused 'vocabulary is missing' 's/"vocabulary"/"words"/'
refused 'allocated_B is no number above 0' 's/"allocated_B": /"allocated_B": -/'
refused 'not in this order' 's/"shown_B": /"shown_B": 0.1/'
refused 'no prediction' 's/"heads": [0-9]*/"heads": 7/'
refused 'parameters measured' 's/"layers": [0-9]*/"layers": 3/'
refused 'above the peak' 's/"loss_backward": /&9/'
