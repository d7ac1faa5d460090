# shellcheck shell=sh
# Sourced by the self-tests of this folder: a made-up tree that goes away at exit, and the two
# expectations about a script run on it.  A test ends with `finish`.
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
wrong=0

put() { # put FILE LINE... : write a file of the tree
  file=$tree/$1
  shift
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$@" >"$file"
}

passes() { # passes WHAT SCRIPT ARGUMENT...
  what=$1 script=$2
  shift 2
  if ! printed=$("$here/$script" "$tree" "$@" 2>&1); then
    echo "$what: should pass, but printed: $printed"
    wrong=1
  fi
}

fails() { # fails WHAT WORD SCRIPT ARGUMENT... : and says WORD
  what=$1 word=$2 script=$3
  shift 3
  if printed=$("$here/$script" "$tree" "$@" 2>&1); then
    echo "$what: should fail, but passed"
    wrong=1
  elif ! printf '%s' "$printed" | grep -qF -- "$word"; then
    echo "$what: should say '$word', but printed: $printed"
    wrong=1
  fi
}

finish() { exit "$wrong"; }
