#!/bin/sh
# mutate.sh [--seed S] [--count N] [--without golden] [--dir DIR] [FOLDER...]
#
# Would the tests notice?  N single changes of the code (mutate.c says which), one at a time, in a copy
# of the tree under DIR, the checkout being left alone: build, run the tests that are likeliest to notice
# first, stop at the first that fails.  FOLDER: where to change (default models sim search and the fits
# of calibrate).  The same seed on the same tree makes the same changes; a run that was interrupted goes
# on where it stopped.
#
#     killed     a test fails, or does not end
#     stillborn  does not compile: nothing to notice
#     survived   every test passes; or stands in tests/mutation/survivors with a reason
#
# A developer's tool, not among the tests: a second or two a change, minutes for the first build.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
seed=1 count=20 golden=yes dir=${TMPDIR:-/tmp}/forerun-mutation-$(id -u)

usage() {
  sed -n '2s/^# /usage: /p' "$0" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
  --seed | --count | --dir | --without) [ $# -ge 2 ] || usage ;;
  esac
  case $1 in
  --seed) seed=$2 && shift 2 ;;
  --count) count=$2 && shift 2 ;;
  --dir) dir=$2 && shift 2 ;;
  --without)
    [ "$2" = golden ] || usage
    golden=no && shift 2
    ;;
  -*) usage ;;
  *) break ;;
  esac
done
case $seed$count in *[!0-9]*) usage ;; esac

tree=$dir/tree build=$dir/build bin=$dir/build/bin
mkdir -p "$tree" "$build"
dir=$(cd "$dir" && pwd)
export LC_ALL=C

# ---- the copy ------------------------------------------------------------------------------------

# Times are kept, so that only what changed since the last run is built again; a file that a run left
# changed is put back and touched.
cd "$root"
if [ -s "$dir/changed" ]; then
  changed=$(cat "$dir/changed")
  cp "$changed" "$tree/$changed"
fi
: >"$dir/changed"
if git rev-parse --git-dir >/dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard
else
  find . -name build -prune -o -type f -print0
fi >"$dir/files"
tr '\0' '\n' <"$dir/files" | while read -r file; do [ -e "$file" ] && echo "$file"; done >"$dir/list"
tar -cf - -T "$dir/list" | tar -xf - -C "$tree"
(cd "$tree" && find . -type f | sed 's|^\./||' | sort) >"$dir/have"
sort "$dir/list" | comm -13 - "$dir/have" | while read -r file; do rm -f "$tree/$file"; done

# Data of others, where there are some: tests look for them from where they run upwards.
if [ -z "${FORERUN_DATA:-}" ]; then
  for up in . .. ../..; do
    [ -d "$root/$up/shared/data" ] && FORERUN_DATA=$root/$up/shared/data && break
  done
fi
export FORERUN_DATA="${FORERUN_DATA:-/nonexistent}"

# ---- the build -----------------------------------------------------------------------------------

modules='base topology models sim search traces calibrate plots app'
tests=
for module in $modules laws paper; do
  for file in "$tree/tests/$module"/test_*.c; do
    [ -e "$file" ] || continue
    name=$(basename "$file" .c)
    [ "$module.$name" = paper.test_training ] || tests="$tests test_${module}_${name#test_}"
  done
done
libraries=
for module in $modules; do libraries="$libraries fr_$module"; done

cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS='-O1 -DNDEBUG -Wno-maybe-uninitialized' \
  -DFR_LIBRARY_KIND=SHARED -DCMAKE_LINK_DEPENDS_NO_SHARED=ON >"$dir/cmake.log" ||
  { cat "$dir/cmake.log" >&2 && exit 1; }
programs='forerun forerun-mpi golden-canonical'
ninja -C "$build" -t targets all | grep -q '^forerun-simgrid:' && programs="$programs forerun-simgrid"
# shellcheck disable=SC2086  # lists of names
ninja -C "$build" $libraries $tests $programs >"$dir/build.log" 2>&1 ||
  { tail -30 "$dir/build.log" >&2 && exit 1; }
cc -std=c17 -O1 -o "$dir/mutate" "$root/tests/mutation/mutate.c"

# ---- the tests as they are -----------------------------------------------------------------------

now() { date +%s.%N; }
run_test() { # run_test NAME SECONDS: true where it passes
  code=0
  (cd "$build/tests" && exec timeout -s KILL "$2" "$bin/$1" </dev/null >"$dir/out" 2>&1) || code=$?
  [ $code -eq 0 ] || [ $code -eq 77 ]
}

: >"$dir/baseline"
for test in $tests; do
  from=$(now)
  if run_test "$test" 300; then
    echo "$(now) $from $test" | awk '{printf "%.3f %s\n", $1 - $2, $3}' >>"$dir/baseline"
  else
    echo "mutate.sh: $test fails as it is, and is left out" >&2
  fi
done
sort -n "$dir/baseline" -o "$dir/baseline"

