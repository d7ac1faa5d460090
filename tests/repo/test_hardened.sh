#!/bin/sh
# hardened.sh lets a hardened program and library pass, and finds each flag that is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '#include <stdio.h>\nint main(void) { char a[64]; return fgets(a, 64, stdin) ? puts(a) : 0; }\n' >"$dir/a.c"
all='-O2 -fstack-protector-strong -fPIE -pie -Wl,-z,relro,-z,now'
# shellcheck disable=SC2086 # words
build() { # build FOLDER FLAGS...
  mkdir -p "$dir/$1" && folder=$1 && shift
  cc "$dir/a.c" -o "$dir/$folder/a" "$@"
}
# shellcheck disable=SC2086
build good $all
# shellcheck disable=SC2086
build good_library $all -shared -fPIC
for good in good good_library; do "$here/hardened.sh" "$dir/$good"; done
# shellcheck disable=SC2086
{
  build fixed $all -no-pie
  build writable $all -Wl,-z,norelro
  build lazy $all -Wl,-z,lazy
  build unguarded $all -fno-stack-protector
  build executable $all -Wl,-z,execstack
}
for wrong in fixed writable lazy unguarded executable; do
  if "$here/hardened.sh" "$dir/$wrong" >"$dir/out"; then
    echo "hardened.sh lets $wrong pass" && exit 1
  fi
  [ "$(wc -l <"$dir/out")" = 1 ] || { cat "$dir/out" && exit 1; }
done
mkdir "$dir/empty" && if "$here/hardened.sh" "$dir/empty" >/dev/null; then exit 1; fi
