#!/bin/sh
# mutate.sh [--seed S,...] [--count N] [--jobs J] [--most SECONDS] [--dir DIR] [--as-covered] [FOLDER...]
#
# Would the tests notice?  N single changes of the code that compile (mutate.c says which are made), one at a
# time: the changed file is compiled and its library linked, by the very commands of the build, and the tests
# that execute the changed line run against it, those likeliest to notice first, up to the first that fails.
# All of it under DIR, the checkout being left alone.  FOLDER: where to change (default models sim search and
# the fits of calibrate).  J changes are tried side by side.  The same seed on the same tree makes the same
# changes; a run that was interrupted says how far it came and goes on there.  Several seeds: one after the other.
# Tests that took more than --most seconds are left out: what survives may not survive all.  --as-covered: on what
# cover.sh made of an earlier checkout, as far as it came.  The last line of a seed is
#
#     mutation: 57 of 60 noticed, 95.0 %, 1 excused; seed 1
#
# where those excused count as not noticed.
#
#     killed      a test fails, or does not end, that passes on the code as it is; or one of them does with
#                 the address and undefined-behaviour sanitizers
#     survived    every test passes; or no test executes the line at all, and the list says so
#                 "timeout": by time alone, see limit_of
#     equivalent  excused: survived, and stands in tests/mutation/survivors (file, line as it is, line as changed) with the
#                 reason why nothing can notice
#     stillborn   does not compile without a warning: nothing to notice; another is drawn in its place
#     same        the compiler makes the same code of it, at one of its levels and byte for byte, as of the file as it is, and no sanitizer
#                 minds (of what is undefined the compiler may make what it likes): nothing to notice; another is
#                 drawn in its place (Papadakis, Jia, Harman & Le Traon, "Trivial compiler equivalence", ICSE 2015)
#
# A night's work (tests/nightly/mutation.sh), and a developer's tool: seconds a change.  The first run builds three times (as released;
# for coverage; with sanitizers) and runs every test once, to learn which lines it executes (cover.sh).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seed=1 count=20 jobs=1 most=1000000 covered='' dir=${TMPDIR:-/tmp}/forerun-mutation-$(id -u)

usage() {
  sed -n '2s/^# /usage: /p' "$0" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  case $1 in
  --seed | --count | --jobs | --dir | --most) [ $# -ge 2 ] || usage ;;
  esac
  case $1 in
  --seed) seed=$2 && shift 2 ;;
  --count) count=$2 && shift 2 ;;
  --jobs) jobs=$2 && shift 2 ;;
  --dir) dir=$2 && shift 2 ;;
  --most) most=$2 && shift 2 ;;
  --as-covered) covered=yes && shift ;;
  -*) usage ;;
  *) break ;;
  esac
done
case $count$jobs$most$(echo "$seed" | tr -d ,) in *[!0-9]*) usage ;; esac
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
tab=$(printf '\t')
export LC_ALL=C
unset FR_WHOLE # tests try the sample of every day, not the whole

