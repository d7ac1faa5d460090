#!/bin/sh
# allocations.sh ROOT -- memory is asked for through base/alloc.h alone, so that a failure ends the
# program with a sentence: no malloc, calloc, realloc, strdup or the like in any other file of a
# module; nor qsort, which goes on without the memory it asks for (base/sort.h).  Tests and
# benchmarks may.
set -eu
# shellcheck source=tests/repo/modules.sh
. "$(dirname "$0")/modules.sh"
raw='(malloc|calloc|realloc|reallocarray|strdup|strndup|aligned_alloc|posix_memalign|v?asprintf|open_memstream|getline|getdelim|qsort)'
bad=0
for module in $modules; do
  # A call, not a word of a comment: the name with its parenthesis, none of our own prefix.
  if grep -rnE "(^|[^A-Za-z0-9_])$raw *\(" "$module" --include='*.[ch]' | grep -vE '^(base/alloc[.][ch]|base/sort[.]h|app/main[.]c):'; then
    bad=1
  fi
done
[ "$bad" = 0 ] || echo "use base/alloc.h (fr_malloc, fr_calloc, fr_realloc, fr_strdup), fr_text or base/sort.h"
exit $bad
