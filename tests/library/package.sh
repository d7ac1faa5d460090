#!/bin/sh
# package.sh PREFIX ROOT WORK -- a project that knows forerun by find_package alone, against the copy
# installed at PREFIX; then the same copy moved elsewhere, since nothing in it may remember a place.
set -eu
prefix=$1 root=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
run() { # run PREFIX FOLDER : by Ninja, which cmake/setup.sh installs; cmake itself would ask for make
  cmake -G Ninja -S "$root/tests/library/package" -B "$2" -DCMAKE_PREFIX_PATH="$1" -DEXAMPLES="$root/examples/programmer" \
    -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  cmake --build "$2" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  "$2/predict" >"$2/out"
  "$2/predict-static" | cmp - "$2/out"
  [ ! -x "$2/plus" ] || "$2/plus"
  grep -q 'ms an iteration' "$2/out"
}
run "$prefix" "$work/built"
cp -R "$prefix" "$work/moved"
if grep -rIlF "$prefix" "$work/moved/lib" "$work/moved/include"; then
  echo "these files of the installed copy remember where it was installed"
  exit 1
fi
run "$work/moved" "$work/again"
PKG_CONFIG_PATH=$work/moved/lib/pkgconfig pkg-config --cflags --libs forerun | grep -qF "$work/moved/lib/pkgconfig/../.."
# shellcheck disable=SC2046
PKG_CONFIG_PATH=$work/moved/lib/pkgconfig ${CC:-cc} "$root/examples/programmer/predict.c" -o "$work/moved/predict" \
  $(PKG_CONFIG_PATH=$work/moved/lib/pkgconfig pkg-config --cflags --libs forerun)
"$work/moved/predict" | cmp - "$work/built/out"
"$work/moved/bin/forerun" predict --cluster frontier --model ffn-16384 >/dev/null
