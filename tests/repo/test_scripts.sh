#!/bin/sh
# Does scripts.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put CMakeLists.txt 'fr_module(base USES x)' 'fr_module(answer DEPS base)'
put base/script/script.c '#include "base/script/script.h"' 'fr_text_addf(script, "%s", text);'
put answer/page.c 'fr_text_addf(text, "<p>%s", name);'
put answer/emit/a.c '#include "answer/emit.h"' 'fr_text_addf(text, "--nodes=%d\n", nodes);' \
  'fr_script_comment(text, "of %s", job->workload.name);' \
  'fr_script_word(text, FR_SCRIPT_BASH, cluster->name);' 'fr_script_piece(text, e->to->program);'
passes 'scripts through their writers' scripts.sh

try() { # try WHAT FILE LINE LINE [LINE [LINE]] : the fault is on line 2
  put "$2" "$3" "$4" ${5:+"$5"} ${6:+"$6"}
  fails "$1" "$2:2: " scripts.sh
  rm "$tree/$2"
}
try 'a string' answer/emit/b.c '#include "answer/emit.h"' 'fr_text_addf(text, "# %s\n", w->name);'
try 'a string of some width' answer/b.c '#include "answer/emit.h"' 'fr_text_addf(text, "%-*.40s", 3, name);'
try 'a string on a later line' answer/b.c '#include "base/script/script.h"' 'fr_text_addf(text,' \
  '             "# of %s; placement %s\n",' '             what, name);'
try 'bytes' answer/b.c '#include "answer/placement/launch_lines.h"' 'fr_text_add(text, name, strlen(name));'
try 'a directive' answer/b.c 'static const char head[] = "#SBATCH --nodes=";' 'fr_text_addf(text, "%s", head);'
try 'a first line' answer/b.c 'static const char head[] = "#!/bin/bash\n";' 'fr_text_addf(text, "%s", head);'
try 'a name as our own' answer/b.c '#include "answer/emit.h"' 'fr_script_piece(text, e->job->cluster.name);'
try 'a path as our own' answer/b.c '#include "answer/emit.h"' 'fr_script_piece(text, path);'
finish
