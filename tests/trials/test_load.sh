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

busy() { # busy PID : how many of its processes still run
  cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -cx "parent=$1"
}

"$load" 2 300 &
job=$!
i=0
while [ "$(busy $job)" -lt 2 ] && [ $i -lt 50 ]; do
  i=$((i + 1))
  sleep 0.1
done
[ "$(busy $job)" -eq 2 ] || { echo "load.sh 2 does not start two"; wrong=1; }
kill -KILL $job
wait $job 2>/dev/null
i=0
while [ "$(busy $job)" -gt 0 ] && [ $i -lt 200 ]; do
  i=$((i + 1))
  sleep 0.1
done
[ "$(busy $job)" -eq 0 ] || { echo "kill -9 of load.sh leaves its processes"; wrong=1; }

from=$(date +%s)
"$load" 1 1 || { echo "load.sh 1 1 fails"; wrong=1; }
[ $(($(date +%s) - from)) -le 30 ] || { echo "load.sh 1 1 does not end"; wrong=1; }
exit $wrong
