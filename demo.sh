#!/bin/sh
# The newcomer's road: measure this machine, predict and search on it, compare with the papers.
# Results and pictures go to demo-output/.  Under five minutes once the packages are there.
# CLOCKS=cpufreq ./demo.sh lets it set the processors' clock while it meters power, and puts that back.
set -eu
cd "$(dirname "$0")"
. cmake/setup.sh

out=demo-output
cluster=$out/cluster.json
PATH=$PWD/build/release/bin:$PATH
number=0
pictures=

step() { # step SENTENCE... : opens the next one
  number=$((number + 1))
  printf '\n%d. %s\n' "$number" "$*" | fold -s -w 80
}

show() { # show COMMAND... : as it would be typed
  for word in "$@"; do
    case $word in
    *[\*\ ]*) printf "%s\n" "'$word'" ;;
    *) printf '%s\n' "$word" ;;
    esac
  done | awk '
    NR > 1 && length(line) + length($0) > 74 { print line " \\"; line = "      " $0; next }
    { line = NR == 1 ? "   $ " $0 : line " " $0 }
    END { print line }'
}

tell() { fold -s -w 76 | sed 's/^/   /; s/ *$//'; }

# Output that is 80 columns wide already: indented where there is room for it.
relay() {
  awk '
    { line[NR] = $0; if (length($0) > wide) wide = length($0) }
    END { for (i = 1; i <= NR; i++) print (wide > 77 || line[i] == "" ? "" : "   ") line[i] }'
}

# ask FILE COMMAND... : all that it prints goes to demo-output/FILE; what sed's script $pick leaves of it to
# the reader too.
ask() {
  file=$out/$1
  shift
  show "$@"
  "$@" >"$file" || fr_stop "step $number failed (exit $?): $*"
  sed -n "$pick" "$file" | relay
}

search() { # search NAME OPTION... : its answer, NAME.txt with the table, NAME.json to go on with
  name=$1 pick='/^best/,/^model FLOP/p'
  shift
  ask "$name.txt" forerun search "$@"
  forerun search "$@" --json >"$out/$name.json" || fr_stop "step $number failed: $name.json"
}

doubted() { [ -z "$doubt" ] || echo "predicted$doubt" | tell; }

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
  forerun plot "$figure" "$@" -o "$out/$figure.svg" -f || fr_stop "step $number failed: $figure.svg"
  pictures="$pictures $figure"
}

# shellcheck disable=SC2086 # one word a package
fr_install $fr_packages
fr_build release
# A rank a core: those that a control group grants are fewer than nproc counts.
ranks=$(forerun doctor --json | sed -n 's/.*"\([0-9][0-9]*\) core(s).*/\1/p')
if [ "${ranks:=2}" -gt 8 ]; then ranks=8; fi
if [ "$ranks" -lt 2 ]; then ranks=2; fi
rm -rf "$out"
mkdir "$out"

step "Measure this machine with $ranks MPI ranks: matrix products, memory, every collective." \
  "All that follows starts from the cluster file that comes out."
pick='/^memory/p; /^level/p; /^verdict/,/^cluster file/{ /^cluster file/!p; }'
# shellcheck disable=SC2086 # two words or none
ask calibrate.txt forerun calibrate --ranks "$ranks" --out $cluster --samples $out/samples.jsonl \
  ${CLOCKS:+--clocks "$CLOCKS"}

verdict=$(sed -n 's/^.*"verdict": *"\([A-Z]*\)".*/\1/p' "$cluster" | sed 1q)
doubt=
[ "$verdict" != FAIL ] || doubt=", from a calibration that failed: not to be relied on"

step "How long does an all-reduce take here? The columns are those of nccl-tests."
pick=p
ask collective.txt forerun collective --cluster $cluster --op all_reduce --ranks 2 \
  --size '8..16MiB*64'

step "Predict one iteration of a feed-forward network of width 4096 on two ranks, phantom" \
  "parallel: a rank passes on 16 ghost neurons instead of its whole activations."
pick='/^cluster/,/^model/{ /^model/!p; }; /^iteration time/,/^iteration energy/p'
ask predict.txt forerun predict --cluster $cluster --model ffn-4096 \
  --set tp=2 --set method=phantom --set ghost=16

step "Which number k of ghost neurons takes the least energy an iteration on this machine," \
  "and is it less than that of tensor parallelism?"
search ghost --cluster $cluster --model ffn-4096 --ranks 2 --top 7 \
  --vary method=tensor,phantom --vary ghost=2,4,8,16,32,64 --per-iteration --objective energy
doubted

