#!/bin/sh
# processes.sh ROOT -- other programs are started through base/process.h alone: no fork, exec, spawn,
# popen or system, nor a wait for a child, in any other file of a module.  Tests and benchmarks may;
# base/temporary.c waits for the child that a signal ends with us.
set -eu
# shellcheck source=tests/repo/modules.sh
. "$(dirname "$0")/modules.sh"
raw='(v?fork|clone3?|daemon|f?execv?[lvep]*|posix_spawnp?|popen|system|wait|waitpid|waitid|wait[34])'
bad=0
for module in $modules; do
  # A call, not system(3) of a comment, nor a method.
  if grep -rnE "(^|[^A-Za-z0-9_.>])$raw\(" "$module" --include='*.[ch]' --include='*.cpp' | grep -vE "$raw\\([0-9]\\)" |
    grep -vE '^base/(process|temporary)[.]c:'; then
    bad=1
  fi
done
[ "$bad" = 0 ] || echo "use base/process.h (fr_process_run), or base/isolated.h for work that may crash"
exit $bad
