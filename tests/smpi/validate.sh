#!/bin/sh
# validate.sh BIN RANKS APP... -- calibrated in SMPI on 2 to 16 ranks, predicted at RANKS, and run
# there by the same programs with products as flop: median error at most 10 %, median regret at
# most 3 %, together and for each program.  Exit 77 (skipped) where there is no SMPI.
set -eu
bin=$1 ranks=$2
shift 2
[ -x "$bin/forerun-smpi" ] || { echo 'skipped: forerun-smpi is not built (no smpirun)'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >truth.json <<END
{ "name": "simulated",
  "device": { "memory_bandwidth": "1 EB/s", "gemm": { "fp32": { "peak": "10 GFLOP/s", "half_dim": 0 } } },
  "levels": [ { "name": "node", "ranks": 1, "latency": "1 us", "bandwidth": "100 GB/s" },
              { "name": "system", "ranks": 256, "latency": "10 us", "bandwidth": "1 GB/s" } ] }
END
"$bin/forerun" export simgrid --cluster truth.json --ranks "$ranks" -o platform.xml
"$bin/forerun" calibrate --launcher smpi:platform.xml --ranks 16 --launches 1 --reps 1 \
  --groups 2,4,8,16 --only broadcast,reduce,all_reduce,all_gather,reduce_scatter,all_to_all,send_recv \
  --size '256..4MiB*4' --samples samples.jsonl >calibrate.log 2>&1 || { cat calibrate.log; exit 1; }
"$bin/forerun" fit samples.jsonl --base truth.json --out cluster.json >fit.log 2>&1 || { cat fit.log; exit 1; }
for app; do
  "$bin/forerun" validate --cluster cluster.json --launcher smpi:platform.xml --ranks "$ranks" \
    --cores "$ranks" --app "$app" --passes 1 --visit 0 --samples "$app.jsonl" >"$app.txt" 2>"$app.log" ||
    { cat "$app.txt" "$app.log"; exit 1; }
  tail -n 5 "$app.txt" | sed "s/^/$app: /"
  awk '
    /^error/ { gsub("%", ""); seen = 1; if ($3 + 0 > 10) { print "median error above 10 %"; bad = 1 } }
    /^regret/ { gsub("%", ""); if ($3 + 0 > 3) { print "median regret above 3 %"; bad = 1 } }
    END { exit bad || !seen }' "$app.txt" || { cat "$app.txt"; exit 1; }
done
