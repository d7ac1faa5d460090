#!/bin/sh
# packages.sh ROOT -- the Debian packages of a clone of ROOT, built, checked by lintian and installed on a bare Debian 12, then
# tried as their users would: programs, manual, completion, pkg-config, CMake, Python.  20 to 40 minutes.
# packages.sh --here ROOT [FOLDER] -- the same on this machine, which gets the packages; FOLDER has them built already.
set -eu
if [ "$1" != --here ]; then
  exec "$(dirname "$0")/bare.sh" "$1" 'tests/nightly/packages.sh --here .'
fi
root=$(cd "$2" && pwd) folder=${3:-}
fail() {
  echo "packages: $*"
  exit 1
}
export DEBIAN_FRONTEND=noninteractive
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  apt-get update -q
  apt-get install -qy --no-install-recommends build-essential debhelper dh-python lintian
  mkdir "$folder/wants" && cp -R "$root/packaging/debian" "$folder/wants/debian"
  (cd "$folder/wants" && apt-get build-dep -qy --no-install-recommends ./)
  rm -rf "$folder/wants"
  "$root/packaging/deb.sh" "$folder"
fi
lintian --fail-on error,warning "$folder"/*.changes || fail 'lintian finds faults'
apt-get install -qy --no-install-recommends "$folder"/*.deb man-db bash-completion pkg-config gcc libc6-dev cmake ninja-build python3

work=$(mktemp -d)
cd "$work"
forerun --version
forerun predict --cluster frontier --model ffn-16384 >answer
forerun-mpi --version >/dev/null || fail 'forerun-mpi does not start'
command -v man >/dev/null && man -w forerun forerun-search forerun-cluster forerun-mpi forerun-simgrid forerun-smpi >/dev/null || fail 'a manual page is missing'
bash -ic '. /usr/share/bash-completion/bash_completion; _completion_loader forerun; complete -p forerun' 2>/dev/null |
  grep -q forerun || fail 'bash does not complete forerun'
[ "$(pkg-config --modversion forerun)" = "$(forerun --version | sed -n '1s/^forerun //p')" ] || fail 'pkg-config states another version'
# shellcheck disable=SC2046 # words
gcc /usr/share/forerun/examples/programmer/predict.c -o by_pkg_config $(pkg-config --cflags --libs forerun)
./by_pkg_config >by_pkg_config.out
cmake -G Ninja -S "$root/tests/library/package" -B built -DEXAMPLES=/usr/share/forerun/examples/programmer >log 2>&1 ||
  { cat log; fail 'CMake does not find forerun'; }
cmake --build built >log 2>&1 || { cat log; fail 'examples do not build'; }
built/predict | cmp - by_pkg_config.out
built/predict-static | cmp - by_pkg_config.out
python3 -c '
import forerun
answer = forerun.predict("frontier", "ffn-16384")
assert answer["iteration_time_s"] > 0
print("python:", forerun.version())'
python3 "$root/tests/repo/links.py" /usr/share/doc/forerun || fail 'links of the installed pages lead nowhere'
forerun-mpi complete -- calibrate --res | grep -q resume || fail 'forerun-mpi completes nothing'
# The wheel, without the packages.
apt-get remove -qy python3-forerun forerun >/dev/null
apt-get install -qy --no-install-recommends python3-pip python3-venv python3-wheel python3-setuptools
python3 -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install --no-build-isolation --no-deps --quiet "$root"
(cd / && "$work/venv/bin/python" -c '
import forerun
assert forerun.predict("frontier", "ffn-16384")["iteration_time_s"] > 0
assert forerun.list_("clusters")
print("wheel:", forerun.version())')
rm -rf "$work"
