#!/bin/sh
# memory.sh BIN -- a job of which one rank gets less memory than it asks for ends on all of them within
# half a minute, with exit code 1 and a sentence that says why; and forerun calibrate with it.
set -eu
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fail() { echo "memory.sh: $*"; cat err; exit 1; }

# Rank 1 alone is limited, to what MPI and BLAS need and not the set that memory streams over.
cat >limited <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || ulimit -v 700000
exec "$@"
END
chmod +x limited
code=0
timeout 60 "$bin/forerun" calibrate --launcher "mpirun --oversubscribe -np 2 $work/limited" --only memory \
  --budget 5 --launches 1 --samples s.jsonl --out c.json >out 2>err || code=$?
[ "$code" = 1 ] || fail "exit $code, wanted 1"
grep -q 'out of memory on rank 1' err || fail 'no sentence of it'
[ ! -e c.json ] || fail 'a cluster file of nothing'
sleep 1
for process in /proc/[0-9]*; do
  [ "$(readlink "$process/cwd" 2>/dev/null)" != "$work" ] || [ "${process#/proc/}" = $$ ] ||
    ! grep -q forerun-mpi "$process/comm" 2>/dev/null || fail "rank ${process#/proc/} is left"
done