# Interrupted, all that was started ends too, in whatever process groups; what has been found stays and is told.
descendants() {
  for process in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
    echo "$process" && descendants "$process"
  done
}
results=
stop() {
  trap '' INT TERM HUP
  started=$(descendants $$)
  # shellcheck disable=SC2086 # a list of numbers
  kill $started 2>/dev/null || :
  wait
  [ -z "$results" ] || tell "$results"
  exit 1
}
trap stop INT TERM HUP
[ -n "$covered" ] || "$here/cover.sh" "$root" "$dir" "$jobs" &
wait $!
[ -z "$covered" ] || cat "$dir"/took/* >"$dir/seconds"
# Data of others, where there are some: tests look for them from where they run upwards.
FORERUN_DATA=$(cat "$dir/data")
export FORERUN_DATA
cc -std=c17 -O1 -o "$dir/mutate" "$here/mutate.c"

# ---- one changed file ----------------------------------------------------------------------------

# The object of a source in a module's shared library (others may hold it too): CMakeFiles/fr_models.dir/...
# in libfr_models.so.
library_of() { echo "$1" | sed 's|^CMakeFiles/\([^/]*\)\.dir/.*|lib\1.so|'; }
object_of() { # object_of BUILD FILE
  (cd "$1" && find CMakeFiles -path "CMakeFiles/fr_*.dir/$2.o" | while read -r object; do
    if [ -e "$(library_of "$object")" ]; then echo "$object"; fi
  done)
}
# commands BUILD FILE: what builds it, asked of ninja once: the object, its library, and the two command lines
commands() {
  kept=$dir/commands/$(basename "$1")/$(echo "$2" | tr / _)
  if [ ! -s "$kept" ] || [ "$1/build.ninja" -nt "$kept" ]; then
    mkdir -p "$(dirname "$kept")"
    object=$(object_of "$1" "$2")
    library=$(library_of "$object")
    {
      echo "$object" && echo "$library"
      ninja -C "$1" -t commands -s "$object" | sed 's| -MD .*||'
      ninja -C "$1" -t commands -s "$library"
    } >"$kept.$$" && mv "$kept.$$" "$kept"
  fi
  cat "$kept"
}
# compile FOLDER BUILD FILE [LEVEL]: FOLDER/changed.o of FOLDER/changed.c, which stands for FILE; by the command of the
# build, or at another LEVEL of optimisation
compile() {
  commands "$2" "$3" >"$1/commands"
  { read -r object && read -r library && read -r compile && read -r link; } <"$1/commands"
  (cd "$2" && sh -c "$compile ${4:-} -iquote $(dirname "$dir/tree/$3") -o $1/changed.o -c $1/changed.c") >"$1/build.log" 2>&1
}
# link FOLDER BUILD: FOLDER/lib holds the one library with FOLDER/changed.o in its place
link() {
  rm -rf "${1:?}/lib"
  mkdir "$1/lib"
  link=$(echo "$link" | sed -e "s| -o $library | -o $1/lib/$library |" -e "s| $object | $1/changed.o |")
  (cd "$2" && sh -c "$link") >>"$1/build.log" 2>&1
}
# same_code FOLDER FILE [LEVEL]: is FOLDER/changed.o what FILE makes, compiled from the same place?
same_code() {
  as_it_is=$1/unchanged/$(echo "$2" | tr / _)${3:-}.o
  if [ ! -s "$as_it_is" ]; then
    mkdir -p "$1/unchanged" "$1/beside"
    mv "$1/changed.c" "$1/changed.o" "$1/beside"
    cp "$dir/tree/$2" "$1/changed.c"
    compile "$1" "$dir/plain" "$2" "${3:-}" && mv "$1/changed.o" "$as_it_is"
    mv "$1/beside/changed.c" "$1/beside/changed.o" "$1"
  fi
  cmp -s "$1/changed.o" "$as_it_is"
}
# What one level of the compiler proves to be the same another may leave as it was.
same_at_any_level() { # same_at_any_level FOLDER FILE
  for level in -O1 -O3 -Os; do
    compile "$1" "$dir/plain" "$2" $level && same_code "$1" "$2" $level && return
  done
  return 1
}

# passes FOLDER LIBRARIES BUILD TEST SECONDS: programs of BUILD, with LIBRARIES before theirs
passes() {
  code=0
  (
    cd "$3/tests"
    export LD_LIBRARY_PATH="$2" TMPDIR="$1/tmp"
    export GOLDEN_JOBS=1
    outputs=$dir/tree/tests/golden/golden.sh
    case $4 in
    golden) exec timeout -s KILL "$5" "$outputs" first "$3/bin" 'forerun' ;;
    walk:*) exec timeout -s KILL "$5" "$outputs" first "$3/bin" "golden-walk ${4#walk:} 1 " ;;
    *) exec timeout -s KILL "$5" "$3/bin/$4" ;;
    esac
  ) </dev/null >"$1/out" 2>&1 || code=$?
  echo $code >"$1/code"
  [ $code -eq 0 ] || [ $code -eq 77 ]
} 2>/dev/null # the shell's own words about what was killed

# ---- its tests -----------------------------------------------------------------------------------

# Those that execute the line; of a line that is no code (a table's), those that execute some of the file;
# of a file that is nothing else, all.  None: nothing executes the line.
tests_of() { # tests_of FILE LINE
  if grep -qxF "$1:$2" "$dir/code"; then
    grep -lxF "$1:$2" "$dir"/lines/* || :
  elif grep -q "^$1:" "$dir/code"; then
    grep -l "^$1:" "$dir"/lines/* || :
  else
    ls "$dir"/lines/*
  fi | sed 's|.*/||'
}

