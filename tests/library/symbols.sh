#!/bin/sh
# symbols.sh FOLDER LIST -- libforerun.so and libforerun.a of FOLDER show the names forerun_* of LIST
# (library/symbols.txt) and no others, and nothing of MPI, hwloc, gnuplot or SimGrid is needed.
set -eu
bad=0
for library in "$1/libforerun.so" "$1/libforerun.a"; do
  case $library in *.so) how=-D ;; *) how=-g ;; esac
  names=$(nm $how --defined-only "$library" | awk 'NF >= 3 { print $3 }')
  echo "$names" | grep -q '^forerun_predict$' || { echo "$library has no forerun_predict"; bad=1; }
  others=$(echo "$names" | grep -v '^forerun_' || true)
  [ -z "$others" ] || { echo "$library shows:" $others; bad=1; }
  stated=$(sed '/^#/d; s/ .*//' "$2" | sort)
  [ "$(echo "$names" | sort)" = "$stated" ] || {
    echo "$library and $2 differ:"
    echo "$names" | cat - "$2" | sed '/^#/d; s/ .*//' | sort | uniq -u
    bad=1
  }
  if nm $how --undefined-only "$library" | grep -iE ' (MPI_|hwloc|cblas|sg_|simgrid|exit$|abort$|printf$|puts$)'; then
    echo "$library needs or calls what a library must not"
    bad=1
  fi
done
exit $bad
