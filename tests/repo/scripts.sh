#!/bin/sh
# scripts.sh ROOT -- texts of others never become code of the scripts that we write: files that write scripts (they
# include answer/emit.h, answer/placement/launch_lines.h or base/script/script.h, or hold #SBATCH or #!/) print no string by
# themselves, but through fr_script_comment or fr_script_word; and fr_script_piece takes no name, source, path or host.
set -eu
# shellcheck source=tests/repo/modules.sh
. "$(dirname "$0")/modules.sh"
bad=0
for module in $modules; do
  files=$(grep -rlE '#include "(answer/emit|answer/placement/launch_lines|base/script/script)[.]h"|"[^"]*#(SBATCH|!/)' \
    "$module" --include='*.[ch]' | grep -v '^base/script/') || continue
  for file in $files; do
    # A statement at a time, which ends where a line does, in ; { or }; with the line of its call.
    awk -v file="$file" '
      /^#/ { next }
      /fr_(text_add|script_piece)/ { from = FNR }
      { statement = statement " " $0 }
      !/[;{}]$/ { next }
      statement ~ /fr_text_addf *\(.*%[-+0-9.*]*s/ { report("prints a string by itself") }
      statement ~ /fr_text_add *\(/ { report("prints a string by itself") }
      statement ~ /fr_script_piece *\([^"]*(name|source|path|file|host|label|workload|cluster|device)/ {
        report("takes a text of others for a piece of ours")
      }
      { statement = "" }
      function report(what) { print file ":" from ": " what; bad = 1 }
      END { exit bad }' "$file" || bad=1
  done
done
[ "$bad" = 0 ] || echo "use fr_script_comment or fr_script_word of base/script/script.h"
exit $bad
