#!/bin/sh
# example.sh PREFIX SOURCE WORK -- compile SOURCE with what pkg-config says of the copy installed at
# PREFIX, and nothing else; run it; once more with the static library.  Its output must be the same
# and hold a number.
set -eu
prefix=$1 source=$2 work=$3
name=$(basename "$source" .c)
work=$work/$name.d # each its own: they run side by side
mkdir -p "$work"
cd "$work"
for folder in "$prefix"/lib/pkgconfig "$prefix"/lib/*/pkgconfig "$prefix"/lib64/pkgconfig; do
  if [ -d "$folder" ]; then PKG_CONFIG_PATH=$folder; fi
done
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # words of a command line
${CC:-cc} -std=c17 -Wall -Wextra -Werror "$source" $(pkg-config --cflags --libs forerun) -o "$name"
"$(dirname "$source")"/../../tests/golden/in/samples.sh >samples.jsonl # what fit reads
./"$name" >"$name.out"
# Static: the archive alone, and what it needs of others.
needs=$(pkg-config --static --libs forerun | sed 's/-lforerun/-l:libforerun.a/')
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c17 "$source" $(pkg-config --cflags forerun) $needs -o "$name-static"
./"$name-static" >"$name-static.out"
cmp "$name.out" "$name-static.out"
grep -q '[0-9]' "$name.out"
if grep -Eiq 'nan|inf ' "$name.out"; then
  echo "$name prints a number that is none:"
  cat "$name.out"
  exit 1
fi
lines=$(wc -l <"$source")
[ "$lines" -lt 40 ] || { echo "$source has $lines lines, not under 40"; exit 1; }
