#!/bin/sh
# mutate.sh [--seed S] [--count N] [--jobs J] [--without golden] [--dir DIR] [FOLDER...]
#
# Would the tests notice?  N single changes of the code that compile (mutate.c says which are made), one
# at a time, in copies of the tree under DIR, the checkout being left alone: build, run the tests that are
# likeliest to notice first, stop at the first that fails.  FOLDER: where to change (default models sim
# search and the fits of calibrate).  J changes are tried side by side.  The same seed on the same tree
# makes the same changes; a run that was interrupted goes on where it stopped.
#
#     killed      a test fails, or does not end, that passes on the code as it is
#     survived    every test passes
#     equivalent  survived, and stands in tests/mutation/survivors with the reason why nothing can notice
#     stillborn   does not compile: nothing to notice; another is drawn in its place
#
# A developer's tool, not among the tests: seconds a change, minutes for the first build.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
seed=1 count=20 jobs=1 golden=yes dir=${TMPDIR:-/tmp}/forerun-mutation-$(id -u)

usage() {
  sed -n '2s/^# /usage: /p' "$0" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
  --seed | --count | --jobs | --dir | --without) [ $# -ge 2 ] || usage ;;
  esac
  case $1 in
  --seed) seed=$2 && shift 2 ;;
  --count) count=$2 && shift 2 ;;
  --jobs) jobs=$2 && shift 2 ;;
  --dir) dir=$2 && shift 2 ;;
  --without)
    [ "$2" = golden ] || usage
    golden=no && shift 2
    ;;
  -*) usage ;;
  *) break ;;
  esac
done
case $seed$count$jobs in *[!0-9]*) usage ;; esac

# The code as it is in tree, with all programs in build; the changed code of job J in J/tree, whose build
# holds libraries alone: programs run with those in front.
mkdir -p "$dir/tree" "$dir/build"
dir=$(cd "$dir" && pwd)
tree=$dir/tree build=$dir/build bin=$dir/build/bin tab=$(printf '\t')
export LC_ALL=C

# ---- the copies ----------------------------------------------------------------------------------

# Times are kept, so that only what changed since the last run is built again.
fill() { # fill TREE: the checkout's files, and no others
  mkdir -p "$1"
  tar -cf - -C "$root" -T "$dir/list" | tar -xf - -C "$1"
  (cd "$1" && find . -type f | sed 's|^\./||' | sort) >"$dir/have"
  comm -13 "$dir/list" "$dir/have" | while read -r file; do rm -f "$1/$file"; done
}

cd "$root"
if git rev-parse --git-dir >/dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard
else
  find . -name build -prune -o \( -type f -o -type l \) -print0
fi | tr '\0' '\n' | sed 's|^\./||' | while read -r file; do [ -e "$file" ] && echo "$file"; done |
  sort -u >"$dir/list"
fill "$tree"

# Data of others, where there are some: tests look for them from where they run upwards.
if [ -z "${FORERUN_DATA:-}" ]; then
  for up in . .. ../..; do
    [ -d "$root/$up/shared/data" ] && FORERUN_DATA=$root/$up/shared/data && break
  done
fi
export FORERUN_DATA="${FORERUN_DATA:-/nonexistent}"

# ---- the builds ----------------------------------------------------------------------------------

modules='base topology models sim search traces calibrate plots app'
libraries='fr_answer fr_app_papers'
for module in $modules; do libraries="$libraries fr_$module"; done
# Left out: what times this machine rather than anything that is changed here, and two that take a minute.
left_out='test_paper_training test_calibrate_launch test_calibrate_power test_calibrate_quota test_app_hostile'
tests=
for module in $modules laws paper; do
  for file in "$tree/tests/$module"/test_*.c; do
    [ -e "$file" ] || continue
    name=$(basename "$file" .c)
    name=test_${module}_${name#test_}
    case " $left_out " in *" $name "*) ;; *) tests="$tests $name" ;; esac
  done
done

configure() { # configure TREE BUILD
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS='-O1 -DNDEBUG -Wno-maybe-uninitialized' -DFR_LIBRARY_KIND=SHARED \
    -DCMAKE_LINK_DEPENDS_NO_SHARED=ON >"$2.cmake" || { cat "$2.cmake" >&2 && exit 1; }
}
compile() { # compile BUILD TARGET...
  folder=$1 && shift
  ninja -C "$folder" "$@" >"$folder.log" 2>&1 || { tail -30 "$folder.log" >&2 && exit 1; }
}

