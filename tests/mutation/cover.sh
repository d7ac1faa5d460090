#!/bin/sh
# cover.sh ROOT DIR [JOBS [MOST]]: what mutate.sh needs, under DIR, of the checkout at ROOT
#
# JOBS (1) tests are measured side by side.  One that takes more than MOST seconds (600) is left out, golden outputs that
# take more than ten times as long.  Of commands at random the first seed counts, as every day.
#
#     tree                        a copy of its files
#     plain coverage sanitized    three builds of them: as released; for gcov; with sanitizers
#     seconds                     lines SECONDS TEST, as measured in the build for coverage
#     lines/TEST                  the lines FILE:LINE which that test executes, in programs that it starts too;
#                                 of golden outputs, and of each kind KIND of commands at random, walk:KIND
#     code                        all lines that there is something to execute of
#     data                        where data of others are
#
# Modules are shared libraries, so that a changed one is put before another's by LD_LIBRARY_PATH.  Only what
# changed since the last run is built and measured again.
set -eu
root=$1 dir=$2 jobs=${3:-1} most=${4:-600}
tree=$dir/tree

# ---- the copy: what is the same keeps its time, from whichever checkout it comes ------------------

mkdir -p "$tree" "$dir/lines" "$dir/took" "$dir/tmp"
cd "$root"
if git rev-parse --git-dir >/dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard
else
  find . -name build -prune -o \( -type f -o -type l \) -print0
fi | tr '\0' '\n' | sed 's|^\./||' | while read -r file; do [ -e "$file" ] && echo "$file"; done |
  sort -u >"$dir/list"
while read -r file; do
  cmp -s "$file" "$tree/$file" && continue
  echo "$file"
done <"$dir/list" >"$dir/new"
tar -cf - -C "$root" -T "$dir/new" | tar -xmf - -C "$tree"
(cd "$tree" && find . -type f | sed 's|^\./||' | sort) >"$dir/have"
comm -13 "$dir/list" "$dir/have" | while read -r file; do rm -f "$tree/$file"; done

if [ -z "${FORERUN_DATA:-}" ]; then
  for up in . .. ../..; do
    [ -d "$root/$up/shared/data" ] && FORERUN_DATA=$root/$up/shared/data && break
  done
fi
echo "${FORERUN_DATA:-/no-such-folder}" >"$dir/data"
export FORERUN_DATA="${FORERUN_DATA:-/no-such-folder}"

# ---- the builds -----------------------------------------------------------------------------------

compile() { # compile BUILD OPTION...
  folder=$dir/$1 && shift
  { cmake -S "$tree" -B "$folder" -G Ninja -DFR_LIBRARY_KIND=SHARED -DCMAKE_LINK_DEPENDS_NO_SHARED=ON "$@" &&
    ninja -C "$folder"; } >"$folder.log" 2>&1 || { tail -30 "$folder.log" >&2 && exit 1; }
}
# What a module exports may be inlined within it, as where libraries are archives: the same warnings.
compile plain -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE='-O2 -DNDEBUG' \
  -DCMAKE_C_FLAGS=-fno-semantic-interposition
compile coverage -DCMAKE_BUILD_TYPE=Debug -DFR_COVERAGE=ON -DCMAKE_C_FLAGS='-w -O0'
compile sanitized -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFR_SANITIZE=address,undefined -DCMAKE_C_FLAGS='-w -O1'

# ---- which test executes which line ---------------------------------------------------------------

# Left out: what times this machine or runs real programs on it, what starts programs by the thousand, and a minute of fits.
is_left_out() {
  case $1 in
  test_calibrate_launch | test_calibrate_power | test_calibrate_quota | test_app_hostile | test_paper_training) ;;
  test_apps_* | test_calibrate_mpi_*) ;;
  *) return 1 ;;
  esac
}
bin=$dir/coverage/bin
cd "$dir/coverage/tests"

