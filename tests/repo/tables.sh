#!/bin/sh
# tables.sh ROOT -- every row FR_<KIND>(<name>) of a <kind>_list.h has its file <kind>/<name>.c, or
# <kind>/<name>.<kind> where the folder holds descriptions (base/describe/), and every file there has its row, once.  Where one file of a folder has a gnuplot script
# <name>.gp beside it, every one has.  Rows alone are only once there.
set -eu
root=$1
bad=0

complain() {
  echo "$1"
  bad=1
}

lists=$(find "$root" \( -name build -o -name .git -o -name demo-output \) -prune -o -name '*_list.h' -print | sort)
[ -n "$lists" ] || complain "$root holds no *_list.h"

names() { # names FOLDER EXTENSION
  for file in "$1"/*"$2"; do
    [ -e "$file" ] && basename "$file" "$2"
  done | sort
}

differ() { # differ A B WHAT: lines of A that are not in B
  for name in $1; do
    case "
$2
" in *"
$name
"*) ;; *) complain "$3 $name" ;; esac
  done
}

# A list that says "Rows alone" has no files: its rows, each once, are the table.
alone() {
  rows=$(sed -nE 's/^[[:space:]]*FR_[A-Z_0-9]+\(([A-Za-z0-9_]+)[,)].*/\1/p' "$1" | sort)
  [ -n "$rows" ] || complain "$1 has no rows"
  differ "$(echo "$rows" | uniq -d)" "" "$1: twice the row"
}

for list in $lists; do
  if grep -q 'Rows alone' "$list"; then
    alone "$list"
    continue
  fi
  folder=${list%_list.h}
  rows=$(sed -nE 's/^[[:space:]]*FR_[A-Z_0-9]+\(([a-z0-9_]+)[,)].*/\1/p' "$list" | sort)
  ending=.c
  set -- "$folder"/*."${folder##*/}"
  [ ! -e "$1" ] || ending=.${folder##*/}
  files=$(names "$folder" "$ending")
  scripts=$(names "$folder" .gp)
  [ -n "$rows" ] || complain "$list has no rows"
  differ "$rows" "$files" "$list: no file $folder/<name>$ending for row"
  differ "$files" "$rows" "$folder: no row in the list for file"
  differ "$(echo "$rows" | uniq -d)" "" "$list: twice the row"
  [ -n "$scripts" ] || continue
  differ "$files" "$scripts" "$folder: no script .gp for"
  differ "$scripts" "$files" "$folder: script without its .c:"
done
exit $bad
