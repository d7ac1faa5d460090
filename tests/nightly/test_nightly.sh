#!/bin/sh
# test_nightly.sh ROOT -- a part of the night whose tools are missing says Skipped and ends with 77; a seed that is none is
# refused; a run of mutations that is stopped leaves no process behind.
set -eu
root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
complain() {
  echo "$*"
  bad=1
}

# Every program of this machine but one.
without() { # without PROGRAM SCRIPT [WORD...]
  rm -rf "$tmp/bin" && mkdir "$tmp/bin"
  for program in sh env dirname date cat nproc grep sed cc gcov cmake ninja timeout seq cksum clang nice mktemp rm; do
    found=$(command -v "$program" || :)
    if [ -n "$found" ] && [ "$program" != "$1" ]; then ln -s "$found" "$tmp/bin/$program"; fi
  done
  shift
  code=0
  PATH=$tmp/bin "$@" >"$tmp/out" 2>&1 || code=$?
}
for tool in gcov cmake ninja timeout; do
  without $tool "$root/tests/nightly/mutation.sh" "$root"
  [ $code = 77 ] && grep -q "^Skipped: .*$tool" "$tmp/out" || complain "mutation.sh without $tool: $code, $(cat "$tmp/out")"
done
without clang "$root/tests/nightly/fuzz.sh" "$root"
[ $code = 77 ] && grep -q '^Skipped: .*clang' "$tmp/out" || complain "fuzz.sh without clang: $code, $(cat "$tmp/out")"
for part in mutation sanitizers; do
  code=0
  "$root/tests/nightly/$part.sh" "$root" today >"$tmp/out" 2>&1 || code=$?
  [ $code = 2 ] || complain "$part.sh with seed today: $code, $(cat "$tmp/out")"
done

# Stopped while it builds: who would work on is named by its folder.
"$root/tests/mutation/mutate.sh" --dir "$tmp/mutation" >"$tmp/out" 2>&1 &
run=$!
sleep 2
kill "$run"
code=0
wait "$run" || code=$?
[ $code != 0 ] || complain 'mutate.sh ends with 0 where it was stopped'
for process in /proc/[0-9]*; do
  words=$({ tr '\0' ' ' <"$process/cmdline"; } 2>/dev/null || :)
  case $words in *"$tmp/mutation"*) complain "left running: $words" ;; esac
done
exit $bad
