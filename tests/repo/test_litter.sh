#!/bin/sh
# Does litter.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put .gitignore '/build/'
put app/verb.c 'int x;'
fails 'no default found' 'names no default' litter.sh

put app/verb.c '    if (!o) o = "rows.jsonl";'
fails 'an output that git sees' '.gitignore does not name rows.jsonl' litter.sh
put .gitignore '/*.jsonl'
passes 'ignored by its ending' litter.sh
put .gitignore '/rows.jsonl'
passes 'ignored by its name' litter.sh

if command -v git >/dev/null; then
  put rows.jsonl '{}'
  (cd "$tree" && git init -q . && git add -f rows.jsonl)
  fails 'an output in the tree' 'rows.jsonl at the root' litter.sh
  (cd "$tree" && git rm -q --cached rows.jsonl)
  passes 'an output left lying' litter.sh
fi

put models/a.c '/* Eq. 4 of seed '"004"' */'
fails 'a paper by its number' 'models/a.c names a paper' litter.sh
put models/a.c '/* Eq. 4 of Gholami et al. 2017; seed 7 */'
passes 'a paper by its authors' litter.sh
finish
