#!/bin/sh
# test_skipped.sh BIN -- a test whose data are absent ends with 77, which ctest calls skipped.
set -u
bin=$1
bad=0
export FORERUN_DATA=/no-such-folder
for test in paper_collectives paper_gemm paper_training paper_energy; do
  code=0
  "$bin/test_$test" >/dev/null 2>&1 || code=$?
  [ $code -eq 77 ] || {
    echo "test_$test ends with $code without data, not with 77"
    bad=1
  }
done
code=0 # one that needs none has nothing to skip
"$bin/test_base_status" >/dev/null 2>&1 || code=$?
[ $code -eq 0 ] || {
  echo "test_base_status ends with $code"
  bad=1
}
exit $bad
