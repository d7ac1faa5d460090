#!/bin/sh
# golden.sh check  BIN [PATTERN]        hold every command's output against the digests
# golden.sh update BIN                  write the digests anew
# golden.sh show   BIN PATTERN DIR      keep the outputs of commands that match, to compare two builds
# golden.sh first  BIN [PATTERN]        as check, in a mixed order up to the first that differs
#   GOLDEN_SHARE=2/5: one of five parts of the commands (by their length), so that ctest runs them side by side.
#
# Behaviour, frozen: some six hundred commands, and a digest of what each prints (both streams, the
# exit code, the files it writes), numbers to ten significant digits; and some thirty thousand at random (walk/),
# whose digests are of many together.  A digest that changes is either
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
  # shellcheck disable=SC2086  # two words and a number, or none
  (cd "$dir" && exec ${until_differs:+timeout -s KILL 100} sh -c "$1") </dev/null >"$dir/.all" 2>&1 || code=$?
  { cat "$dir/.all"; echo "exit $code"; } | golden-canonical >"$dir/.text"
  if [ -n "${keep:-}" ]; then
    { echo "$1"; cat "$dir/.text"; } >"$keep/$(echo "$1" | cksum | cut -d' ' -f1)"
  fi
  line="$(sha256sum <"$dir/.text" | cut -c1-16)  $1"
  rm -rf "$dir"
  echo "$line"
  # 255 tells xargs to start no more.
  [ -z "${until_differs:-}" ] || grep -qxF -e "$line" "$here/digests" || exit 255
}

if [ "$what" = one ]; then
  scratch=$4
  run_one "$3"
  exit
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
keep='' until_differs=''
case $what in
show) keep=$4 && mkdir -p "$keep" ;;
first) until_differs=yes ;;
esac
export keep until_differs
of_share() { # of_share COLUMN: lines whose command begins there
  awk -v share="${GOLDEN_SHARE:-1/1}" -v from="$1" 'BEGIN { split(share, s, "/") } length(substr($0, from)) % s[2] == s[1] - 1'
}
"$here/commands.sh" | grep -e "$pattern" | of_share 1 >"$scratch/commands"
if [ "$what" = first ]; then sort "$here/digests" | cut -c19- | grep -e "$pattern" >"$scratch/commands"; fi
# One command an argument; the order of the lines is not defined, so they are sorted by command.
tr '\n' '\0' <"$scratch/commands" |
  xargs -0 -P "${GOLDEN_JOBS:-$(nproc)}" -I '{}' "$here/golden.sh" one "$bin" '{}' "$scratch" \
    >"$scratch/unsorted" || [ "$what" = first ]
sort -k 2 "$scratch/unsorted" >"$scratch/now"

case $what in
update)
  cp "$scratch/now" "$here/digests"
  echo "$(wc -l <"$here/digests") digests written"
  ;;
show) echo "$(wc -l <"$scratch/now") outputs in $keep" ;;
check | first)
  grep -e "$pattern" "$here/digests" | of_share 19 >"$scratch/wanted" || :
  if diff "$scratch/wanted" "$scratch/now" >"$scratch/diff"; then
    echo "$(wc -l <"$scratch/now") outputs as they were"
    exit 0
  fi
  echo "Outputs that changed (>), as they were (<); golden.sh show keeps them:"
  cat "$scratch/diff"
  exit 1
  ;;
*)
  echo "golden.sh: \"$what\" is none of check, update, show, first" >&2
  exit 2
  ;;
esac
