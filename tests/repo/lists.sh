#!/bin/sh
# lists.sh ROOT [BUILD] -- how much is compiled again after a new row.  A list of rows (x_list.h) is expanded by its own
# table and by tests that go through it: at most 15 sources may read it, through whatever headers.  A line
# for each list that more do, with the headers between, exit code 1.
# With BUILD (build/release), a folder where ninja has built: the table "list, objects compiled again", of its own record.
set -eu
cd "$1"
most=15
lists=$(find . \( -name build -o -name .git -o -name demo-output \) -prune -o -name '*_list.h' -print | sed 's|^\./||' | sort)
[ -n "$lists" ] || { echo "$1 holds no *_list.h" && exit 1; }

if [ $# -gt 1 ]; then
  ninja -C "$2" -t deps | awk -v lists="$lists" -v most=$most '
    BEGIN { n = split(lists, list, "\n") }
    /^ / { for (i = 1; i <= n; i++) if (substr($0, length($0) - length(list[i])) == "/" list[i]) count[i]++ }
    END {
      print "objects  list"
      for (i = 1; i <= n; i++) {
        printf "%7d  %s\n", count[i], list[i]
        if (count[i] > most) bad = 1
      }
      exit bad
    }'
  exit
fi

find . \( -name build -o -name .git -o -name demo-output \) -prune -o -name '*.[ch]' -print | sed 's|^\./||' | sort |
  xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
  awk -v lists="$lists" -v most=$most '
    { split($0, part, "\""); path = $0; sub(/:.*/, "", path); readers[part[2]] = readers[part[2]] " " path }
    END {
      n = split(lists, list, "\n")
      for (i = 1; i <= n; i++) {
        split("", seen); split("", queue)
        queue[last = 1] = list[i]; sources = 0; headers = ""
        for (at = 1; at <= last; at++) {
          m = split(readers[queue[at]], who, " ")
          for (k = 1; k <= m; k++) {
            if (who[k] in seen) continue
            seen[who[k]] = 1
            if (who[k] ~ /[.]c$/) sources++
            else { queue[++last] = who[k]; headers = headers " " who[k] }
          }
        }
        if (sources > most) {
          printf "%s: a new row compiles %d sources again, at most %d; they read it through%s\n", list[i], sources, most, headers
          bad = 1
        }
      }
      exit bad
    }'
