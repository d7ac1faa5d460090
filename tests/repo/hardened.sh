#!/bin/sh
# hardened.sh FOLDER...: every program and shared library there, but tests (test_*, fuzz_*), is hardened: its addresses are
# drawn at each start (PIE), what the loader has resolved is read-only (GNU_RELRO) and all of it is resolved at the start
# (NOW), the stack is executable nowhere, and functions with arrays guard their stack (__stack_chk_fail).  A line for each
# fault, exit code 1.  Plug-ins of tests (libfake_*, fail_*) have no arrays to guard.
set -eu
files=
for folder in "$@"; do
  for file in "$folder"/*; do
    [ -f "$file" ] || continue
    case ${file##*/} in test_* | fuzz_* | *.a | *.o | *.pc | *.cmake | *.json) continue ;; esac
    case $(head -c 4 "$file" | tr -d '\0') in *ELF) files="$files $file" ;; esac
  done
done
[ "$files" ] || { echo "no program in $*" && exit 1; }
bad=0
for file in $files; do # names of ours have no blanks
  facts=$(readelf -hldW --dyn-syms "$file")
  says() { echo "$facts" | grep -qE "$1" || { echo "$file $2" && bad=1; }; }
  says '^ *Type: +DYN' 'is no position-independent program'
  says '^ *GNU_RELRO ' 'has no read-only relocations (-z relro)'
  says 'BIND_NOW|FLAGS_1.*NOW' 'resolves names as it goes (no -z now)'
  if echo "$facts" | grep -qE '^ *GNU_STACK .* RWE '; then echo "$file has an executable stack" && bad=1; fi
  case ${file##*/} in fake_* | libfake_* | fail_*) ;; *) says 'UND __stack_chk_fail' 'guards no stack (-fstack-protector-strong)' ;; esac
done
exit $bad
