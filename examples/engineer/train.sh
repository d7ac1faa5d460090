#!/bin/sh
# Llama 3 8B on 64 H100: which plan is best, how sure is that, what would change it, and how is it started?
# Leaves search.json, start.sh and plans.svg.
set -eu
recipe="--cluster dgx-h100 --model llama-3-8b --ranks 64 --set global_batch=512 --vary tp=1..8*2 --vary zero=0..2 --vary micro_batch=1,2"

# shellcheck disable=SC2086 # words
forerun search $recipe --explain --top 3
# shellcheck disable=SC2086
forerun search $recipe --json >search.json
# shellcheck disable=SC2086
forerun search $recipe --emit sbatch,torchtitan >start.sh
bash -n start.sh # it is a script: sbatch start.sh
command -v gnuplot >/dev/null || exit 0
forerun plot breakdown search.json -o plans.svg -f --title "Where an iteration goes"
