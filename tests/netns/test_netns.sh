#!/bin/sh
# test_netns.sh BIN [HOSTS RANKS MBIT] -- calibration over hosts whose network rate is known: the
# level within a host and the one between hosts are told apart, and the rate is found within 10 %.
# Exit 77 (skipped), with the reason, where namespaces cannot be had.
set -eu
bin=$1 hosts=${2:-4} ranks=${3:-2} mbit=${4:-100}
. "$(dirname "$0")/hosts_up.sh"
if ! "$bin/forerun" calibrate --launcher "$here/hosts.sh run $name $hosts $ranks" --launches 1 \
  --only send_recv,all_reduce --size 8,4KiB,64KiB,1MiB --groups "2,$((hosts * ranks))" \
  --reps 12 --budget 20 --samples samples.jsonl --out cluster.json >log 2>&1; then
  cat log
  exit 1
fi
head -n 1 samples.jsonl | grep -q "\"nodes\": $hosts," || {
  echo "the samples should tell $hosts nodes:"
  head -n 1 samples.jsonl
  exit 1
}
# {"name": "node", "ranks": 2, "latency": ...}: one number a line, in SI
awk -v mbit="$mbit" -v ranks="$ranks" '
  function si(text,   value) {
    value = text + 0
    if (text ~ /ns/) return value * 1e-9
    if (text ~ /us/) return value * 1e-6
    if (text ~ /ms/) return value * 1e-3
    if (text ~ /kB\/s|KB\/s/) return value * 1e3
    if (text ~ /MB\/s/) return value * 1e6
    if (text ~ /GB\/s/) return value * 1e9
    return value
  }
  /"levels"/ { inside = 1 }
  /"collectives"/ { inside = 0 }
  inside && /"name"/ { n++ }
  inside && match($0, /: *".*"/) {
    text = substr($0, RSTART, RLENGTH)
    gsub(/[:" ]/, "", text)
    if ($1 == "\"latency\":") latency[n] = si(text)
    if ($1 == "\"bandwidth\":") rate[n] = si(text)
  }
  END {
    for (i = 1; i <= n; i++) printf "level %d: %.3g s, %.4g B/s\n", i, latency[i], rate[i]
    wanted = mbit * 1e6 / 8
    error = rate[2] / wanted - 1
    printf "set rate %.4g B/s, found %+.1f %%\n", wanted, 100 * error
    if (n != 2) { print "two levels were to be found"; exit 1 }
    if (error > 0.1 || error < -0.1) { print "more than 10 % off"; exit 1 }
    if (rate[1] < 4 * rate[2]) { print "the level within a host is not told apart"; exit 1 }
  }' cluster.json
