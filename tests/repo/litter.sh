#!/bin/sh
# litter.sh ROOT -- what a verb writes where it is called, unless told otherwise, is not in the
# tree and is ignored by git; and papers are named by author, title and year, not by a number.
set -eu
root=$1
bad=0

complain() {
  echo "$1"
  bad=1
}

# Defaults of verbs: samples = "samples.jsonl";
defaults=$(grep -rhoE '= "[a-z]+\.jsonl?";' "$root/app" | sed -E 's/.*"(.*)".*/\1/' | sort -u)
[ -n "$defaults" ] || complain "$root/app names no default output"
tracked=$(git -C "$root" ls-files 2>/dev/null) || tracked=
for file in $defaults; do
  for rule in "/$file" "/*.${file##*.}"; do
    grep -qxF "$rule" "$root/.gitignore" && continue 2
  done
  complain ".gitignore does not name $file, which a verb writes by default"
done
for file in $defaults; do
  case "
$tracked
" in *"
$file
"*) complain "$file at the root is an output, not a source" ;; esac
done

numbered=$(cd "$root" && grep -rliE --include='*.[ch]' --include='*.json' --include='*.md' --include='*.sh' \
  --exclude-dir=build --exclude-dir=.git --exclude-dir=demo-output 'seed ''0[0-9][0-9]' . | sort)
for file in $numbered; do
  complain "$file names a paper by a number"
done
exit $bad