# Objects of modules alone are asked, not those of tests and programs.
of_modules() { find . -path "./CMakeFiles/fr_*.dir/*.$1"; } # of_modules gcda|gcno
# Lines of gcov's text are COUNT:LINE:SOURCE, where COUNT is - (no code), ##### (not executed), or a number.
gcov_lines() { # gcov_lines PATTERN: lines FILE:LINE whose count matches, of the files read
  xargs gcov -t 2>/dev/null | awk -F: -v pattern="$1" '
    $2 + 0 == 0 {if ($3 == "Source") file = $4; sub("^.*tree/", "", file); next}
    $1 ~ pattern {print file ":" $2 + 0}' | sort -u
}
# Each job's counts go to a folder of its own, where links stand for what gcov reads beside them.
counts_of() { # counts_of JOB
  counts=$dir/counts/$1
  rm -rf "$counts"
  mkdir -p "$counts/tmp"
  ln -sfn "$tree" "$dir/counts/tree" # where gcov finds sources
  (cd "$dir/coverage" && of_modules gcno) >"$counts/notes"
  sed 's|/[^/]*$||' "$counts/notes" | sort -u | (cd "$counts" && xargs mkdir -p)
  while read -r note; do ln -s "$dir/coverage/$note" "$counts/$note"; done <"$counts/notes"
}
run() { # run TEST
  GOLDEN_JOBS=1
  GCOV_PREFIX=$counts GCOV_PREFIX_STRIP=$(echo "$dir/coverage" | tr -dc / | wc -c)
  TMPDIR=$counts/tmp
  export GOLDEN_JOBS GCOV_PREFIX GCOV_PREFIX_STRIP TMPDIR
  case $1 in
  golden) timeout "${most}0" "$tree/tests/golden/golden.sh" check "$bin" forerun ;;
  walk:*) timeout "${most}0" "$tree/tests/golden/golden.sh" check "$bin" "golden-walk ${1#walk:} 1 " ;;
  *) timeout "$most" "$bin/$1" ;;
  esac
}
measure() { # measure TEST
  find "$counts" -name '*.gcda' -delete
  from=$(date +%s.%N) code=0
  (run "$1") </dev/null >"$counts/out" 2>&1 || code=$?
  : >"$counts/lines"
  if [ $code != 124 ]; then
    echo "$(date +%s.%N) $from $1" | awk '{printf "%.3f %s\n", $1 - $2, $3}' >"$dir/took/$1"
    (cd "$counts" && of_modules gcda | gcov_lines '[0-9]') >"$counts/lines"
  fi
  mv "$counts/lines" "$dir/lines/$1"
}
is_known() { # is_known TEST: measured since it or a library changed
  case $1 in
  golden | walk:*) program=$tree/tests/golden/digests ;;
  *) program=$bin/$1 ;;
  esac
  [ -e "$dir/lines/$1" ] && [ -z "$(find "$program" "$dir"/coverage/*.so "$bin/forerun" -newer "$dir/lines/$1")" ]
}

walks=$("$tree/tests/golden/commands.sh" | sed -n 's/golden-walk \([^ ]*\) 1 .*/walk:\1/p')
tests="$(cd "$bin" && ls -d test_*) golden $walks"
rm -rf "$dir/measured"
mkdir -p "$dir/measured"
for job in $(seq "$jobs"); do
  (
    counts_of "$job"
    for test in $tests; do
      if is_left_out "$test" || ! mkdir "$dir/measured/$test" 2>/dev/null || is_known "$test"; then continue; fi
      measure "$test"
    done
    rm -rf "$counts"
  ) &
done
wait
for test in $(cd "$dir/lines" && ls); do
  echo "$tests" | tr ' ' '\n' | grep -qxF "$test" || rm -f "$dir/lines/$test" "$dir/took/$test"
done
cat "$dir"/took/* >"$dir/seconds"
if [ ! -s "$dir/code" ] || [ -n "$(find "$dir"/coverage/*.so -newer "$dir/code")" ]; then
  counts_of 0
  (cd "$counts" && find -L . -path './CMakeFiles/fr_*' -name '*.gcno' | gcov_lines '[0-9#=]') >"$dir/lines.new"
  rm -rf "$counts"
  mv "$dir/lines.new" "$dir/code"
fi
