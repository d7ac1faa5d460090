#!/bin/sh
# test_names.sh ROOT BUILD -- what tests/nightly/names lists is what ctest leaves out of a day: ctest takes a regular expression
# that it cannot compile for none, and then runs everything.
set -eu
at_night=$(sed -e 's/ *#.*//' -e '/^$/d' "$1/tests/nightly/names")
every=$(ctest --test-dir "$2" -N | sed -n 's/^ *Test *#[0-9]*: //p')
left=$(ctest --test-dir "$2" -N -E "$(echo "$at_night" | paste -sd '|' -)" | sed -n 's/^ *Test *#[0-9]*: //p')
wanted=$(echo "$every" | grep -vE "$(echo "$at_night" | paste -sd '|' -)")
[ "$left" = "$wanted" ] || {
  echo "ctest leaves $(echo "$left" | wc -l) tests, grep $(echo "$wanted" | wc -l)"
  exit 1
}
[ "$left" != "$every" ] || {
  echo 'nothing is left to the night'
  exit 1
}
