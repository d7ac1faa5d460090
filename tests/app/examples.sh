#!/bin/sh
# examples.sh ROOT BIN FOLDER: the scripts of examples/FOLDER run in an empty folder as their reader would, print lines of at most
# 80 columns, and leave what their heads say that they leave.
set -eu
root=$(cd "$1" && pwd) folder=$3
PATH=$(cd "$2" && pwd):$PATH
unset FORERUN_CLUSTER FORERUN_PATH DISPLAY
export LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "$*"
  bad=1
}

for script in "$root/examples/$folder"/*.sh; do
  name=$(basename "$script")
  mkdir "$work/$name"
  (cd "$work/$name" && HOME=$work sh "$script") >"$work/out" 2>"$work/err" || fail "$name: exit $?: $(tail -3 "$work/err")"
  [ -s "$work/out" ] || fail "$name prints nothing"
  wide=$(awk 'length($0) > 80' "$work/out")
  [ -z "$wide" ] || fail "$name: more than 80 columns: $wide"
  said=$(sed -n '/^# .*Leaves/,/^set/p' "$script" | tr -d '#\n' | sed 's/.*Leaves //; s/\.set .*//')
  [ -n "$said" ] || fail "$name does not say what it leaves"
  always=${said%%;*} drawn=
  ! command -v gnuplot >/dev/null || drawn=$said
  command -v mpirun >/dev/null || [ "$folder" != operator ] || continue
  for file in $(echo "$always $drawn" | tr -s ' ,;' '\n' | grep '[./]' | sed 's/\.$//' | sort -u); do
    [ -e "$work/$name/$file" ] || fail "$name leaves no $file"
  done
done
exit $bad
