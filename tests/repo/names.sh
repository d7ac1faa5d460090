#!/bin/sh
# names.sh ROOT -- one name, one thing: no struct, union, enum or type fr_x is defined in two files, so
# that who finds one has found it.  And methods are told apart by their traits (models/plan/method.h): none is named
# but in its own file, in studies, which are of one, and where they are declared for these.
set -eu
# shellcheck source=tests/repo/modules.sh
. "$(dirname "$0")/modules.sh"
methods=$(sed -nE 's/^FR_METHOD\(([a-z0-9_]+)\).*/\1/p' models/work/method_list.h 2>/dev/null | paste -sd '|' -)
# shellcheck disable=SC2086
if [ -n "$methods" ] && grep -rnE "fr_method_($methods)([^a-z0-9_]|\$)" $modules --include='*.[ch]' |
  grep -vE '^(studies|models/work/method)/|^models/plan/method[.]h:'; then
  echo 'ask for a trait of the method, or FR_METHOD_WITH(trait)'
  exit 1
fi
# shellcheck disable=SC2086
grep -rnE '^(static |const |typedef )*(struct|union|enum) +fr_[a-z0-9_]+ *\{|^(typedef .*)?\} *fr_[a-z0-9_]+;' $modules \
  --include='*.[ch]' --include='*.cpp' |
  sed -E 's/^([^:]*):[0-9]+:.*(struct|union|enum|\}) *(fr_[a-z0-9_]+).*/\3 \1/' | sort -u |
  awk '{ n[$1]++; where[$1] = where[$1] " " $2 }
       END { for (name in n) if (n[name] > 1) { print name " is defined in" where[name]; bad = 1 }; exit bad }'
