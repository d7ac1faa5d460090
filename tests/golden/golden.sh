#!/bin/sh
# golden.sh check  BIN [PATTERN]        hold every command's output against the digests
# golden.sh update BIN                  write the digests anew
# golden.sh show   BIN PATTERN DIR      keep the outputs of commands that match, to compare two builds
# golden.sh first  BIN [PATTERN]        as check, in a mixed order up to the first that differs
#   GOLDEN_SHARE=2/5: one of five parts of the commands (by their length), so that ctest runs them side by side.
#
# Behaviour, frozen: some six hundred commands, numbers to ten significant digits, and some thirty thousand at random
# (walk/).  What predict, simulate and search print as JSON stands in `facts`, one fact a line; of all others stands a
# digest of what they print (both streams, the exit code, the files they write) in `digests`, of the random ones of many
# together.  What changes is either a fault or meant; the commit that changes it says which, and why.  BIN holds the
# programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=$1
bin=$(cd "$2" && pwd)
pattern=${3:-.}
export LC_ALL=C PATH="$bin:$PATH" here
unset FORERUN_DATA DISPLAY
version=$(forerun --version | sed -n '1s/^forerun \([0-9.]*\).*/\1/p' | sed 's/\./\\./g') # a release changes no digest
[ -n "$version" ]
export version

# One document and nothing else?
is_told() {
  case $1 in
  *'&&'* | *'|'* | *'>'* | *'--trace'* | *'--help'*) return 1 ;;
  'forerun predict '*--json* | 'forerun simulate '*--json* | 'forerun search '*--json*) return 0 ;;
  esac
  return 1
}

digest() { sha256sum <"$1" | cut -c1-16; }

# Each line "DIGEST  COMMAND"; the command runs by itself in an empty folder, in/ being ours.
run_one() {
  dir=$scratch/$$
  mkdir "$dir"
  ln -s "$here/in" "$dir/in"
  code=0
  # shellcheck disable=SC2086  # two words and a number, or none
  (cd "$dir" && exec ${until_differs:+timeout -s KILL 100} sh -c "$1") </dev/null >"$dir/.all" 2>&1 || code=$?
  { cat "$dir/.all"; echo "exit $code"; } | golden-canonical | sed "s/$version/VERSION/g" >"$dir/.text"
  if [ -n "${keep:-}" ]; then
    { echo "$1"; cat "$dir/.text"; } >"$keep/$(echo "$1" | cksum | cut -d' ' -f1)"
  fi
  if is_told "$1"; then
    golden-facts <"$dir/.text" >"$dir/.facts"
    mv "$dir/.facts" "$dir/.text"
    { echo "# $1"; cat "$dir/.text"; } >"$scratch/told/$(echo "$1" | cksum | cut -d' ' -f1)"
  fi
  line="$(digest "$dir/.text")  $1"
  rm -rf "$dir"
  echo "$line"
  # 255 tells xargs to start no more.
  [ -z "${until_differs:-}" ] || grep -qxF -e "$line" "$wanted" || exit 255
}

