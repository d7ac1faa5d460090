#!/bin/sh
# fuzz.sh ROOT [SECONDS] -- every reader's fuzz target for so many seconds (30), from where the last night ended:
# its inputs are kept in build/fuzz/hunt/found.  Exit 77 with a sentence where clang has no fuzzer.
set -eu
cd "$1"
command -v clang >/dev/null || { echo 'Skipped: fuzzing wants clang' && exit 77; }
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 9 ? 0 : 0; }' |
  clang -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null ||
  { echo 'Skipped: fuzzing wants libFuzzer (Debian: libclang-rt-14-dev)' && exit 77; }
# shellcheck source=cmake/setup.sh
. cmake/setup.sh
fr_build fuzz
root=$PWD
mkdir -p build/fuzz/hunt
cd build/fuzz/hunt
HUNT_SECONDS=${2:-30} "$root/tests/fuzz/hunt.sh" "$root/build/fuzz/bin" 1000000000