step "Which grid, model parallel by data parallel, trains AlexNet fastest on all $ranks ranks?"
search grid --cluster $cluster --model alexnet --ranks "$ranks" \
  --vary method=grid --vary "tp=1..$ranks*2" --set global_batch=32
doubted

step "The same two questions on the papers' machines: phantom against tensor parallelism on" \
  "Frontier, and AlexNet's grid on 512 nodes of Cori."
search paper-ghost --cluster frontier --model ffn-16384 --ranks 8,16,32,64,128,256 \
  --vary method=tensor,phantom --vary ghost=2,4,6,16 --objective energy
search paper-grid --cluster cori-knl --model alexnet --ranks 512 \
  --vary method=grid --vary 'tp=1..512*2' --set global_batch=2048

step "Do the predictions hold? Real training steps on this machine, each beside its prediction;" \
  "predicted best and measured best of every choice."
pick='/^error  /,/^regret/p'
ask validate.txt forerun validate --cluster $cluster --ranks "$ranks" --passes 8 --visit 0.05 \
  --budget 60 --samples $out/validate.jsonl
forerun validate --cluster $cluster --from $out/validate.jsonl --json >"$out/validate.json" ||
  fr_stop "step $number failed: validate.json"

step "Pictures of it: forerun plot FIGURE FILE.json -o FIGURE.svg"
# --- pictures: figure and inputs -------------------------------------------------------------
forerun search --cluster frontier --model ffn-16384 --ranks 8,16,32,64,128,256 \
  --vary method=tensor,phantom --vary ghost=2,4,6,16 --objective energy --top 0 --json \
  >"$out/paper-ghost-all.json" || fr_stop "step $number failed: paper-ghost-all.json"
forerun search --cluster cori-knl --model alexnet --ranks '8..512*2' --set global_batch=2048 \
  --vary method=grid --vary 'tp=1..512*2' --top 0 --json >"$out/paper-grid-all.json" ||
  fr_stop "step $number failed: paper-grid-all.json"
clocks="--cluster dgx-a100 --model gpt-8.3b --ranks 32 --vary tp=8 --vary pp=4 --set global_batch=64 --set micro_batch=2"
if grep -q '"clock"' $cluster; then # metered here
  clocks="--cluster $cluster --model gpt-tiny --ranks 2 --vary tp=1 --vary pp=2"
fi
# shellcheck disable=SC2086 # words
forerun search $clocks --set recompute=full --objective energy --max-slowdown 20% --json >"$out/clocks.json" ||
  fr_stop "step $number failed: clocks.json"
forerun fit $out/samples.jsonl --json >"$out/fit.json" || fr_stop "step $number failed: fit.json"
forerun report $out/fit.json -o "$out/calibration.html" -f >"$out/calibration.txt" ||
  fr_stop "step $number failed: calibration.html"
picture energy-time $out/paper-ghost-all.json
picture pareto $out/paper-ghost-all.json
picture grid $out/paper-grid-all.json
picture fit $out/fit.json
picture gemm $out/fit.json
picture frontier $out/clocks.json # of this machine's watts, else of stated ones, as the picture says
picture validate $out/validate.json
# shellcheck disable=SC2086 # one word a picture
printf "$out/%s.svg " $pictures | tell
echo
# ----------------------------------------------------------------------------------------------

step "The phantom paper's tables, published beside ours."
pick='/judged/,/^$/{ /^$/!p; }'
ask reproduce-phantom.txt forerun reproduce phantom

method=$(best ghost method) ghost=$(best ghost ghost)
tp=$(best grid tp) dp=$(best grid dp)
if [ "$method" = phantom ]; then winner="phantom with k = $ghost"; else winner=$method; fi

why=$(awk -v verdict="$verdict" '
  said && /^ / { line = line $0; next }
  said { exit }
  $1 == verdict { said = 1; sub(/^[A-Z]+ */, ""); line = $0 }
  END { print line }' "$out/calibration.txt" | tr -s ' ')
printf '\nThis machine, in short\n'
{
  echo "measured into $cluster (use it as --cluster $cluster), verdict $verdict"
  [ "$verdict" = PASS ] || echo "that is, for one: $why"
  echo "least energy an iteration: $winner, predicted for ffn-4096 on 2 ranks$doubt"
  echo "fastest grid: $tp x $dp (model x data parallel), predicted for alexnet on $ranks ranks$doubt"
  sed -n '/^predictions/,/^error  /{ /^error  /!p; }' "$out/validate.txt" | tr -s '\n ' ' '
  printf '\nall of it: %s/*.txt; the calibration as a page: %s/calibration.html\n' "$out" "$out"
} | tell
