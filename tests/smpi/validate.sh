#!/bin/sh
# validate.sh BIN RANKS APP... -- calibrated in SMPI on 2 to 16 ranks, predicted at RANKS, and run
# there by the same programs with products as flop.  Prints a row a program (configurations, median
# and 90th percentile of |error|, median and worst regret over its choices) and one for the choice
# among all programs given.  Each must have a median error of at most 10 % and a median regret of at
# most 3 %.  Exit 77 (skipped) where there is no SMPI.
set -eu
bin=$1 ranks=$2
shift 2
[ -x "$bin/forerun-smpi" ] || { echo 'skipped: forerun-smpi is not built (no smpirun)'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Simulated ranks allocate and free large buffers within one process: keep their pages.
export MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=17179869184
# SMPI's default algorithms hand every rank p requests at once, which takes it p^3 steps.
launcher="smpi:platform.xml --cfg=smpi/allreduce:rab1 --cfg=smpi/allgather:bruck
  --cfg=smpi/reduce_scatter:ompi_basic_recursivehalving --cfg=smpi/alltoall:bruck
  --cfg=smpi/bcast:scatter_rdb_allgather --cfg=smpi/reduce:scatter_gather"
launcher=$(echo $launcher)
cat >truth.json <<END
{ "name": "simulated",
  "device": { "memory_bandwidth": "1 EB/s", "gemm": { "fp32": { "peak": "10 GFLOP/s", "half_dim": 0 } } },
  "levels": [ { "name": "node", "ranks": 1, "latency": "1 us", "bandwidth": "100 GB/s" },
              { "name": "system", "ranks": 256, "latency": "10 us", "bandwidth": "1 GB/s" } ] }
END
"$bin/forerun" export simgrid --cluster truth.json --ranks "$ranks" -o platform.xml
"$bin/forerun" calibrate --launcher "$launcher" --ranks 16 --launches 1 --reps 1 \
  --groups 2,4,8,16 --only broadcast,reduce,all_reduce,all_gather,reduce_scatter,all_to_all,send_recv \
  --size '256..4MiB*4' --samples samples.jsonl >calibrate.log 2>&1 || { cat calibrate.log; exit 1; }
"$bin/forerun" fit samples.jsonl --base truth.json --out cluster.json >fit.log 2>&1 || { cat fit.log; exit 1; }
for app; do
  "$bin/forerun" validate --cluster cluster.json --launcher "$launcher" --ranks "$ranks" \
    --cores "$ranks" --app "$app" --passes 1 --visit 0 --samples "$app.jsonl" >"$app.txt" 2>"$app.log" ||
    { cat "$app.txt" "$app.log"; exit 1; }
  "$bin/forerun" validate --cluster cluster.json --from "$app.jsonl" --cores "$ranks" --csv >"$app.csv"
  [ -z "${VERBOSE:-}" ] || cat "$app.txt"
done
for app; do cat "$app.csv"; done | tr -d '\r' | awk -F, -v ranks="$ranks" '
  function sorted(list, n, share,   i, j, t) { # quantile of list[1..n]
    for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
      t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
    }
    i = share * (n - 1) + 1; j = int(i)
    return j >= n ? list[n] : list[j] + (i - j) * (list[j + 1] - list[j])
  }
  function choose(who, group, predicted, measured,   key) {
    key = who SUBSEP group
    if (!(key in count)) { groups[who] = groups[who] SUBSEP group; best[key] = predicted; least[key] = measured; got[key] = measured }
    count[key]++
    if (predicted < best[key]) { best[key] = predicted; got[key] = measured }
    if (measured < least[key]) least[key] = measured
  }
  function row(who,   i, n, parts, m, list, k, key, errors) {
    n = split(groups[who], parts, SUBSEP)
    for (i = 2; i <= n; i++) {
      key = who SUBSEP parts[i]
      if (count[key] > 1) list[++m] = 100 * (got[key] / least[key] - 1)
    }
    for (k = 1; k <= rows[who]; k++) errors[k] = error[who, k]
    printf "| %s | %d | %d | %.1f %% | %.1f %% | ", who, ranks, rows[who],
      sorted(errors, rows[who], 0.5), sorted(errors, rows[who], 0.9)
    if (m) printf "%.1f %% | %.1f %% of %d |\n", sorted(list, m, 0.5), sorted(list, m, 1), m
    else print "– | – |"
    if (sorted(errors, rows[who], 0.5) > 10) { print who ": median error above 10 %"; bad = 1 }
    if (m && sorted(list, m, 0.5) > 3) { print who ": median regret above 3 %"; bad = 1 }
  }
  function add(who) {
    if (!(who in rows)) order[++n_who] = who
    error[who, ++rows[who]] = 100 * ($13 < 0 ? -$13 : $13)
    choose(who, $2, $10, $7)
  }
  { sub(/"[^"]*"/, "") }
  $1 == "app" { next }
  $6 == 0 || $10 == "" { print "not measured or not predicted: " $0; bad = 1; next }
  { add($1); add("all") }
  END {
    print "| program | ranks | configurations | median error | 90th percentile | median regret | worst |"
    print "|---|---|---|---|---|---|---|"
    for (w = 1; w <= n_who; w++) if (order[w] != "all") row(order[w])
    row("all")
    exit bad || !n_who
  }'
