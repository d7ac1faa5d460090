#!/bin/sh
# words.sh ROOT BIN: the pages say what the program says.  Every label of answers for people stands among the words
# that docs/glossary.md explains; docs/reference/compositions.md counts as `forerun list compositions` does.
set -eu
root=$1
PATH=$(cd "$2" && pwd):$PATH
bad=0

words=$(tr '\n' ' ' <"$root/docs/glossary.md")

# One or two words before two blanks and a value, one label a line.
labels() { sed -n 's/^  *\([a-z][A-Za-z_-]*\( [A-Za-z_-]*\)\{0,1\}\)   *[-0-9].*/\1/p'; }
# The columns of a table, whose heading begins with $1.
columns() { sed -n "s/^ *$1 //p" | tr -s ' ' '\n'; }

explained() { # explained COMMAND: of the labels on standard input
  sort -u | while read -r label; do
    case $words in *"$label"*) ;; *) echo "\"$label\" of $1 is not among the words of docs/glossary.md" ;; esac
  done
}

h='--cluster dgx-h100 --model llama-3-8b' c='--cluster a100-hdr --model gpt-8.3b'
said=$(
  # shellcheck disable=SC2086 # words
  {
    forerun predict $h --set tp=8 --set pp=2 --set cp=2 --tokens 1T --price '2 USD/h' --carbon '0.4 kg/kWh' \
      --mtbf '50000 h' --storage '200 GB/s' --pue 1.2 --all | labels | explained predict
    forerun predict $c --set tp=8 --set pp=4 --set dp=4 --set compression.gradient.stages=2 --all | labels | explained predict
    forerun predict --cluster cori-knl --model alexnet --set method=grid --set dp=64 --set layer_tp=best --all | labels | explained predict
    forerun simulate $c --set tp=8 --set pp=4 --set dp=4 --all | columns stage | explained simulate
    forerun search $h --ranks 16 --set global_batch=64 --set micro_batch=1 --all | columns '#  *90 % interval' | explained search
    forerun collective --cluster dgx-h100 --op all_reduce --ranks 8 --size 1MiB | columns '# .*high \[us\]' | explained collective
    forerun score --cluster dgx-h100 --runs "$root/tests/golden/in/runs.csv" --all | columns runs | explained score
    forerun predict $h --json | sed -n '/"breakdown_s"/,/}/s/^ *"\([a-z_]*\)": [0-9].*/\1/p' | explained 'predict --json'
    for word in CB FE SC SP extrapolated feasible verdict; do echo $word; done | explained 'lines of plans and verdicts'
  }
)
[ -z "$said" ] || { echo "$said" && bad=1; }

rows=$(forerun list compositions --json | grep -c '"what"')
priced=$(forerun list compositions --json | grep -c '"what": "priced"')
counts="Of its $rows pairs $((rows - priced)) are"
grep -q "$counts" "$root/docs/reference/compositions.md" || { echo "docs/reference/compositions.md does not say \"$counts refused\"" && bad=1; }
exit $bad
