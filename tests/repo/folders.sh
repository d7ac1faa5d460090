#!/bin/sh
# folders.sh ROOT -- who looks into a folder sees what it is: none directly holds more than 40 sources;
# one that grows beyond gets streets.
set -eu
cd "$1"
find . \( -name build -o -name '.?*' \) -prune -o \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.py' \) -print |
  sed -E 's,^\./,,; s,/?[^/]*$,,' | sort | uniq -c |
  awk '$1 > 40 { print $2 " holds " $1 " sources, of at most 40"; bad = 1 } END { exit bad }'
