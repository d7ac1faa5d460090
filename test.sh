#!/bin/sh
# ./test.sh          the tests of every day, on the release build: eight minutes of two cores with it
# ./test.sh PRESET   the tests of another preset: dev, asan, tsan, coverage, fuzz, clang
# ./test.sh all      a build by clang, then the tests under asan, then those of release
# ./test.sh nightly  first ./demo.sh and ./test.sh on a bare Debian 12 (root, debootstrap; else it says so),
#                    then what is slow: all of what every day tries a sample of (random cases and commands, kills, failing
#                    allocations, long runs), a sample of all tests with sanitizers (threads too), fuzzing, changes of
#                    the code that the tests should notice, and the Debian packages and the wheel on a bare Debian.  It says which of these failed
# On a bare Debian 12 it first installs what is missing.  The last line is ctest's own; of nightly the rate of changes
# that were noticed.
set -eu
cd "$(dirname "$0")"
. cmake/setup.sh

what=${1:-release}
case $what in
release | dev | asan | tsan | coverage) presets=$what ;;
clang | fuzz) presets=$what fr_packages="$fr_packages $fr_clang_packages" ;;
nightly) presets= fr_packages="$fr_packages $fr_clang_packages" ;;
all) presets='asan release' fr_packages="$fr_packages $fr_clang_packages" ;;
*) fr_stop "\"$what\" is none of release, dev, asan, tsan, coverage, fuzz, clang, all, nightly" ;;
esac

if [ "$what" = nightly ]; then
  code=0
  tests/nightly/bare.sh . || code=$?
  [ "$code" = 0 ] || [ "$code" = 77 ] || fr_stop 'a newcomer would be stopped'
fi
# shellcheck disable=SC2086 # one word a package
fr_install $fr_packages python3 python3-jsonschema python3-protobuf protobuf-compiler # for tests alone
if [ "$what" = all ]; then fr_build clang; fi
at_night=$(sed -e 's/ *#.*//' -e '/^$/d' tests/nightly/names | paste -sd '|' -)
for preset in $presets; do
  fr_build "$preset"
  ctest --preset "$preset" --parallel "$(nproc)" -E "$at_night"
done
if [ "$what" = nightly ]; then
  fr_build release
  failed=
  ctest --preset release --parallel "$(nproc)" -R "$at_night" || failed=' long'
  ctest --preset release -C slow -L slow || failed="$failed slow (build/release/Testing/Temporary/LastTestsFailed.log)"
  for part in sanitizers fuzz mutation packages; do # each though another fails
    code=0
    "tests/nightly/$part.sh" . || code=$?
    [ "$code" = 0 ] || [ "$code" = 77 ] || failed="$failed $part"
  done
  [ -z "$failed" ] || fr_stop "failed:$failed"
fi
