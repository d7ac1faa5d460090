#!/bin/sh
# mutation.sh ROOT [SEED [COUNT]] -- would the tests notice?  COUNT (60) changes of the code, one at a time, drawn by SEED
# (the day, 20261231), as tests/mutation/mutate.sh makes them.  Its last line is the rate:
#
#     mutation: 57 of 60 noticed, 95.0 %; seed 20261231
#
# Builds and what is known of them stay in FORERUN_MUTATION (build/mutation), so that a night builds and measures what
# has changed since the last.  FORERUN_MUTATION_HOURS (12): then it ends, and tells what it has; the same seed goes on
# there.  Exit 77 with a sentence where a tool is missing.
set -eu
root=$(cd "$1" && pwd)
seed=${2:-$(date +%Y%m%d)} count=${3:-60} hours=${FORERUN_MUTATION_HOURS:-12}
case $seed$count in *[!0-9]*) echo "mutation.sh: seed \"$seed\" and count \"$count\" are to be whole numbers" >&2 && exit 2 ;; esac
for tool in cc gcov cmake ninja timeout seq cksum; do
  command -v "$tool" >/dev/null || { echo "Skipped: mutation wants $tool" && exit 77; }
done
[ -d /proc/self/task ] || { echo 'Skipped: mutation wants /proc' && exit 77; }
jobs=$(($(nproc) > 1 ? $(nproc) / 2 : 1))
code=0
timeout "${hours}h" nice -n 10 "$root/tests/mutation/mutate.sh" --seed "$seed" --count "$count" --jobs "$jobs" \
  --dir "${FORERUN_MUTATION:-$root/build/mutation}" || code=$?
[ "$code" != 124 ] || { echo "mutation: ended after $hours hours; seed $seed goes on from here" && code=0; }
exit "$code"
