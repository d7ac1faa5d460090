#!/bin/sh
# validate.sh BIN [MBIT] -- four hosts of one rank, joined by a network so slow that communication
# decides: calibrated there, then validated there, both with hosts.sh as launcher.  Median error at
# most 15 %, median regret at most 5 %; VERBOSE=1 prints every configuration.
# Four hosts share the machine's cores, so the models are small: what they compute is calibrated under
# the same load, but how the system takes turns between more ranks than cores is not a network's.
# Exit 77 (skipped), with the reason, where namespaces cannot be had.
set -eu
bin=$1 mbit=${2:-50}
hosts=4
. "$(dirname "$0")/hosts_up.sh"
launcher="$here/hosts.sh run $name $hosts 1"
"$bin/forerun" calibrate --launcher "$launcher" --launches 1 --groups 2,4 --size "${SIZES:-1KiB..512KiB*2}" \
  --only all_gather,reduce_scatter,all_reduce,gemm,memory,operands,kernel,send_recv \
  --budget "${BUDGET:-60}" --samples samples.jsonl --out cluster.json >log 2>&1 || { cat log; exit 1; }
"$bin/forerun" validate --cluster cluster.json --launcher "$launcher" --ranks $hosts --cores $hosts \
  --app tensor,phantom --model ffn-4096 --set model.width=512 --set tp=4 --vary ghost=8..64*2 \
  --vary global_batch=32..256*2 --passes "${PASSES:-2}" --visit 0.05 --samples runs.jsonl --all >table 2>log ||
  { cat table log; exit 1; }
[ -z "${VERBOSE:-}" ] || cat table
grep -E '^(error|regret|machine)' table
awk '
  /^error/ { gsub("%", ""); seen = 1; if ($3 + 0 > 15) { print "median error above 15 %"; bad = 1 } }
  /^regret/ { gsub("%", ""); if ($3 + 0 > 5) { print "median regret above 5 %"; bad = 1 } }
  END { exit bad || !seen }' table
