#!/bin/sh
# memory.sh BIN -- a job of which one rank gets less memory than it asks for ends on all of them within
# half a minute, with exit code 1 and a sentence that says why, whoever of the program and its libraries
# asks; and forerun calibrate with it.
set -eu
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fail() { echo "memory.sh, $limit kB: $*"; cat err; exit 1; }

# Rank 1 alone is limited: to about what MPI, BLAS (128 MiB) and the set that memory streams over need, to less,
# and to what MPI alone needs.  How large the set is (64 to 512 MiB) is the machine's cache's to say, so that of
# the most either may come.
cat >limited <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || ulimit -v "$LIMIT"
exec "$@"
END
chmod +x limited
ended=0
for limit in 1000000 700000 550000; do
  export LIMIT=$limit
  rm -f c.json
  code=0
  timeout 30 "$bin/forerun" calibrate --launcher "mpirun --oversubscribe -x LIMIT -np 2 $work/limited" --only memory \
    --budget 3 --launches 1 --samples s.jsonl --force --out c.json >out 2>err || code=$?
  case $code in
  0) [ -s c.json ] || fail 'no cluster file' ;;
  1)
    grep -q 'out of memory on rank 1' err || fail 'no sentence of it'
    [ ! -e c.json ] || fail 'a cluster file of nothing'
    ended=$((ended + 1))
    ;;
  *) fail "exit $code, wanted 0 or 1" ;;
  esac
  sleep 1
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/cwd" 2>/dev/null)" != "$work" ] || [ "${process#/proc/}" = $$ ] ||
      ! grep -q forerun-mpi "$process/comm" 2>/dev/null || fail "rank ${process#/proc/} is left"
  done
done
[ "$ended" -gt 0 ] || fail 'memory enough every time'
