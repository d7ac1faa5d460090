#!/bin/sh
# manual.sh FORERUN DOCS OUT [FORERUN-MPI]: manual pages in OUT/man1, man5 and man7: of the program and its verbs
# and of the keys of a plan as `forerun manual` writes them, of each other file format and of answers the page in
# DOCS/reference, of the model DOCS/explanation/model.md.  With FORERUN-MPI also those of the three programs beside forerun;
# its own page is its help.  Needs go-md2man.
set -eu
forerun=$1 docs=$2 out=$3 mpi=${4-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$("$forerun" --version | head -1)

# A row of a table becomes a term and what is said of it: tables of a manual page do not wrap.
rows() {
  awk -F ' *[|] *' '!/^[|]/ {heads = 0; print; next}
       heads == 0 {heads = NF; for (i = 3; i < NF; i++) head[i] = $i; next}
       /^[|][-: |]*$/ {next}
       {
         printf "**%s**\n: ", $2
         for (i = 3; i < NF; i++) if ($i != "") printf("%s%s", (i > 3) ? "; " head[i] ": " : "", $i)
         printf "\n\n"
       }'
}
# page NAME SECTION "SUMMARY": standard input, Markdown, as a page
page() {
  {
    printf '%% %s %s "" "%s" "Forerun"\n\n# NAME\n\n%s - %s\n\n' "$1" "$2" "$version" "$1" "$3"
    rows
    printf '\n# SEE ALSO\n\n**forerun**(1), **forerun-plan**(5), **forerun-guide**(7)\n'
  } >"$work/$1.$2.md"
}
# section HEADING FILE: what stands below "## HEADING"
section() {
  awk -v heading="## $1" '$0 == heading {on = 1; print "# DESCRIPTION"; next}
                          /^## / {on = 0} on' "$2"
}
whole() { sed -e '1{/^# /d;}' -e 's/^## /# /' "$1"; }

"$forerun" manual --into "$work"
whole "$docs/reference/cluster-keys.md" | page forerun-cluster 5 "a machine: device, levels, collectives, topology, power"
whole "$docs/reference/runtime-keys.md" | page forerun-runtime 5 "software with a date: defaults of plans, what devices reach"
whole "$docs/reference/model-keys.md" | page forerun-model 5 "a network to train"
section runs.csv "$docs/reference/formats.md" | page forerun-runs 5 "measured training runs, for tune and score"
section samples.jsonl "$docs/reference/formats.md" | page forerun-samples 5 "measurements of a machine, for fit"
section config.json "$docs/reference/formats.md" | page forerun-config 5 "your own presets and defaults"
whole "$docs/reference/outputs.md" | page forerun-output 5 "JSON that forerun prints"
whole "$docs/explanation/model.md" | page forerun-guide 7 "how to think about what forerun models"

# block WORDS...: what a command prints, as it is
block() { "$@" | sed 's/^/    /'; printf '\n'; }
programs() {
  {
    printf '# SYNOPSIS\n\n'
    block "$mpi" --help
    printf '# CALIBRATE\n\n'
    block "$mpi" calibrate --help
    printf '# RUN, TRAIN, LEARN\n\n'
    block "$mpi" run --help
    printf '# SEARCH\n\nThe options of **forerun-search**(1).\n'
  } | page forerun-mpi 1 "measurements and real trainings on ranks of MPI"
  page forerun-simgrid 1 "one program of messages, replayed in SimGrid" <<'END'
# SYNOPSIS

**forerun-simgrid** PLATFORM PROGRAM RESULT

# DESCRIPTION

**forerun simulate --network simgrid** writes PLATFORM and PROGRAM, starts this program and reads RESULT. It is a program of
its own because SimGrid holds one simulation a process.

PROGRAM has one activity a line, numbered from 0. After each stand N and the numbers of N earlier activities that must be over.
*x HOST SECONDS SHARE N AFTER...* computes with a share of one core; *m FROM TO BYTES N AFTER...* is a message.
RESULT has start and end of each activity, then the energy of each host, then how long SimGrid ran.
END
  page forerun-smpi 1 "the measurements of forerun-mpi on simulated hosts" <<'END'
# SYNOPSIS

**smpirun** -np N -platform PLATFORM.xml **forerun-smpi** calibrate|run|train|learn [OPTIONS]

# DESCRIPTION

The sources of **forerun-mpi**(1) linked with SimGrid's MPI. **forerun calibrate --launcher smpi:PLATFORM.xml** starts it.
It is a shared object that **smpirun** loads once a rank. Options are those of **forerun-mpi**(1); it has no search.
END
}
[ -z "$mpi" ] || programs

for text in "$work"/*.md; do
  name=$(basename "$text" .md)
  mkdir -p "$out/man${name##*.}"
  go-md2man -in "$text" -out "$out/man${name##*.}/$name"
done
