#!/bin/sh
# jupyter.sh NOTEBOOK PYTHON -- Jupyter runs the notebook, and it prints what is kept there.  Skipped without nbconvert and a kernel.
set -eu
notebook=$1 python=$2
"$python" -c 'import nbconvert, ipykernel' 2>/dev/null || {
  echo "Skipped: no Jupyter (Debian: python3-nbconvert, python3-ipykernel)"
  exit 77
}
command -v gnuplot >/dev/null || { echo "Skipped: the figures need gnuplot"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work"
"$python" -m nbconvert --to notebook --execute --output-dir "$work" "$notebook" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$python" "$(dirname "$0")/notebooks.py" same "$work/$(basename "$notebook")" "$notebook"
