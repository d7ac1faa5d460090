#!/bin/sh
# test_load.sh: load.sh refuses nonsense, ends by itself, and leaves nothing when it is killed.
set -u
load=$(cd "$(dirname "$0")" && pwd)/load.sh
wrong=0
for words in '' '1' '0 5' '65 5' '2 0' '2 3601' 'x 1' '1 -1' '1 2 3'; do
  # shellcheck disable=SC2086 # words
  "$load" $words 2>/dev/null
  [ $? -eq 2 ] || { echo "load.sh $words is accepted"; wrong=1; }
done

lives() { # lives PID... : how many of them still run
  n=0
  for pid; do
    ! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$pid/status" 2>/dev/null || n=$((n + 1))
  done
  echo "$n"
}

"$load" 2 300 &
job=$!
i=0
while children=$(cat "/proc/$job/task/$job/children") && [ "$(echo "$children" | wc -w)" -lt 2 ] &&
  [ $i -lt 200 ]; do
  i=$((i + 1))
  sleep 0.1
done
# shellcheck disable=SC2086 # one word a process
[ "$(lives $children)" -eq 2 ] || { echo "load.sh 2 does not start two: $children"; wrong=1; }
kill -KILL $job
wait $job 2>/dev/null
i=0
# shellcheck disable=SC2086
while [ "$(lives $children)" -gt 0 ] && [ $i -lt 300 ]; do
  i=$((i + 1))
  sleep 0.1
done
# shellcheck disable=SC2086
[ "$(lives $children)" -eq 0 ] || { echo "kill -9 of load.sh leaves its processes"; wrong=1; }

from=$(date +%s)
"$load" 1 1 || { echo "load.sh 1 1 fails"; wrong=1; }
[ $(($(date +%s) - from)) -le 30 ] || { echo "load.sh 1 1 does not end"; wrong=1; }
exit $wrong
