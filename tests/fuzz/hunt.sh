#!/bin/sh
# hunt.sh BIN [RUNS [TARGET...]] -- every target, or those named, for RUNS executions (ten million),
# one after the other; what they find is named at the end and lies in ./found.  BIN: build/fuzz/bin.
# New inputs are kept in ./found/<target>, so that a hunt goes on where the last one ended.
set -eu
bin=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
runs=${2:-10000000}
if [ $# -gt 2 ]; then
  shift 2
else
  set -- $(cd "$bin" && ls | sed -n 's/^fuzz_//p')
fi
finds=
for target in "$@"; do
  mkdir -p "found/$target"
  echo "$target: $runs executions"
  "$bin/fuzz_$target" -runs="$runs" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -verbosity=0 \
    ${HUNT_SECONDS:+-max_total_time=$HUNT_SECONDS} -artifact_prefix="found/$target-" \
    "found/$target" "$here/corpus/$target" >"found/$target.log" 2>&1 || finds="$finds $target"
done
[ -z "$finds" ] || {
  echo "found something:$finds (see found/*.log)"
  exit 1
}
echo "nothing found"
