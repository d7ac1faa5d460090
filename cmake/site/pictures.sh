#!/bin/sh
# pictures.sh FORERUN DOCS: draw the pictures of DOCS/explanation and DOCS/gallery anew, with forerun plot.  The one of
# measured runs needs the published data (FORERUN_DATA, or ../shared/data); without it the committed one stays.
set -eu
forerun=$1 docs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$docs/explanation/pictures" "$docs/gallery"

data=${FORERUN_DATA:-$docs/../../shared/data}
if [ -r "$data/training/llmfoundry_mpt_fsdp.csv" ]; then
  "$forerun" score --runs "$data/training/llmfoundry_mpt_fsdp.csv" --by note.device --json >"$work/runs.json"
  "$forerun" plot score "$work/runs.json" -o "$docs/explanation/pictures/runs.svg" -f
fi
"$forerun" search --cluster dgx-h100 --model llama-3-8b --ranks 8,16,32,64,128,256,512 --vary tp=1,2,4,8 \
  --set global_batch=1024 --set micro_batch=1 --top 0 --json >"$work/scaling.json"
"$forerun" plot scaling "$work/scaling.json" -o "$docs/explanation/pictures/scaling.svg" -f

# The figures of each paper.
for wanted in phantom:fig5 phantom:fig6 phantom:fig7 grid:fig3 grid:fig5 grid:fig6 optimus:fig3 optimus:fig10 optimus:fig12 \
  optimus:fig13 optimus:fig14 optimus:fig15 optimus:fig16 dsp:fig12 dsp:fig12_times dsp:fig13 dsp:fig13_times dsp:fig14 \
  dsp:fig15 dsp:fig15_times dsp:fig16 dsp:fig17; do
  paper=${wanted%:*} figure=${wanted#*:}
  [ -d "$work/$paper" ] || "$forerun" reproduce "$paper" --json | "$forerun" plot - -o "$work/$paper"
  cp "$work/$paper/$figure.svg" "$docs/gallery/$paper-$figure.svg"
done

"$forerun" predict --cluster dgx-h100 --model llama-3-70b --set tp=8 --set pp=4 --set dp=4 --set micro_batch=1 \
  --set zero=1 --set global_batch=64 --explain --json >"$work/memory.json"
"$forerun" plot memory "$work/memory.json" -o "$docs/gallery/memory.svg" -f
"$forerun" simulate --cluster dgx-h100 --model llama-3-70b --set tp=8 --set pp=4 --set dp=4 --set micro_batch=1 \
  --set zero=1 --set global_batch=32 --trace "$work/trace.json" >/dev/null
"$forerun" plot gantt "$work/trace.json" -o "$docs/gallery/gantt.svg" -f
"$forerun" simulate --cluster a100-hdr --model gpt-2.5b --set tp=8 --set pp=4 --set dp=4 --set micro_batch=8 --set recompute=full \
  --set p2p=duplex --set compression.backward.scope=epilogue --set compression.embedding=fused \
  --set compression.gradient.stages=3 --trace "$work/optimus.json" >/dev/null
"$forerun" plot gantt "$work/optimus.json" -o "$docs/gallery/optimus-fig4.svg" -f
"$forerun" compare --cluster dgx-h100 --cluster dgx-b200 --cluster gb200-nvl72 --model llama-3-8b --ranks 64 \
  --tokens 1T --price '2.5 USD/h' --carbon '0.4 kg/kWh' --json >"$work/clusters.json"
"$forerun" plot clusters "$work/clusters.json" -o "$docs/gallery/clusters.svg" -f
