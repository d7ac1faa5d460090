#!/bin/sh
# survive.sh BIN -- what a calibration does when told to stop, when it is killed, and when it is
# resumed on another machine.  It ends within seconds; half a minute is a busy machine's.  Every day one signal and one verb; all of them where FR_WHOLE is set.
set -eu
bin=$1
work=$(mktemp -d)
job=
trap '[ -z "$job" ] || kill "$job" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "$*"
  echo '--- the job said:'
  cat log
  exit 1
}

lines() { if [ -e s.jsonl ]; then wc -l <s.jsonl; else echo 0; fi; }
children() { cat "/proc/$1/task/$1/children"; }

start() { # in the background, and wait until it has measured something
  rm -f log
  "$bin/forerun" calibrate --ranks 2 --quick --budget 1h --launches 1 --only all_reduce,send_recv,kernel,memory,gemm \
    --samples s.jsonl --out c.json >log 2>&1 &
  job=$!
  before=$(lines)
  n=0
  while [ "$(lines)" -le $((before + 20)) ]; do
    n=$((n + 1))
    [ $n -lt 400 ] || fail 'nothing is measured'
    sleep 0.1
  done
}

ended() { # ended WANTED SECONDS WHAT : the job's exit code, and in time
  from=$(date +%s)
  code=0
  wait "$job" || code=$?
  job=
  [ "$code" = "$1" ] || fail "$3: exit $code, wanted $1"
  [ $(($(date +%s) - from)) -le "$2" ] || fail "$3: took more than $2 s"
}

for signal in TERM ${FR_WHOLE:+USR1}; do
  rm -f s.jsonl
  start
  kill -"$signal" "$job"
  ended 5 30 "SIG$signal"
  grep -q '"reason": "signal"' s.jsonl || fail "SIG$signal: the file does not say why it ends"
  grep -q -- --resume log || fail "SIG$signal: --resume is not mentioned"
done

# Told to stop, --check leaves the samples as they were, and nothing beside them.
cp s.jsonl before.jsonl
"$bin/forerun" calibrate --ranks 2 --check --budget 1h --samples s.jsonl >log 2>&1 &
job=$!
n=0
while [ "$(cat s.jsonl.check-* 2>/dev/null | wc -l)" -lt 2 ]; do
  n=$((n + 1))
  [ $n -lt 400 ] || fail '--check measures nothing'
  sleep 0.1
done
kill -TERM "$job"
ended 5 30 '--check'
grep -q 's.jsonl: is as it was' log || fail '--check does not say that it was stopped'
cmp s.jsonl before.jsonl || fail '--check changed the samples'
[ "$(echo s.jsonl*)" = s.jsonl ] || fail "--check leaves $(echo s.jsonl*)"

# Killed, it cannot; the next one removes what nobody holds, and lets one that still measures be.
check() { # check : in the background, until it has measured something into a file of its own
  known=" $(echo s.jsonl.check-*) "
  "$bin/forerun" calibrate --ranks 2 --check --budget 1h --samples s.jsonl >log 2>&1 &
  job=$!
  n=0
  while mine=; for f in s.jsonl.check-*; do
    case $known in *" $f "*) ;; *) mine=$f ;; esac
  done; [ ! -s "${mine:-/}" ] || [ -d "${mine:-/}" ]; do
    n=$((n + 1))
    [ $n -lt 400 ] || fail '--check measures nothing'
    sleep 0.1
  done
}
check
kill -KILL "$job"
wait "$job" 2>/dev/null || true
left=$mine
[ -e "$left" ] || fail 'nothing is left of a --check that was killed: this test tests nothing'
check
[ ! -e "$left" ] || fail "--check leaves $left of one that was killed"
other=$job others=$mine
check
[ -e "$others" ] || fail '--check takes the file of another that measures'
kill -TERM "$job" "$other"
ended 5 30 'one --check'
job=$other
ended 5 30 'the other --check'
[ "$(echo s.jsonl*)" = s.jsonl ] || fail "--check leaves $(echo s.jsonl*)"

# kill -9 of forerun: nothing can be handed on, and no rank is left soon.
rm -f s.jsonl
start
ranks=
for mpirun in $(children "$job"); do ranks="$ranks $mpirun $(children "$mpirun")"; done
kill -KILL "$job"
wait "$job" 2>/dev/null || true
job=
lives() { [ -e "/proc/$1" ] && ! grep -q '^State:.*Z' "/proc/$1/status"; }
for rank in $ranks; do
  n=0
  while lives "$rank"; do
    n=$((n + 1))
    [ $n -lt 300 ] || fail "kill -9 leaves process $rank: $(cat "/proc/$rank/comm")"
    sleep 0.1
  done
done

# Two commands do not write to one file, whatever the second is told; the first goes on.
refused() { # refused FILE COMMAND... : with the sentence, while $job writes to FILE
  code=0
  from=$1
  shift
  "$bin/forerun" "$@" >other 2>&1 || code=$?
  [ $code = 1 ] || fail "$* beside another: exit $code, wanted 1"
  grep -q "$from: is being written by process" other || fail "$* beside another: $(cat other)"
}
rm -f s.jsonl
start
for how in --resume --force; do
  refused s.jsonl calibrate --ranks 2 --quick --only kernel --samples s.jsonl --out other.json "$how"
done
kill -0 "$job" || fail 'the first calibration has ended'
kill -TERM "$job"
ended 5 30 'SIGTERM beside another'
for verb in 'validate --cluster frontier --ranks 2 --passes 10000' \
  ${FR_WHOLE:+'quality --ranks 2 --steps 10000 --every 100 --rates 0.01 --seeds 1'} \
  ${FR_WHOLE:+'iterations --width 512 --tp 2 --ghost 4 --loss 1e-6 --most 100000000'}; do
  rm -f v.jsonl
  # shellcheck disable=SC2086 # words
  "$bin/forerun" $verb --samples v.jsonl >log 2>&1 &
  job=$!
  n=0
  # Once its ranks run it has written what they are to do.
  while [ ! -s v.jsonl ] || [ -z "$(children "$job")" ]; do
    n=$((n + 1))
    [ $n -lt 400 ] || fail "$verb begins nothing"
    sleep 0.1
  done
  for how in --resume --force; do
    # shellcheck disable=SC2086
    refused v.jsonl $verb --samples v.jsonl "$how"
  done
  kill -TERM "$job" || fail "$verb has ended"
  wait "$job" 2>/dev/null || true
  job=
done

# Another number of ranks is another environment, and the message says so.
code=0
"$bin/forerun" calibrate --ranks 1 --only kernel --samples s.jsonl --out c.json --resume >log 2>&1 || code=$?
[ $code = 3 ] || fail "a changed environment: exit $code, wanted 3"
grep -q 'ranks was 2, is 1' log || fail 'what has changed is not named'
echo 'signals save and stop, kill -9 leaves no rank, two do not write to one file, a check that is stopped leaves nothing, a changed environment is refused'
