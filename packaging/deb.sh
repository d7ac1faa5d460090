#!/bin/sh
# deb.sh [FOLDER] -- the Debian packages of what is committed (or of unpacked sources), built by dpkg-buildpackage in FOLDER (./packages): the programs,
# the library, its header, the Python module and the documents (packaging/debian/control).
# It wants the packages that control names under Build-Depends, dpkg-dev, debhelper and dh-python; `apt-get build-dep ./`
# in FOLDER/forerun-VERSION installs them.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-packages}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
version=$(sed -n 's/^project(forerun VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
source=$folder/forerun-$version
rm -rf "$source"
mkdir "$source"
if git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
  git -C "$root" archive HEAD | tar -x -C "$source"
else # unpacked sources are as committed
  tar -C "$root" --exclude=./build --exclude=./packages -cf - . | tar -x -C "$source"
fi
cp -R "$source/packaging/debian" "$source/debian"
cd "$source"
dpkg-buildpackage --no-sign --build=full
ls "$folder"/*.deb
