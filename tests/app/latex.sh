#!/bin/sh
# latex.sh BIN: what --latex and plot print as LaTeX goes through pdflatex: of each paper the rows, and its
# tables one column wide.  No error, nothing undefined, nothing wider than the page.  Skipped (77) without it.
set -eu
bin=$(cd "$1" && pwd)
command -v pdflatex >/dev/null && kpsewhich booktabs.sty longtable.sty >/dev/null || { echo "Skipped: no pdflatex with booktabs"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
bad=0

fail() {
  echo "$*"
  bad=1
}

# typeset NAME PREAMBLE FILE...: one document of the files
typeset() {
  name=$1 preamble=$2
  shift 2
  {
    printf '\\documentclass[%s\n\\usepackage{booktabs,longtable}\n\\begin{document}\n' "$preamble"
    for file; do printf '\\input{%s}\n\\clearpage\n' "$file"; done
    printf '\\end{document}\n'
  } >"$name.tex"
  pdflatex -halt-on-error -interaction=nonstopmode "$name.tex" >"$name.out" ||
    { fail "$name: $(grep -A3 '^!' "$name.log")"; return; }
  pdflatex -halt-on-error -interaction=nonstopmode "$name.tex" >"$name.out" # longtable's widths
  said=$(grep -E '^(Overfull|LaTeX Warning: .*undefined|Missing character)' "$name.log" || true)
  [ -z "$said" ] || fail "$name: $said"
  [ "$(sed -n 's/^Output written on .*(\([0-9]*\) page.*/\1/p' "$name.log")" -ge $# ] || fail "$name: too few pages"
}

for paper in phantom grid optimus dsp; do
  "$bin/forerun" reproduce $paper --latex >$paper-rows.tex
  typeset $paper 'landscape,a4paper]{article}\usepackage[margin=1cm]{geometry}' $paper-rows.tex
done
for paper in phantom optimus; do
  "$bin/forerun" reproduce $paper --json | "$bin/forerun" plot - -o $paper-tables
  typeset $paper-column '10pt,twocolumn]{article}\usepackage[textwidth=6.85in,columnsep=0.25in]{geometry}' $paper-tables/*.tex
done
[ $bad = 0 ] && echo "rows of four papers, tables of two: typeset"
exit $bad
