#!/bin/sh
# runpath.sh FILE...: no program or library looks for libraries in the working folder: of each item of its
# RUNPATH that is empty or no absolute path, a line, and exit code 1.  Files that are absent are passed over.
set -eu
bad=0
for file in "$@"; do
  [ -f "$file" ] || continue
  path=$(readelf -dW "$file" | sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\]$/\1/p')
  case :$path: in
  ::) ;; # none
  *::* | *:[!/:]*) echo "$file looks for libraries in \"$path\": every item must be an absolute path" && bad=1 ;;
  esac
done
exit $bad