# All that is wanted as "DIGEST  COMMAND": of a part of `facts` that of its lines.
all_wanted() {
  cat "$here/digests"
  mkdir "$scratch/parts"
  awk -v parts="$scratch/parts" '
    /^# / {close(part); part = sprintf("%s/%05d", parts, ++n); print "  " substr($0, 3); next}
    {print >part}' "$here/facts" >"$scratch/titles"
  [ ! -s "$scratch/titles" ] || sha256sum "$scratch"/parts/* | cut -c1-16 | paste -d '\0' - "$scratch/titles"
}

# The told commands of a list "DIGEST  COMMAND", as `facts` has them.
told_now() {
  cut -c19- "$1" | while read -r command; do
    if is_told "$command"; then cat "$scratch/told/$(echo "$command" | cksum | cut -d' ' -f1)"; fi
  done
}

# Facts that differ, by name: where first, and how often besides.
differences() {
  awk 'FNR == 1 {side++}
       /^# / {command = substr($0, 3); next}
       {name = $1; value = substr($0, length(name) + 2); key = command SUBSEP name}
       side == 1 {was[key] = value; keys[++all] = key; next}
       {now[key]}
       !(key in was) {told(command, name, "absent", value)}
       (key in was) && was[key] != value {told(command, name, was[key], value)}
       function told(command, name, before, after) {
         if (count[name]++) return
         names[++n] = name
         first[name] = "  " name ": " before " -> " after "\n    " command
       }
       END {
         for (i = 1; i <= all; i++)
           if (!(keys[i] in now)) {
             split(keys[i], part, SUBSEP)
             told(part[1], part[2], was[keys[i]], "absent")
           }
         for (i = 1; i <= n; i++) {
           more = count[names[i]] - 1
           print first[names[i]] (more ? ", and " more " more" : "")
         }
       }' "$1" "$2"
}

# Of a difference between lists "DIGEST  COMMAND" what stands for no document.
untold() {
  while read -r side line; do
    case $side in
    '<' | '>') is_told "${line#*  }" || echo "$side $line" ;;
    esac
  done <"$1"
}

if [ "$what" = one ]; then
  scratch=$4
  run_one "$3"
  exit
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
mkdir "$scratch/told"
keep='' until_differs='' wanted=$scratch/all
[ "$what" = update ] || all_wanted | sort -k 2 >"$wanted"
case $what in
show) keep=$4 && mkdir -p "$keep" ;;
first) until_differs=yes ;;
esac
export keep until_differs wanted
of_share() { # of_share COLUMN: lines whose command begins there
  awk -v share="${GOLDEN_SHARE:-1/1}" -v from="$1" 'BEGIN { split(share, s, "/") } length(substr($0, from)) % s[2] == s[1] - 1'
}
"$here/commands.sh" | sed "s/ *$//" | grep -e "$pattern" | of_share 1 >"$scratch/commands"
if [ "$what" = first ]; then sort "$wanted" | cut -c19- | grep -e "$pattern" >"$scratch/commands"; fi
# One command an argument; the order of the lines is not defined, so they are sorted by command.
tr '\n' '\0' <"$scratch/commands" |
  xargs -0 -P "${GOLDEN_JOBS:-$(nproc)}" -I '{}' "$here/golden.sh" one "$bin" '{}' "$scratch" \
    >"$scratch/unsorted" || [ "$what" = first ]
sort -k 2 "$scratch/unsorted" >"$scratch/now"
told_now "$scratch/now" >"$scratch/facts"

case $what in
update)
  while read -r line; do
    is_told "${line#*  }" || echo "$line"
  done <"$scratch/now" >"$here/digests"
  cp "$scratch/facts" "$here/facts"
  echo "$(wc -l <"$here/digests") digests and $(grep -c '^# ' "$here/facts") documents written"
  ;;
show) echo "$(wc -l <"$scratch/now") outputs in $keep" ;;
check | first)
  grep -e "$pattern" "$wanted" | of_share 19 >"$scratch/wanted" || :
  if diff "$scratch/wanted" "$scratch/now" >"$scratch/diff"; then
    echo "$(wc -l <"$scratch/now") outputs as they were"
    exit 0
  fi
  if [ "$what" = first ]; then cp "$scratch/now" "$scratch/wanted"; fi
  cut -c19- "$scratch/wanted" "$scratch/now" >"$scratch/asked"
  awk 'FNR == NR {asked[$0]; next} /^# / {on = substr($0, 3) in asked} on' "$scratch/asked" "$here/facts" \
    >"$scratch/told/wanted"
  echo "Facts of documents that changed (before -> after):"
  differences "$scratch/told/wanted" "$scratch/facts"
  echo "Outputs that changed (>), as they were (<); golden.sh show keeps them:"
  untold "$scratch/diff"
  exit 1
  ;;
*)
  echo "golden.sh: \"$what\" is none of check, update, show, first" >&2
  exit 2
  ;;
esac
