#!/bin/sh
# Usage: widths.sh FORERUN LIST.  Writes trust/distance_rows.h anew from the measured runs: the numbers of
# trust/distance.h, and the runs that presets were compared with.
set -e
lines=$("$1" reproduce distance --json | sed -n "s/.*\"note\": \"\(FR_[A-Z]*(.*)\)\".*/\1/p" | tr "'" '"')
test -n "$lines"
{
  sed -n '1,/\*\//p' "$2"
  echo "$lines"
} >"$2.new"
mv "$2.new" "$2"
