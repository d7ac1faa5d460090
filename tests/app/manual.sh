#!/bin/sh
# manual.sh ROOT FORERUN FORERUN-MPI: every command and program has a page that groff reads without complaint, within 80
# columns but for what is to be copied as it is; so has every file format.
set -eu
root=$1 forerun=$2 mpi=$3
fail() { echo "manual.sh: $*" >&2 && exit 1; }
for tool in go-md2man groff; do
  command -v $tool >/dev/null || { echo "Skipped: no $tool" && exit 77; }
done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$root/cmake/manual.sh" "$forerun" "$root/docs" "$out" "$mpi"

for verb in $("$forerun" complete -- "" | cut -f1); do
  [ -s "$out/man1/forerun-$verb.1" ] || fail "no page of $verb"
done
for program in mpi simgrid smpi; do
  [ -s "$out/man1/forerun-$program.1" ] || fail "no page of forerun-$program"
done
for option in $("$mpi" calibrate --help | grep -o '^  --[a-z-]*'); do
  grep -qFe "$option " "$out/man1/forerun-mpi.1" || fail "forerun-mpi(1) has no $option"
done
for format in cluster runtime model plan runs samples config output; do
  [ -s "$out/man5/forerun-$format.5" ] || fail "no page of the $format file"
done
for page in "$out"/man?/*; do
  said=$(groff -man -Tutf8 -Kutf8 -P-cbu -ww -rLL=78n "$page" 2>&1 >"$out/text" | grep -v 'cannot \(break\|adjust\)' || true)
  [ -z "$said" ] || fail "$(basename "$page"): $said"
  grep -q 'NAME' "$out/text" && grep -q 'SEE ALSO' "$out/text" || fail "$(basename "$page"): sections are missing"
  ! grep -n '\*\*\|^ *| .* |$' "$out/text" || fail "$(basename "$page"): marks of Markdown are left"
done
