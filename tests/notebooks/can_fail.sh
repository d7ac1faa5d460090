#!/bin/sh
# can_fail.sh PYTHON -- does notebooks.py see what it is for?
set -eu
python=$1 here=$(cd "$(dirname "$0")" && pwd)
command -v gnuplot >/dev/null || { echo "Skipped: the figures need gnuplot"; exit 77; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/docs/notebooks"
script=$tree/docs/notebooks/x.py

put() { # put TEXT CODE : a script of a text and a cell
  printf '# %%%%\n%s\n# %%%% [markdown]\n# %s\n' "$2" "$1" >"$script"
}
run() { "$python" "$here/notebooks.py" "$1" "$tree" 2>"$tree/why"; }
fails() { # fails WHY ACTION
  if run "$2"; then echo "accepted: $1"; exit 1; fi
  grep -q "$1" "$tree/why" || { echo "not \"$1\", but:"; cat "$tree/why"; exit 1; }
}

put 'It is {x:.1f} of 8, as 90 % say.' 'x = 8 / 4
print(x)'
run write
grep -q 'It is 2.0 of 8' "$tree/docs/notebooks/x.ipynb"
run check
sed -i 's|8 / 4|8 / 2|' "$script"
fails '"x = 8 / 4' check
put 'It is two.' 'print(2 + 1)'
run write
sed -i 's/"3\\n"/"4\\n"/' "$tree/docs/notebooks/x.ipynb"
fails 'prints' check
put 'It is 17.' 'print(2)'
fails '"17" stands in the text' check
put 'It has {x} of them.' 'print(2)'
fails "'x' is not defined" check
put 'It is two.' 'raise ValueError("no answer")'
fails 'no answer' check
put "$(yes word | head -40 | tr '\n' ' ' | sed 's/ $/./')" 'print(2)'
fails '40 words' check
put 'It has two rooms.' 'print(2)'
fails 'rooms' check
