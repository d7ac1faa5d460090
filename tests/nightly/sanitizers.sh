#!/bin/sh
# sanitizers.sh ROOT [SEED] -- one test in six with the address and undefined-behaviour sanitizers, and one in six with
# the thread sanitizer: other ones every night, as SEED (the day, 20261231) says, so that a week tries them all.
set -eu
cd "$1"
seed=${2:-$(date +%Y%m%d)} share=6
case $seed in *[!0-9]*) echo "sanitizers.sh: seed \"$seed\" is to be a whole number" >&2 && exit 2 ;; esac
# shellcheck source=cmake/setup.sh
. cmake/setup.sh
days=$(($(date +%s) / 86400))
[ -z "${2:-}" ] || days=$seed
code=0
for preset in asan tsan; do
  fr_build "$preset"
  first=$((days % share + 1))
  echo "sanitizers: $preset, test $first of every $share"
  ctest --preset "$preset" -I "$first,,$share" --parallel "$(nproc)" || code=$?
done
exit "$code"