# Likeliest first: those named like the file, laws, those of its module, then the rest, quick before slow.
# Tests of modules further down, or beside, do not hold the changed code at all.
holds() { # holds FOLDER: modules whose tests link it
  case $1 in
  base) echo "base topology models sim search traces calibrate plots app laws paper" ;;
  topology) echo "topology models sim search traces calibrate plots app laws paper" ;;
  models) echo "models sim search traces calibrate plots app laws paper" ;;
  *) echo "$1 app laws paper" ;;
  esac
}
order() { # order FILE
  awk -v stem="$(basename "$1" .c)" -v module="${1%%/*}" -v holds=" $(holds "${1%%/*}") " '{
    split($2, word, "_")
    if (!index(holds, " " word[2] " ")) next
    rank = index($2, stem) ? 0 : $2 ~ /^test_laws_/ ? 1 : index($2, "test_" module "_") ? 2 : 3
    if ($1 > 1) rank = 4
    print rank, $1, $2
  }' "$dir/baseline" | sort -n -k1,1 -k2,2 -s | awk '{print $2, $3}'
}

killed_by() { # killed_by FILE: the first test that fails; false where none does
  order "$1" >"$dir/order"
  while read -r seconds test; do
    limit=$(echo "$seconds" | awk '{printf "%d", 20 + 10 * $1}')
    run_test "$test" "$limit" || { echo "$test" && return; }
  done <"$dir/order"
  [ $golden = yes ] || return 1
  timeout -s KILL 300 "$tree/tests/golden/golden.sh" check "$bin" >"$dir/out" 2>&1 || echo golden
}

# ---- one after another ---------------------------------------------------------------------------

[ $# -gt 0 ] || set -- models sim search calibrate/fit calibrate/numbers calibrate/runs/coefficient \
  calibrate/runs/interval calibrate/runs/odds calibrate/runs/profile_fit calibrate/runs/score calibrate/runs/tune
cd "$tree"
files=$(for place; do find . -path "./$place*" -name '*.c' | sed 's|^\./||'; done | sort -u)
[ -n "$files" ] || { echo "mutate.sh: no sources in $*" >&2 && exit 2; }
# shellcheck disable=SC2086
"$dir/mutate" pick "$seed" "$count" $files >"$dir/picked"
key=$(cat "$dir/picked" "$dir/baseline" | cut -f1-6 | grep -v '^[0-9.]* ' | cksum | cut -d' ' -f1)
results=$dir/results.$seed.$count.$key
touch "$results"
tab=$(printf '\t')

excused() { # excused FILE LINE-AS-CHANGED: the reason
  awk -F '\t' -v file="$1" -v line="$2" '$1 == file && $2 == line {print $3; found = 1} END {exit !found}' \
    "$root/tests/mutation/survivors"
}

restore() {
  [ -s "$dir/changed" ] || return 0
  changed=$(cat "$dir/changed")
  cp "$dir/original" "$tree/$changed" && : >"$dir/changed"
}
trap 'restore' EXIT
trap 'exit 1' INT TERM HUP

number=0
while IFS=$tab read -r file line offset length replacement original; do
  number=$((number + 1))
  grep -q "^$number$tab" "$results" && continue
  cp "$file" "$dir/original"
  echo "$file" >"$dir/changed"
  "$dir/mutate" apply "$dir/original" "$offset" "$length" "$replacement" >"$file"
  changed_line=$(sed -n "${line}s/^ *//p" "$file")
  verdict=survived by=
  # shellcheck disable=SC2086
  if ! ninja -C "$build" $libraries >"$dir/build.log" 2>&1; then
    verdict=stillborn
  elif by=$(killed_by "$file") && [ -n "$by" ]; then
    verdict=killed
  elif by=$(excused "$file" "$changed_line"); then
    verdict=equivalent
  fi
  restore
  echo "$number$tab$verdict$tab$by$tab$file:$line$tab$original$tab$replacement$tab$changed_line" >>"$results"
  printf '%3d/%d %-10s %s:%s  %s -> %s  %s\n' "$number" "$count" "$verdict" "$file" "$line" "$original" \
    "$replacement" "${by:+(${by#test_})}"
done <"$dir/picked"

# ---- what came out -------------------------------------------------------------------------------

awk -F '\t' -v golden="$golden" '
  {n[$2]++; if ($3 == "golden") by_golden++; if ($2 == "survived") left[++m] = $4 "\t" $7 "\t(" $5 " -> " $6 ")"}
  END {
    tried = n["killed"] + n["survived"]
    printf "%d changes: %d killed, %d survived, %d equivalent, %d stillborn\n", NR, n["killed"], n["survived"],
           n["equivalent"], n["stillborn"]
    if (tried) printf "killed: %.1f %%", 100 * n["killed"] / tried
    if (tried && golden == "yes") printf "; without the golden outputs: %.1f %%", 100 * (n["killed"] - by_golden) / tried
    print ""
    for (i = 1; i <= m; i++) print "survived  " left[i]
  }' "$results"
