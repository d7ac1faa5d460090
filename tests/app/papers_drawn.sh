#!/bin/sh
# papers_drawn.sh BIN: the papers' figures and tables from their rows through a pipe, all of them, one
# column wide, each series named; what is published stands as marks.  Skipped (77) without gnuplot.
set -eu
bin=$(cd "$1" && pwd)
command -v gnuplot >/dev/null || { echo "no gnuplot here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }

drawn() { # drawn PAPER FILE... : these and no others
  paper=$1
  shift
  "$bin/forerun" reproduce "$paper" --json | "$bin/forerun" plot - -o "$paper/"
  [ "$(ls "$paper" | tr '\n' ' ')" = "$* " ] || fail "$paper: $(ls "$paper" | tr '\n' ' '), not $*"
  for svg in "$paper"/*.svg; do
    grep -q '<svg[^>]* width="317"' "$svg" || grep -q 'width="317"' "$svg" || fail "$svg is not 3.3 inches wide"
  done
}

shows() { # shows FILE TEXT...
  file=$1
  shift
  for text; do grep -qF "$text" "$file" || fail "$file does not say \"$text\""; done
}

drawn phantom fig5.svg fig6.svg fig7.svg table1.md table1.svg table1.tex
drawn grid eq4.svg fig3.svg fig5.svg fig6.svg
drawn optimus fig10.svg fig12.svg fig13.svg fig14.svg fig15.svg fig16.svg fig3.svg table2.md table2.svg table2.tex
drawn dsp fig12.svg fig12_times.svg fig13.svg fig13_times.svg fig14.svg fig15.svg fig15_times.svg fig16.svg fig17.svg section6d.svg
shows phantom/table1.svg tensor phantom "mark: published" "energy of an epoch"
shows phantom/fig5.svg "phantom k=64" "phantom k=3" "phantom k=16"
shows phantom/fig6.svg "n = 131072" "n = 262144" "batch 8: tensor overtakes" "extra time, 256 ranks"
shows grid/fig5.svg "8 ranks" "256 ranks" "communication by model" "by data"
shows phantom/fig7.svg "trained here" "phantom k=32" "(b) energy to the loss" "mark: published"
shows phantom/table1.tex "8 & 537 & 181.2" " & (536.9) & (181.2)"
shows phantom/table1.md "| 8 | 537 (536.9) | 181.2 (181.2) |"
shows optimus/table2.svg "CB" "+FE" "+SC 3/4" published
shows optimus/fig10.svg FWD BWD inter-stage EMB "how much less" "how much faster"
shows optimus/fig14.svg "turned on in turn" "turned off alone"
shows optimus/fig15.svg network
shows dsp/fig15.svg "four samples" 2-way 4-way 8-way "mark: published"

# A page counts what holds as the text does.
"$bin/forerun" reproduce optimus --page optimus.html >optimus.txt
counted=$(sed -n 's/^\([0-9]* of [0-9]* judged rows hold\).*/\1/p' optimus.txt)
[ -n "$counted" ] && grep -qF "$counted" optimus.html || fail "the page of optimus does not say: $counted"

# All of them at once: each file says whose it is, and is what its paper alone gives.
"$bin/forerun" reproduce phantom grid optimus dsp --json | "$bin/forerun" plot - -o all/
for paper in phantom grid optimus dsp; do
  for file in "$paper"/*; do
    cmp -s "$file" "all/$paper-${file##*/}" || fail "all/$paper-${file##*/} is not $file"
  done
done
[ "$(ls all | wc -l)" = "$(ls phantom grid optimus dsp | grep -c '\.')" ] || fail "all: $(ls all | tr '\n' ' ')"
echo "all figures and tables of four papers drawn"
