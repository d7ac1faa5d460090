#!/bin/sh
# trials.sh BIN_DIR OUT_DIR [TRIALS [LOAD [RANKS [BUDGET_S [EVERY]]]]]: calibrate and validate again and again,
# and tabulate what came of it: is a calibration on this machine to be believed, and how far?
#   TRIALS    how many (default 10)
#   LOAD      busy processes beside every second trial (default 2; 0: none at all)
#   RANKS     (default 2)      BUDGET_S  of each calibration (default 60)
#   EVERY     of how many trials the last is beside them (default 2; 1: each)
# One trial takes about three minutes.  What OUT_DIR holds already is tabulated too, and trials are
# numbered on, so that runs of several hours and days add up.  Columns: whether the cluster file was
# written, seconds that calibrate took, its verdict, then of validate: median and 90th percentile of
# the error, the floor (how well a configuration's earlier measurement predicts its later one), share
# of rows whose intervals meet, regret median and worst.
set -u
if [ "$#" -lt 2 ]; then
  sed -n '2,7s/^# //p' "$0" >&2
  exit 2
fi
bin=$1 out=$2 trials=${3-10} load=${4-2} ranks=${5-2} budget=${6-60} every=${7-2}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" || exit 1

number() { # number FILE KEY : the last number of that name, - without one
  x=$(sed -n "s/^.*\"$2\": *\([-+.0-9e]*\).*/\1/p" "$1" 2>/dev/null | tail -1)
  echo "${x:--}"
}

machine() { # "AMD EPYC, 2 cores"
  model=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | sed 1q)
  echo "${model:-an unknown processor}, $(nproc) cores"
}

trial() { # trial NAME BUSY
  dir=$out/$1 busy=$2 loader=
  mkdir -p "$dir"
  if [ "$busy" -gt 0 ]; then
    "$here/load.sh" "$busy" 900 &
    loader=$!
  fi
  start=$(date +%s)
  "$bin/forerun" calibrate --ranks "$ranks" --budget "$budget" --out "$dir/cluster.json" \
    --samples "$dir/samples.jsonl" >"$dir/calibrate.txt" 2>"$dir/calibrate.err"
  code=$?
  took=$(($(date +%s) - start))
  if [ "$code" -eq 0 ]; then
    "$bin/forerun" validate --cluster "$dir/cluster.json" --ranks "$ranks" --passes 8 \
      --visit 0.05 --budget 60 --samples "$dir/validate.jsonl" --json \
      >"$dir/validate.json" 2>"$dir/validate.err"
  fi
  printf '%s %s %s %s\n' "$(date -u +%FT%TZ)" "$busy" "$code" "$took" >"$dir/trial"
  if [ -n "$loader" ]; then
    kill "$loader" 2>/dev/null
    wait "$loader" 2>/dev/null
  fi
}

first=1
while [ -d "$out/$(printf '%03d' "$first")" ]; do first=$((first + 1)); done
i=0
while [ "$i" -lt "$trials" ]; do
  name=$(printf '%03d' $((first + i)))
  i=$((i + 1))
  if [ $((i % every)) -eq 0 ]; then trial "$name" "$load"; else trial "$name" 0; fi
done

printf '%-5s %-20s %4s %5s %5s %-7s %7s %7s %7s %8s %7s %7s\n' trial date busy file took verdict \
  median p90 floor coverage regret worst
for dir in "$out"/[0-9][0-9][0-9]; do
  [ -f "$dir/trial" ] || continue
  read -r date busy code took <"$dir/trial"
  v=$dir/validate.json
  verdict=$(sed -n 's/^.*"verdict": *"\([A-Z]*\)".*/\1/p' "$dir/cluster.json" 2>/dev/null | head -1)
  echo "$(basename "$dir") $date $busy $([ "$code" -eq 0 ] && echo yes || echo NO) $took ${verdict:--}" \
    "$(number "$v" median_error)" "$(number "$v" p90_error)" "$(number "$v" floor)" \
    "$(number "$v" coverage)" "$(number "$v" regret)" "$(number "$v" regret_worst)"
done | awk -v machine="$(machine)" '
  function percent(x) { return x == "" || x == "-" ? "-" : sprintf("%.1f", 100 * x) }
  function middle(list, n,    i, j, t) {
    for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++)
      if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
    return n == 0 ? "" : n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
  }
  { printf "%-5s %-20s %4d %5s %5d %-7s %7s %7s %7s %8s %7s %7s\n", $1, $2, $3, $4, $5, $6,
      percent($7), percent($8), percent($9), percent($10), percent($11), percent($12)
    kind = $3 > 0
    n[kind]++; files[kind] += $4 == "yes"; late[kind] += $5 > 75
    if ($7 != "-") {
      k = ++scored[kind]
      if (kind == 0) { a0[k] = $7; f0[k] = $9; r0[k] = $9 > 0 ? $7 / $9 : 0; c0[k] = $10; g0[k] = $11 }
      else { a1[k] = $7; f1[k] = $9; r1[k] = $9 > 0 ? $7 / $9 : 0; c1[k] = $10; g1[k] = $11 }
      if ($12 > worst[kind]) worst[kind] = $12
      if ($7 > highest[kind]) highest[kind] = $7
    } }
  function sentence(name, kind, k, error, over, regret, coverage,    i, within) {
    for (i = 1; i <= k; i++) within += over[i] > 0 && over[i] <= 1.5
    printf "\n%d %s trials on %s: median error of a trial %s %% in the median and %s %% at worst, at most 1.5 times the floor in %d of %d, worst regret %s %%, %s %% of the intervals met in the median.\n",
      k, name, machine, percent(middle(error, k)), percent(highest[kind]), within, k, percent(worst[kind]),
      percent(middle(coverage, k))
  }
  END {
    for (kind = 0; kind < 2; kind++) {
      if (!n[kind]) continue
      k = scored[kind]
      printf "\n%s: %d trials, %d files, %d took longer than 75 s\n", kind ? "loaded" : "quiet", n[kind],
        files[kind], late[kind]
      if (kind == 0)
        printf "  medians: error %s %%, floor %s %%, error over floor %.2f, coverage %s %%, regret %s %%",
          percent(middle(a0, k)), percent(middle(f0, k)), middle(r0, k), percent(middle(c0, k)),
          percent(middle(g0, k))
      else
        printf "  medians: error %s %%, floor %s %%, error over floor %.2f, coverage %s %%, regret %s %%",
          percent(middle(a1, k)), percent(middle(f1, k)), middle(r1, k), percent(middle(c1, k)),
          percent(middle(g1, k))
      printf "; worst error %s %%, worst regret %s %%\n", percent(highest[kind]), percent(worst[kind])
    }
    # As README.md says it.
    if (scored[0]) sentence("quiet", 0, scored[0], a0, r0, g0, c0)
    if (scored[1]) sentence("loaded", 1, scored[1], a1, r1, g1, c1)
  }'
