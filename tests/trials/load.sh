#!/bin/sh
# load.sh N SECONDS: N processes that compute for so long, 1 to 64 of them and at most an hour; for
# tests and trials of what Forerun makes of a busy machine.  They end with this script, however it ends.
set -u
n=${1-} seconds=${2-}
case $n$seconds in '' | *[!0-9]*) n=0 ;; esac
if [ "$#" -ne 2 ] || [ "$n" -lt 1 ] || [ "$n" -gt 64 ] || [ "$seconds" -lt 1 ] ||
  [ "$seconds" -gt 3600 ]; then
  echo "usage: load.sh N SECONDS   (1 to 64 processes, 1 to 3600 s)" >&2
  exit 2
fi
pids=
stop() {
  # shellcheck disable=SC2086 # one word a process
  kill $pids 2>/dev/null
}
trap 'stop; exit 143' HUP INT TERM
i=0
while [ "$i" -lt "$n" ]; do
  # Awk looks up from time to time whether its parent still lives: kill -9 of it ends them too.
  awk -v parent=$$ -v seconds="$seconds" 'BEGIN {
    srand(); begin = srand(); path = "/proc/" parent "/stat"
    do {
      for (i = 0; i < 1000000; i++) x = x * 1.0000001 + i
      srand(); now = srand()
      lives = (getline line < path) > 0; close(path)
    } while (lives && now - begin < seconds)
  }' &
  pids="$pids $!"
  i=$((i + 1))
done
wait