# Lines SECONDS TEST, first those that find most a second: those named like the file, those that found
# something in its folder before.
order() { # order FOLDER FILE
  awk -v most="$most" -v stem="$(basename "$2" .c)" -v street="$(dirname "$2")" '
    FILENAME == ARGV[1] {asked[$1] = 1; next}
    FILENAME == ARGV[2] {found[$2]++; if ($1 == street) here[$2]++; next}
    $2 in asked && $1 <= most {
      chance = 0.05 + 0.02 * found[$2] + here[$2] + 5 * (index($2, "_" stem) > 0) + 0.3 * ($2 ~ /^walk/)
      print chance / ($1 + 0.01), $1, $2
    }' "$1/tests" "$dir/kills" "$dir/seconds" | sort -k1,1gr -s | cut -d' ' -f2-
}

# Killed by time: fifteen times what it took when measured, and half a minute.
limit_of() { echo "$1" | awk '{printf "%d", 30 + 15 * $1}'; }

killed_by() { # killed_by FOLDER FILE: the first test that fails; false where none does
  timeout=
  while read -r seconds test; do
    limit=$(limit_of "$seconds")
    passes "$1" "$1/lib" "$dir/plain" "$test" "$limit" && continue
    # twice: not for what else the machine did
    passes "$1" "$1/lib" "$dir/plain" "$test" "$limit" && continue
    [ "$(cat "$1/code")" != 137 ] || timeout=' timeout'
    passes "$1" "$dir/plain" "$dir/plain" "$test" "$limit" || continue # not for what was changed
    echo "$(dirname "$2") $test" >>"$dir/kills"
    echo "$test$timeout" && return
  done <"$1/order"
  return 1
}

# The quickest first, as many as took twenty seconds together without sanitizers.
killed_by_sanitizer() { # killed_by_sanitizer FOLDER FILE
  [ -s "$1/tests" ] && compile "$1" "$dir/sanitized" "$2" && link "$1" "$dir/sanitized" || return 1
  sort -n "$1/order" | awk '$2 != "golden" && (all += $1) < 20' >"$1/order.sanitized"
  while read -r seconds test; do
    limit=$(limit_of "$(echo "$seconds" | awk '{print 4 * $1}')")
    passes "$1" "$1/lib" "$dir/sanitized" "$test" "$limit" && continue
    passes "$1" "$dir/sanitized" "$dir/sanitized" "$test" "$limit" || continue
    echo "sanitizer:$test" && return
  done <"$1/order.sanitized"
  return 1
}

# ---- one after another ---------------------------------------------------------------------------

