#!/bin/sh
# A trillion tokens of Llama 3 8B: on which of three clusters, in how many days, for how much energy, money and CO2?
# Leaves clusters.json; clusters.svg and page.html where gnuplot is there.
set -eu
asked="--cluster dgx-h100 --cluster dgx-a100 --cluster dgx-b200 --model llama-3-8b --ranks 64 --vary tp=1..8*2 --vary zero=0..2
  --set global_batch=512 --tokens 1T --price 2.5USD/h --carbon 0.4kg/kWh"

# shellcheck disable=SC2086 # words
forerun compare $asked
# shellcheck disable=SC2086
forerun compare $asked --json >clusters.json
command -v gnuplot >/dev/null || exit 0
forerun plot clusters clusters.json -o clusters.svg -f
forerun report clusters.json -o page.html -f # one file, nothing fetched: to send on
