#!/bin/sh
# Does reading.py see what it is for?
set -eu
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"
long=$(printf 'word %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36)
wide=$(printf 'abcdefghi %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21)

put README.md '# Plain' 'Short words. `seats` are code.' '```' "$long" '```'
put docs/evidence/diary.md "$long" 'It was spelt out.'
put base/a.h '/** A bedroom is no room of ours, but a word. */' 'int room;'
put tests/repo/reading.tsv "$(printf 'base/a.h\t1\ta reason')"
passes 'plain words, code, a diary, and what is forgiven' reading.py
put base/a.h '/** A room. */' '/** Another room. */'
fails 'more than is forgiven' '2 places, 1 forgiven' reading.py
put base/a.h '/** Memory. */'
put README.md "$long."
fails 'a long sentence' '36 words' reading.py
put README.md "| $wide |"
fails 'a wide cell' 'characters' reading.py
put README.md 'It is spelt out.'
fails 'a word that is given up' 'spelt out' reading.py
put README.md 'Good.'
put app/b.c '  fail("the plan has no seats for these ranks");'
fails 'a word in a message' '"seats"' reading.py
put app/b.c "  help(\"$long\"" "  \"and so on\");"
fails 'a long sentence in a message' '39 words' reading.py
rm "$tree/app/b.c"
put tests/c.c '/* What is the time of a pass? */' '/* A pass takes as long as its products. */'
passes 'a question, and a sentence with its subject' reading.py
put tests/c.c '/* Of two passes the first. */'
fails 'a comment that turns its sentence round' 'begin with its subject' reading.py
finish
