#!/bin/sh
# A paper's figures and tables with ours beside what is published; then questions that it did not ask: another input, and a
# schedule of one's own.  Leaves phantom.json, ghost.json, mine.json; figures/ and ghost.svg where gnuplot is there.
set -eu
forerun reproduce phantom --json >phantom.json
forerun reproduce phantom | sed -n '/judged/p' | fold -s -w 80

# Which ghost width on a network of half the bandwidth?
forerun search --cluster frontier --model ffn-16384 --ranks 8,16,32 --vary method=tensor,phantom --vary ghost=2,4,16 \
  --set "cluster.levels.2.bandwidth=12.5 GB/s" --objective energy --top 0 --json >ghost.json

# Every stage does all its forward passes first: its bubble, beside 1F1B's.
echo '{"name": "mine", "stages": ["F0 F1 B0 B1", "F0 F1 B0 B1"]}' >mine.json
for schedule in 1f1b mine.json; do
  forerun simulate --cluster a100-hdr --model gpt-2.5b --set tp=8 --set pp=2 --set global_batch=2 --set schedule=$schedule |
    grep '^takes'
done

command -v gnuplot >/dev/null || exit 0
forerun plot - -o figures/ -f <phantom.json # .svg one column wide, tables as .tex and .md
forerun plot energy-time ghost.json -o ghost.svg -f --width 3.3in --font Times,8 --no-title
