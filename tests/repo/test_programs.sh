#!/bin/sh
# Does programs.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put tests/a/good.sh '# make is not here' 'cmake -G Ninja -S x -B y' 'cmake --preset release' 'grep file list' 'git init' \
  'for file in a b; do echo "$file"; done' 'cmp make model'
put tests/b/looks.sh 'command -v xmllint >/dev/null || exit 77' 'xmllint --noout x'
put tests/b/tools.sh 'for tool in ip tc; do command -v $tool; done'
put tests/b/uses.sh 'ip netns add x'
put tests/c/t.c 'assert(system("gnuplot -d x.gp") == 0);' 'if (system("command -v xmllint") == 0 && system("xmllint x") != 0)'
passes 'programs that are there or are looked for' programs.sh

try() { # try WHAT WORD FILE LINE
  put "$3" "$4"
  fails "$1" "$2" programs.sh
  rm "$tree/$3"
}
try 'make' 'tests/d/x.sh starts make' tests/d/x.sh 'make -j2'
try 'in a pipe' 'starts jq' tests/d/x.sh 'forerun list | jq .'
try 'in a substitution' 'starts curl' tests/d/x.sh 'text=$(curl -s x)'
try 'in a condition' 'starts file' tests/d/x.sh 'if file x; then :; fi'
try 'in C' 'starts xxd' tests/d/x.c 'system("xxd x");'
try 'in Python' 'starts wget' tests/d/x.py 'subprocess.run(["wget", url])'
try 'the default generator' 'would want make' tests/d/x.sh 'cmake -S a -B b'
finish
