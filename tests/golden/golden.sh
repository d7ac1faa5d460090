#!/bin/sh
# golden.sh check  BIN [PATTERN]        hold every command's output against the digests
# golden.sh update BIN                  write the digests anew
# golden.sh show   BIN PATTERN DIR      keep the outputs of commands that match, to compare two builds
#
# Behaviour, frozen: some four hundred commands, and a digest of what each prints (both streams, the
# exit code, the files it writes), numbers to ten significant digits.  A digest that changes is either
# a fault or meant; the commit that changes it says which, and why.  BIN holds the programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=$1
bin=$(cd "$2" && pwd)
pattern=${3:-.}
export LC_ALL=C PATH="$bin:$PATH" here
unset FORERUN_DATA DISPLAY

# Each line "DIGEST  COMMAND"; the command runs by itself in an empty folder, in/ being ours.
run_one() {
  dir=$scratch/$$
  mkdir "$dir"
  ln -s "$here/in" "$dir/in"
  code=0
  (cd "$dir" && exec sh -c "$1") </dev/null >"$dir/.all" 2>&1 || code=$?
  { cat "$dir/.all"; echo "exit $code"; } | golden-canonical >"$dir/.text"
  if [ -n "${keep:-}" ]; then
    { echo "$1"; cat "$dir/.text"; } >"$keep/$(echo "$1" | cksum | cut -d' ' -f1)"
  fi
  echo "$(sha256sum <"$dir/.text" | cut -c1-16)  $1"
  rm -rf "$dir"
}

if [ "$what" = one ]; then
  scratch=$4
  run_one "$3"
  exit
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
keep=
if [ "$what" = show ]; then
  keep=$4
  mkdir -p "$keep"
fi
export keep
"$here/commands.sh" | grep -e "$pattern" >"$scratch/commands"
# One command an argument; the order of the lines is not defined, so they are sorted by command.
tr '\n' '\0' <"$scratch/commands" |
  xargs -0 -P "$(nproc)" -I '{}' "$here/golden.sh" one "$bin" '{}' "$scratch" >"$scratch/unsorted"
sort -k 2 "$scratch/unsorted" >"$scratch/now"

case $what in
update)
  cp "$scratch/now" "$here/digests"
  echo "$(wc -l <"$here/digests") digests written"
  ;;
show) echo "$(wc -l <"$scratch/now") outputs in $keep" ;;
check)
  grep -e "$pattern" "$here/digests" >"$scratch/wanted" || :
  if diff "$scratch/wanted" "$scratch/now" >"$scratch/diff"; then
    echo "$(wc -l <"$scratch/now") outputs as they were"
    exit 0
  fi
  echo "Outputs that changed (>), as they were (<); golden.sh show keeps them:"
  cat "$scratch/diff"
  exit 1
  ;;
*)
  echo "golden.sh: \"$what\" is none of check, update, show" >&2
  exit 2
  ;;
esac
