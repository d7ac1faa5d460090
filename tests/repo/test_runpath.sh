#!/bin/sh
# runpath.sh finds paths that end in an empty item, or are relative, and lets absolute ones pass.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo 'int main(void) { return 0; }' >"$dir/a.c"
build() { # build NAME PATH
  cc "$dir/a.c" -o "$dir/$1" ${2:+-Wl,--enable-new-dtags,-rpath,"$2"}
}
build none ''
build absolute /usr/lib:/opt/lib
build ends /usr/lib:
build begins :/usr/lib
build relative lib
# shellcheck disable=SC2016 # $ORIGIN is the loader's
build beside '$ORIGIN/../lib'
"$here/runpath.sh" "$dir/none" "$dir/absolute" "$dir/absent"
for wrong in ends begins relative beside; do
  if "$here/runpath.sh" "$dir/$wrong" >"$dir/out"; then
    echo "runpath.sh lets $wrong pass"
    exit 1
  fi
  grep -q "must be an absolute path" "$dir/out"
done