[ $# -gt 0 ] || set -- models sim search calibrate/fit trust/numbers trust/coefficient \
  trust/interval trust/odds trust/profile_fit trust/score trust/tune
cd "$dir/tree"
files=$(for place; do find . -path "./$place*" -name '*.c' | sed 's|^\./||'; done | sort -u)
[ -n "$files" ] || { echo "mutate.sh: no sources in $*" >&2 && exit 2; }
touch "$dir/kills"

excused() { # excused FILE LINE LINE-AS-CHANGED
  printf '%s\t%s\t%s\t\n' "$1" "$2" "$3" >"$dir/asked.$$"
  cut -f1-3 "$root/tests/mutation/survivors" | sed "s/\$/$tab/" | grep -qxF -f "$dir/asked.$$"
}

judge() { # judge FOLDER FILE LINE: verdict and by
  verdict=killed by='' unseen=survived
  compile "$1" "$dir/plain" "$2" || { verdict=stillborn && return; }
  tests_of "$2" "$3" >"$1/tests"
  order "$1" "$2" >"$1/order"
  if same_code "$1" "$2"; then
    unseen=same
  else
    link "$1" "$dir/plain" || { verdict=stillborn && return; }
    by=$(killed_by "$1" "$2") && return
  fi
  by=$(killed_by_sanitizer "$1" "$2") && return
  if [ $unseen = survived ] && same_at_any_level "$1" "$2"; then unseen=same; fi
  verdict=$unseen
  [ -s "$1/tests" ] || by='not executed'
}

try() { # try FOLDER NUMBER FILE LINE OFFSET LENGTH REPLACEMENT ORIGINAL
  "$dir/mutate" apply "$dir/tree/$3" "$5" "$6" "$7" >"$1/changed.c"
  was=$(sed -n "${4}s/^ *//p" "$dir/tree/$3")
  changed=$(sed -n "${4}s/^ *//p" "$1/changed.c")
  judge "$1" "$3" "$4"
  [ $verdict != survived ] || ! excused "$3" "$was" "$changed" || verdict=equivalent
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$2" "$verdict" "$by" "$3:$4" "$8" "$7" "$was" "$changed" >>"$results"
  printf '%3d %-10s %s:%s  %s -> %s  %s\n' "$2" $verdict "$3" "$4" "$8" "$7" "${by:+($by)}"
}

tried() { awk -F '\t' -v upto="$count" '$2 != "stillborn" && $2 != "same" {n++} END {exit !(n + 0 < upto)}' "$results"; }

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

# ---- what came out -------------------------------------------------------------------------------

tell() { # tell RESULTS
  echo "seed $seed"
  sort -n "$1" | awk -F '\t' -v count="$count" -v seed="$seed" '
    n["killed"] + n["survived"] + n["equivalent"] >= count {next}
    {n[$2]++; drawn++; if ($3 == "golden") by_golden++; if ($3 ~ /^walk/) by_walk++; if ($3 ~ / timeout$/) by_time++; if ($3 ~ /^sanitizer/) by_sanitizer++}
    $2 == "survived" {left[++m] = $4 "\t" $7 "\t" $8 ($3 ? "\t" $3 : "")}
    function percent(part, whole) {return sprintf("%.1f %%", whole ? 100 * part / whole : 0)}
    END {
      tried = n["killed"] + n["survived"] + n["equivalent"]
      printf "%d changes drawn, %d stillborn, %d the same code; of %d tried %d killed, %d equivalent, %d survived\n",
             drawn, n["stillborn"], n["same"], tried, n["killed"], n["equivalent"], n["survived"]
      print "killed: " percent(n["killed"], tried - n["equivalent"]) " of what can be noticed, " \
            percent(n["killed"], tried) " with equivalents counted as not killed"
      printf "by a sanitizer alone: %d; by a test that did not end: %d; first by golden outputs: %d, by commands " \
             "at random: %d\n", by_sanitizer, by_time, by_golden, by_walk
      for (i = 1; i <= m; i++) print "survived  " left[i]
      printf "mutation: %d of %d noticed, %s%s; seed %s\n", n["killed"], tried, percent(n["killed"], tried),
             n["equivalent"] ? ", " n["equivalent"] " excused" : "", seed
    }'
}

# ---- seed after seed ------------------------------------------------------------------------------

for seed in $(echo "$seed" | tr , ' '); do
  # shellcheck disable=SC2086  # a list of names
  "$dir/mutate" pick "$seed" $((2 * count + 40)) $files >"$dir/picked"
  results=$dir/results.$seed.$count.$(cksum <"$dir/picked" | cut -d' ' -f1)
  touch "$results"
  rm -rf "$dir/claims"
  mkdir -p "$dir/claims"
  for job in $(seq "$jobs"); do
    mkdir -p "$dir/$job/tmp"
    rm -rf "$dir/$job/unchanged"
    work "$job" &
  done
  wait
  tell "$results"
done
