#!/bin/sh
# notice.sh ROOT: every source that a preset names stands in NOTICE, and every line of NOTICE is of some preset.
#   - each text of a key "source" contains the words of at least one line
#   - each "X et al.", each "owner/repository", each "arXiv N", and each known kind of document in it is in a line that
#     applies to it, so that a new source beside an old one is found
#   - each line has a licence, or says "not stated"
set -eu
root=$1
# One line a source: file, a tab, its text.  Presets hold one key a line or several; strings have no escaped quotes.
sources() {
  for file in "$root"/presets/*/*.json; do
    grep -oE '"source": *"([^"\\]|\\.)*"' "$file" | sed -e 's/^"source": *"//; s/"$//' -e "s|^|${file#"$root"/}	|"
  done
}
sources | awk -F'\t' '
  FILENAME != "-" { # NOTICE
    if (split($0, part, " [|] ") != 3) {
      if ($0 ~ /[|]/ && $0 !~ /^Each line/) { print "NOTICE:" FNR ": wants words | what | licence: " $0; bad = 1 }
      next
    }
    if ($0 ~ /^Each line/) next
    if (part[1] == "" || part[3] !~ /^(not stated|[A-Z][A-Za-z0-9.-]*-[0-9.]+.*|MIT|BSD-.*)$/) { print "NOTICE:" FNR ": no licence: " $0; bad = 1 }
    words[++n] = part[1]; line[n] = $0
    next
  }
  { # a source
    told = ""
    for (i = 1; i <= n; i++) if (index($2, words[i])) { told = told "\n" line[i]; used[i] = 1 }
    if (told == "" && $2 !~ /assumed|preset|the same/) { print $1 ": NOTICE names nothing of: " $2; bad = 1 }
    rest = $2
    while (match(rest, /[A-Z][a-z]+ et al[.]|arXiv [0-9]+[.][0-9]+|[A-Za-z0-9][A-Za-z0-9_.-]+\/[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]/)) {
      name = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
      if (name ~ /^[A-Z]?[A-Za-z]*(FLOP|B|b|bytes|images|W|J)\/s?[a-z]*$/ || name ~ /^(applications|experiments|transformer)\//) continue
      if (!index(told, name)) { print $1 ": NOTICE does not name " name; bad = 1 }
    }
  }
  END {
    for (i = 1; i <= n; i++) if (!used[i]) { print "NOTICE: no preset has a source with: " words[i]; bad = 1 }
    exit bad
  }' "$root/NOTICE" -