configure "$tree" "$build"
programs='forerun forerun-mpi golden-canonical'
ninja -C "$build" -t targets all | grep -q '^forerun-simgrid:' && programs="$programs forerun-simgrid"
# shellcheck disable=SC2086  # lists of names
compile "$build" $libraries $tests $programs
for job in $(seq "$jobs"); do
  fill "$dir/$job/tree"
  mkdir -p "$dir/$job/build" "$dir/$job/tmp"
  # What an interrupted run left changed has its text again, and now a time that says so.
  touch "$dir/$job/changed"
  while read -r file; do
    if [ -e "$dir/$job/tree/$file" ]; then touch "$dir/$job/tree/$file"; fi
  done <"$dir/$job/changed"
  configure "$dir/$job/tree" "$dir/$job/build"
  # shellcheck disable=SC2086
  compile "$dir/$job/build" $libraries
done
cc -std=c17 -O1 -o "$dir/mutate" "$root/tests/mutation/mutate.c"

# ---- the tests as they are -----------------------------------------------------------------------

now() { date +%s.%N; }
within=$(cd "$build" && dirname "$(find . -name 'libfr_base.so' | head -1)")
libraries_of() { echo "$1/$within"; }
# run_test FOLDER BUILD NAME SECONDS: true where it passes with the libraries of BUILD
run_test() {
  code=0
  (cd "$1/build/tests" && LD_LIBRARY_PATH=$(libraries_of "$2") TMPDIR=$1/tmp exec timeout -s KILL "$4" \
    "$bin/$3" </dev/null >"$1/out" 2>&1) || code=$?
  [ $code -eq 0 ] || [ $code -eq 77 ]
}
run_golden() { # run_golden FOLDER BUILD
  LD_LIBRARY_PATH=$(libraries_of "$2") TMPDIR=$1/tmp GOLDEN_JOBS=1 timeout -s KILL 900 \
    "$tree/tests/golden/golden.sh" first "$bin" >"$1/out" 2>&1
}

measure() {
  for test in $tests; do
    from=$(now)
    if run_test "$dir/1" "$build" "$test" 300; then
      echo "$(now) $from $test" | awk '{printf "%.3f %s\n", $1 - $2, $3}'
    else
      echo "mutate.sh: $test fails as it is, and is left out" >&2
    fi
  done
  if [ $golden = yes ] && ! run_golden "$dir/1" "$build"; then
    echo "mutate.sh: the golden outputs are not as they were" >&2 && exit 1
  fi
}
if [ ! -s "$dir/baseline" ] || ! grep -q 'no work to do' "$build.log"; then
  rm -f "$dir/baseline"
  measure >"$dir/baseline.new"
  mv "$dir/baseline.new" "$dir/baseline"
fi

