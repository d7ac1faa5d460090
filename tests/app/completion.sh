#!/bin/sh
# completion.sh ROOT FORERUN: completion as the shells themselves do it, of the folder packaging/completion/.
# A shell that is not here is said and passed over; bash is always there.
set -eu
folder=$1/packaging/completion PATH=$(dirname "$2"):$PATH
export PATH

fail() { echo "completion.sh: $*" >&2 && exit 1; }
# expect SHELL "LINE" "WORD...": what SHELL offers for LINE is just these words
expect() {
  found=$("in_$1" "$2" | sort | tr '\n' ' ')
  [ "$found" = "$3 " ] || fail "$1: \"$2\" gives \"$found\", not \"$3 \""
}

in_bash() {
  bash --norc -c '
    source "$1"
    read -ra COMP_WORDS <<<"$2"
    [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _forerun
    printf "%s\n" "${COMPREPLY[@]}"' bash "$folder/forerun.bash" "$1"
}
# What it offers beside, when a name follows, is what is said of it.
in_fish() {
  fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$folder/forerun.fish" "$1" | cut -f1
}

command -v bash >/dev/null || { echo "Skipped: no bash" && exit 77; }
for shell in bash fish; do
  command -v $shell >/dev/null || { echo "no $shell here" && continue; }
  expect $shell "forerun pred" "predict"
  expect $shell "forerun predict --eng" "--engine"
  expect $shell "forerun predict --cluster dgx-h1" "dgx-h100"
  expect $shell "forerun predict --runtime nemo-24.0" "nemo-24.03"
  expect $shell "forerun predict --engine " "closed event simgrid"
  expect $shell "forerun plot energy" "energy-time"
  expect $shell "forerun predict --colo" "--color"
  expect $shell "forerun predict --color " "always auto never"
  if command -v forerun-mpi >/dev/null; then
    expect $shell "forerun-mpi cal" "calibrate"
    expect $shell "forerun-mpi calibrate --res" "--resume"
    expect $shell "forerun-mpi calibrate --only send" "send_recv"
    expect $shell "forerun-mpi run --vis" "--visit"
    expect $shell "forerun-mpi search --objec" "--objective"
  fi
done
# Keys of a cluster that nobody has named are those that its file may have.
expect bash "forerun predict --set cluster.device.host_la" "cluster.device.host_launch="
expect bash "forerun predict -c frontier --set cluster.device.undis" "cluster.device.undisturbed="
expect bash "forerun predict -c frontier --set cluster.levels.1.shar" "cluster.levels.1.shared_by="
expect bash "forerun predict --set cluster.levels.0.late" "cluster.levels.0.latency="
# Behind "=" bash replaces the value alone.
expect bash "forerun predict --set plan.gh" "plan.ghost="
expect bash "forerun predict --set runtime.host_la" "runtime.host_launch="
expect bash "forerun predict --set runtime=nemo-24.0" "nemo-24.03"
expect bash "forerun predict --set method=ph" "phantom"
expect bash "forerun search --model llama-3-8b --vary model.sequ" "model.sequence="
! command -v zsh >/dev/null || zsh -n "$folder/_forerun" || fail "zsh cannot read _forerun"
! command -v fish >/dev/null || expect fish "forerun predict --set plan.gh" "plan.ghost="
