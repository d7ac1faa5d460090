#!/bin/sh
# names.sh ROOT -- one name, one thing: no struct, union, enum or type fr_x is defined in two files, so
# that who finds one has found it.
set -eu
# shellcheck source=tests/repo/modules.sh
. "$(dirname "$0")/modules.sh"
# shellcheck disable=SC2086
grep -rnE '^(static |const |typedef )*(struct|union|enum) +fr_[a-z0-9_]+ *\{|^(typedef .*)?\} *fr_[a-z0-9_]+;' $modules \
  --include='*.[ch]' --include='*.cpp' |
  sed -E 's/^([^:]*):[0-9]+:.*(struct|union|enum|\}) *(fr_[a-z0-9_]+).*/\3 \1/' | sort -u |
  awk '{ n[$1]++; where[$1] = where[$1] " " $2 }
       END { for (name in n) if (n[name] > 1) { print name " is defined in" where[name]; bad = 1 }; exit bad }'