# First those that find most a second: those named like the file, those that found something in its folder
# before, those of its module; the golden outputs before tests that take long.  Tests of modules further down, or beside, do not hold the changed code at all.
holds() { # holds FOLDER: modules whose tests link it
  case $1 in
  base) echo "base topology models sim search traces calibrate plots app laws paper" ;;
  topology) echo "topology models sim search traces calibrate plots app laws paper" ;;
  models) echo "models sim search traces calibrate plots app laws paper" ;;
  *) echo "$1 app laws paper" ;;
  esac
}
order() { # order FILE: lines SECONDS TEST
  awk -v stem="$(basename "$1" .c)" -v module="${1%%/*}" -v street="$(dirname "$1")" \
    -v holds=" $(holds "${1%%/*}") " '
    FILENAME == ARGV[1] {found[$2]++; if ($1 == street) here[$2]++; next}
    {
      split($2, word, "_")
      if (!index(holds, " " word[2] " ")) next
      chance = 0.02 + 0.02 * found[$2] + here[$2]
      if (index($2, "_" stem)) chance += 5
      if (index($2, "test_" module "_") || $2 ~ /^test_laws_/) chance += 0.2
      print ($1 > 3), chance / ($1 + 0.01), $1, $2
    }
    END {print 1, 1e9, 0, "golden"}' "$dir/kills" "$dir/baseline" | sort -k1,1n -k2,2gr -s | awk '{print $3, $4}'
}

killed_by() { # killed_by FOLDER FILE: the first test that fails; false where none does
  order "$2" >"$1/order"
  while read -r seconds test; do
    if [ "$test" = golden ]; then
      [ $golden = no ] || run_golden "$1" "$1/build" || { echo golden && return; }
      continue
    fi
    limit=$(echo "$seconds" | awk '{printf "%d", 30 + 15 * $1}')
    run_test "$1" "$1/build" "$test" "$limit" && continue
    run_test "$1" "$build" "$test" "$limit" || continue # not for what was changed
    echo "$(dirname "$2") $test" >>"$dir/kills"
    echo "$test" && return
  done <"$1/order"
  return 1
}

# ---- one after another ---------------------------------------------------------------------------

[ $# -gt 0 ] || set -- models sim search calibrate/fit calibrate/numbers calibrate/runs/coefficient \
  calibrate/runs/interval calibrate/runs/odds calibrate/runs/profile_fit calibrate/runs/score calibrate/runs/tune
cd "$tree"
files=$(for place; do find . -path "./$place*" -name '*.c' | sed 's|^\./||'; done | sort -u)
[ -n "$files" ] || { echo "mutate.sh: no sources in $*" >&2 && exit 2; }
# shellcheck disable=SC2086
"$dir/mutate" pick "$seed" $((2 * count + 20)) $files >"$dir/picked"
key=$(cksum <"$dir/picked" | cut -d' ' -f1)
results=$dir/results.$seed.$count.$key
touch "$results" "$dir/kills"
rm -rf "$dir/claims"
mkdir -p "$dir/claims"

excused() { # excused FILE LINE-AS-CHANGED
  awk -F '\t' -v file="$1" -v line="$2" '$1 == file && $2 == line {found = 1} END {exit !found}' \
    "$root/tests/mutation/survivors"
}

try() { # try FOLDER NUMBER FILE LINE OFFSET LENGTH REPLACEMENT ORIGINAL
  changed=$1/tree/$3
  cp -p "$tree/$3" "$1/original"
  before=$(tail -n 1 "$1/changed") # put back, and built with this one
  printf '%s\n%s\n' "$before" "$3" >"$1/changed"
  "$dir/mutate" apply "$1/original" "$5" "$6" "$7" >"$changed"
  changed_line=$(sed -n "${4}s/^ *//p" "$changed")
  verdict=survived by=
  # shellcheck disable=SC2086
  if ! ninja -C "$1/build" $libraries >"$1/build.log" 2>&1; then
    verdict=stillborn
  elif by=$(killed_by "$1" "$3") && [ -n "$by" ]; then
    verdict=killed
  elif excused "$3" "$changed_line"; then
    verdict=equivalent
  fi
  cp "$1/original" "$changed"
  echo "$2$tab$verdict$tab$by$tab$3:$4$tab$8$tab$7$tab$changed_line" >>"$results"
  printf '%3d %-10s %s:%s  %s -> %s  %s\n' "$2" "$verdict" "$3" "$4" "$8" "$7" "${by:+(${by#test_})}"
}

tried() { awk -F '\t' -v upto="$count" '$2 != "stillborn" {n++} END {exit !(n + 0 < upto)}' "$results"; }

work() { # work JOB: what no other job has taken, until enough were tried
  number=0
  while IFS=$tab read -r file line offset length replacement original <&3; do
    number=$((number + 1))
    tried || return 0
    grep -q "^$number$tab" "$results" && continue
    mkdir "$dir/claims/$number" 2>/dev/null || continue
    try "$dir/$1" "$number" "$file" "$line" "$offset" "$length" "$replacement" "$original"
  done 3<"$dir/picked"
}

for job in $(seq "$jobs"); do work "$job" & done
trap 'kill $(jobs -p) 2>/dev/null; exit 1' INT TERM HUP
wait

# ---- what came out -------------------------------------------------------------------------------

sort -n "$results" | awk -F '\t' -v golden="$golden" -v count="$count" '
  n["killed"] + n["survived"] + n["equivalent"] >= count {next}
  {n[$2]++; drawn++; if ($3 == "golden") by_golden++}
  $2 == "survived" {left[++m] = $4 "\t" $7 "\t(" $5 " -> " $6 ")"}
  END {
    tried = n["killed"] + n["survived"] + n["equivalent"]
    printf "%d changes drawn, %d stillborn; of %d tried %d killed, %d equivalent, %d survived\n", drawn,
           n["stillborn"], tried, n["killed"], n["equivalent"], n["survived"]
    if (tried) printf "killed: %.1f %%, equivalents counted as not", 100 * n["killed"] / tried
    if (tried && golden == "yes") printf "; without the golden outputs: %.1f %%", 100 * (n["killed"] - by_golden) / tried
    print ""
    for (i = 1; i <= m; i++) print "survived  " left[i]
  }'
