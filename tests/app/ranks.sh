#!/bin/sh
# ranks.sh BIN -- a search on ranks of MPI has the bytes of a search here, on any number of them and in one piece; one
# whose rank is killed goes on and ends with the same bytes.
set -eu
bin=$1
command -v mpirun >/dev/null || { echo 'skipped: no mpirun'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { n=$1; shift; mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np "$n" "$bin/forerun-mpi" "$@"; }
q='search --cluster a100-hdr --model gpt-2.5b --ranks 32 --set global_batch=128 --fix zero=1 --json'

fail() { echo "ranks.sh: $*"; exit 1; }

"$bin/forerun" $q --checkpoint here >whole
[ "$(grep -c '"kind": "block"' here)" -ge 8 ] || fail "only $(grep -c '"kind": "block"' here) blocks"
for n in 1 2 3 8; do
  run $n $q >ranks.$n
  cmp ranks.$n whole || fail "another answer on $n ranks"
  [ ! -e forerun-search.checkpoint ] || fail "the checkpoint of $n ranks stayed"
done
"$bin/forerun" $q | sed '/"elapsed_s"/d' >plain
sed '/"elapsed_s"/d' whole | cmp - plain || fail 'another answer in one piece'
run 2 $q --threads 3 | cmp - whole || fail 'another answer with 3 threads'

# A rank that is killed once some blocks are done: the job ends, nothing that was done is lost.
run 3 $q >/dev/null 2>said &
job=$!
tries=0
until [ "$(grep -c '"kind": "block".* end", "digest"' forerun-search.checkpoint 2>/dev/null)" -ge 2 ] 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 600 ] && kill -0 $job 2>/dev/null || break
  sleep 0.05
done
launcher=$(pgrep -P $job mpirun || echo $job)
victim=$(pgrep -P "$launcher" forerun-mpi | tail -1)
[ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || :
code=0
wait $job || code=$?
[ -n "$victim" ] || fail "no rank was found to kill"
if [ $code -ne 0 ]; then # else it was done before
  grep -q 'rank . on host' said || fail "nobody named the rank that was killed: $(cat said)"
  done_before=$(grep -c '"kind": "block".* end", "digest"' forerun-search.checkpoint)
  cp forerun-search.checkpoint left
  run 2 $q >/dev/null 2>&1 && fail 'a checkpoint was replaced unasked'
  run 2 $q --resume >resumed || fail 'cannot go on'
  cmp resumed whole || fail "another answer after $done_before blocks and a kill"
  "$bin/forerun" $q --checkpoint left --resume | cmp - whole || fail 'one process cannot go on'
fi

# Of another search, it is refused; so is what a rank cannot read.
sed 1q here >other
"$bin/forerun" $q --objective energy --checkpoint other --resume >/dev/null 2>said && fail 'gone on with another search'
grep -q 'another search' said || fail "$(cat said)"

# A line that is not what was written is dropped, named, and searched again.
{ sed 1q here; echo 'block 0 1 1 of nothing'; sed '1d; 2s/block 0 /block 1 /' here; } >other
"$bin/forerun" $q --checkpoint other --resume 2>said | cmp - whole || fail 'another answer after damage'
grep -q 'forerun: other: line 2 is not what was written' said || fail "$(cat said)"
run 2 search --cluster nosuch --model gpt-2.5b --ranks 8 >out 2>said && fail 'no such cluster'
[ "$(grep -c '^forerun search: nosuch' said)" -eq 1 ] || fail "said more or less than once: $(cat said)"
