#!/bin/sh
# The newcomer's road: measure this machine, predict and search on it, compare with the papers.
# Results and pictures go to demo-output/.  Under five minutes once the packages are there.
set -eu
cd "$(dirname "$0")"
. cmake/setup.sh

out=demo-output
cluster=$out/cluster.json
ranks=$(nproc)
if [ "$ranks" -gt 8 ]; then ranks=8; fi
if [ "$ranks" -lt 2 ]; then ranks=2; fi
PATH=$PWD/build/release/bin:$PATH
number=0
pictures=

step() { # step SENTENCE... : opens the next one
  number=$((number + 1))
  printf '\n%d. %s\n' "$number" "$*" | fold -s -w 92
}

show() { # show COMMAND... : as it would be typed
  printf '\n   $'
  for word in "$@"; do
    case $word in
    *[\*\ ]*) printf " '%s'" "$word" ;;
    *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n\n'
}

run() { # run COMMAND...
  show "$@"
  "$@" || fr_stop "step $number failed (exit $?): $*"
}

keep() { # keep FILE COMMAND... : its output is shown, and kept in demo-output/FILE
  file=$out/$1
  shift
  show "$@"
  "$@" >"$file" || fr_stop "step $number failed (exit $?): $*"
  cat "$file"
}

search() { # search NAME OPTION... : a table to read, and NAME.json to go on with
  name=$1
  shift
  keep "$name.txt" forerun search "$@"
  forerun search "$@" --json >"$out/$name.json" || fr_stop "step $number failed: $name.json"
}

best() { # best NAME KEY : KEY of the best plan of a search
  awk -v key="\"$2\": *" '
    { text = text $0 }
    END {
      text = substr(text, index(text, "\"best\":"))
      if (!match(text, key "[^,}]*")) exit 1
      text = substr(text, RSTART, RLENGTH)
      sub(key, "", text)
      gsub(/[" ]/, "", text)
      print text
    }' "$out/$1.json" || fr_stop "$out/$1.json names no best $2"
}

picture() { # picture FIGURE INPUT... : drawn into demo-output/FIGURE.svg
  figure=$1
  shift
  run forerun plot "$figure" "$@" -o "$out/$figure.svg"
  pictures="$pictures $out/$figure.svg"
}

# shellcheck disable=SC2086 # one word a package
fr_install $fr_packages
fr_build release
rm -rf "$out"
mkdir "$out"

step "Measure this machine with $ranks MPI ranks: matrix products, memory, every collective." \
  "All that follows starts from the cluster file that comes out."
run forerun calibrate --ranks "$ranks" --out $cluster --samples $out/samples.jsonl

step "How long does an all-reduce take here? The columns are those of nccl-tests."
keep collective.txt forerun collective --cluster $cluster --op all_reduce --ranks 2 \
  --size '8..16MiB*4'

step "Predict one iteration of a feed-forward network of width 4096 on two ranks, phantom" \
  "parallel: a rank passes on 16 ghost neurons instead of its whole activations."
keep predict.txt forerun predict --cluster $cluster --model ffn-4096 \
  --set tp=2 --set method=phantom --set ghost=16

step "Which number k of ghost neurons takes the least energy an iteration on this machine," \
  "and is it less than that of tensor parallelism?"
search ghost --cluster $cluster --model ffn-4096 --ranks 2 --top 7 \
  --vary method=tensor,phantom --vary ghost=2,4,8,16,32,64 --per-iteration --objective energy

step "Which grid, model parallel by data parallel, trains AlexNet fastest on all $ranks ranks?"
search grid --cluster $cluster --model alexnet --ranks "$ranks" \
  --vary method=grid --vary "tp=1..$ranks*2" --set global_batch=32

step "The same two questions on the papers' machines: phantom against tensor parallelism on" \
  "Frontier, and AlexNet's grid on 512 nodes of Cori."
search paper-ghost --cluster frontier --model ffn-16384 --ranks 8,16,32,64,128,256 \
  --vary method=tensor,phantom --vary ghost=2,4,6,16 --objective energy
search paper-grid --cluster cori-knl --model alexnet --ranks 512 \
  --vary method=grid --vary 'tp=1..512*2' --set global_batch=2048

step "Do the predictions hold? Real training steps on this machine, each beside its prediction;" \
  "predicted best and measured best of every choice."
keep validate.txt forerun validate --cluster $cluster --ranks "$ranks" --passes 8 --visit 0.05 \
  --budget 60 --samples $out/validate.jsonl
forerun validate --cluster $cluster --from $out/validate.jsonl --json >"$out/validate.json" ||
  fr_stop "step $number failed: validate.json"

step "Pictures of it."
# --- pictures: figure and inputs -------------------------------------------------------------
forerun search --cluster frontier --model ffn-16384 --ranks 8,16,32,64,128,256 \
  --vary method=tensor,phantom --vary ghost=2,4,6,16 --objective energy --top 0 --json \
  >"$out/paper-ghost-all.json" || fr_stop "step $number failed: paper-ghost-all.json"
forerun search --cluster cori-knl --model alexnet --ranks '8..512*2' --set global_batch=2048 \
  --vary method=grid --vary 'tp=1..512*2' --top 0 --json >"$out/paper-grid-all.json" ||
  fr_stop "step $number failed: paper-grid-all.json"
forerun fit $out/samples.jsonl --json >"$out/fit.json" || fr_stop "step $number failed: fit.json"
forerun report $out/fit.json -o "$out/calibration.html" >"$out/calibration.txt" ||
  fr_stop "step $number failed: calibration.html"
picture energy-time $out/paper-ghost-all.json
picture pareto $out/paper-ghost-all.json
picture grid $out/paper-grid-all.json
picture fit $out/fit.json
picture gemm $out/fit.json
picture validate $out/validate.json
# ----------------------------------------------------------------------------------------------

step "The phantom paper's tables, published beside ours."
keep reproduce-phantom.txt forerun reproduce phantom

method=$(best ghost method) ghost=$(best ghost ghost)
tp=$(best grid tp) dp=$(best grid dp)
if [ "$method" = phantom ]; then winner="phantom with k = $ghost"; else winner=$method; fi

verdict=$(sed -n 's/^.*"verdict": *"\([A-Z]*\)".*/\1/p' "$cluster" | sed 1q)
belief=
[ "$verdict" = PASS ] ||
  belief="
  for one         $(sed -n "s/^$verdict *//p" "$out/calibration.txt" | sed 1q | tr -s ' ' |
    fold -s -w 76 | sed '2,$s/^/                  /')"
cat <<END

This machine, in short
  measured into   $cluster (use it as --cluster $cluster)
  verdict of that $verdict (each check: $out/calibration.html)$belief
  least energy    $winner, predicted for ffn-4096 on 2 ranks
  fastest grid    $tp x $dp (model x data parallel), predicted for alexnet on $ranks ranks
  pictures       $pictures

Predicted beside real runs ($out/validate.txt):
$(sed -n '/^predictions /,$p' "$out/validate.txt" | fold -s -w 90 | sed 's/^/  /')
END
