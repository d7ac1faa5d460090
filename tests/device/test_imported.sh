#!/bin/sh
# test_imported.sh PYTHON FORERUN: timings of a GPU are imported and fitted, and the blocks trained on it are predicted
# from that file alone.  Ends with 77 where third-party data (FORERUN_DATA, or ../shared/data) has no timings.
#
# The bounds are the errors of 27 November 2026 rounded up: they may fall, and do not rise unseen.
set -eu
python=$1 forerun=$2
here=$(cd "$(dirname "$0")" && pwd)
data=${FORERUN_DATA:-$here/../../../shared/data}/gpu
[ -f "$data/h200_timings.jsonl" ] && [ -f "$data/h100_timings.jsonl" ] || exit 77
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export PYTHONDONTWRITEBYTECODE=1

fitted() { # fitted CARD : $out/CARD.json
  "$forerun" import gpu "$data/$1_timings.jsonl" >"$out/$1.jsonl" 2>/dev/null
  "$forerun" fit "$out/$1.jsonl" --base "dgx-$1" --out "$out/$1.json" >/dev/null 2>&1
}

judge() { # judge CARD MOST_TIME MOST_MEMORY N : mean errors of the settings of one rank, in percent, N of N inside
  fitted "$1"
  "$python" "$here/compare.py" "$forerun" "$here/$1_blocks.jsonl" "$out/$1.json" >"$out/said"
  sed -n 's/^one rank .*memory mean *\([0-9.]*\) .*inside *\([0-9]*\) of .*time mean *\([0-9.]*\) .*inside *\([0-9]*\) of .*/\1 \2 \3 \4/p' \
    "$out/said" | awk -v time="$2" -v memory="$3" -v n="$4" '
    { good = $1 <= memory && $2 == n && $3 <= time && $4 == n } END { exit !good }' || {
    echo "$1: expected at most $2 % of time and $3 % of memory, $4 of $4 inside:"
    grep '^one rank ' "$out/said"
    exit 1
  }
}
judge h200 3.5 0.5 45
judge h100 3.5 1.0 68

"$python" "$here/stacks.py" "$forerun" "$data/h200_timings.jsonl" "$out/h200.json" >"$out/said"
tail -n 1 "$out/said" | sed -n 's/^all  mean *\([0-9.]*\) .*inside \([0-9]*\) of \([0-9]*\)$/\1 \2 \3/p' |
  awk '{ good = $1 <= 3 && $2 == $3 } END { exit !good }' || {
  echo "stacks of blocks on the H200: expected at most 3 %, each inside its interval:"
  cat "$out/said"
  exit 1
}
