#!/bin/sh
# notice.sh finds a source that NOTICE does not name, one beside a known one, a line of no preset, and a line without a licence.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/presets/model"
try() { # try WHAT-IT-SAYS NOTICE-LINE SOURCE
  printf '%s\n' "$2" >"$dir/NOTICE"
  printf '{"name": "a", "source": "%s"}\n' "$3" >"$dir/presets/model/a.json"
  code=0
  "$here/notice.sh" "$dir" >"$dir/out" || code=$?
  if [ -z "$1" ]; then
    [ $code = 0 ] || { cat "$dir/out" && exit 1; }
  else
    if [ $code = 0 ] || ! grep -q "$1" "$dir/out"; then
      echo "notice.sh lets pass: $2 / $3" && exit 1
    fi
  fi
}
try '' 'Doe et al. | paper | not stated' 'Doe et al., 2020, 5 GB/s'
try '' 'Doe et al. | paper | Apache-2.0' 'Doe et al., 2020'
try 'names nothing of' 'Doe et al. | paper | not stated' 'a table'
try 'does not name Roe et al' 'Doe et al. | paper | not stated' 'Doe et al., 2020; Roe et al., 2021'
try 'does not name some/where' 'Doe et al. | paper | not stated' 'Doe et al., 2020; some/where'
try 'does not name arXiv' 'Doe et al. | paper | not stated' 'Doe et al., arXiv 2001.00001'
try 'no preset has' "$(printf '%s\n' 'Doe et al. | paper | not stated' 'Roe | paper | not stated')" 'Doe et al., 2020'
try 'no licence' 'Doe et al. | paper | ' 'Doe et al., 2020'
try 'no licence' 'Doe et al. | paper | free' 'Doe et al., 2020'
