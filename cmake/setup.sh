# shellcheck shell=sh
# Sourced by test.sh and demo.sh: what a bare Debian 12 lacks, and the build.  Every function
# ends the script with a sentence when it cannot do its work.

# Debian packages, one a word; "a|b" is satisfied by either, and a is what is installed.
# shellcheck disable=SC2034 # read by the scripts that source this
fr_packages='gcc libc6-dev cmake ninja-build pkg-config|pkgconf libjansson-dev libgsl-dev
  libopenmpi-dev openmpi-bin libopenblas-pthread-dev|libopenblas-openmp-dev|libopenblas-serial-dev
  libhwloc-dev gnuplot-nox|gnuplot-qt|gnuplot-x11 fonts-dejavu-core libcmocka-dev libsimgrid-dev g++ go-md2man
  libjs-chart.js'
# shellcheck disable=SC2034
fr_clang_packages='clang|clang-14 libclang-rt-14-dev'

fr_stop() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

fr_installed() {
  # shellcheck disable=SC2016 # ${Status} is dpkg-query's
  [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = 'install ok installed' ]
}

# The packages among the words $@ of which no alternative is installed.
fr_missing() {
  for fr_word in "$@"; do
    fr_found=no
    for fr_name in $(echo "$fr_word" | tr '|' ' '); do
      if fr_installed "$fr_name"; then fr_found=yes; fi
    done
    if [ $fr_found = no ]; then echo "${fr_word%%|*}"; fi
  done
}

# fr_install PACKAGE... : installs what is missing, and says so; silent when nothing is.
fr_install() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is no Debian; it needs what Debian calls:" "$@"
    return
  fi
  # shellcheck disable=SC2046 # one word a package
  set -- $(fr_missing "$@")
  [ $# -gt 0 ] || return 0
  fr_sudo=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      fr_stop "these packages are missing, and only root can install them: $*"
    fr_sudo=sudo
  fi
  echo "Installing $# missing Debian packages: $*"
  fr_log=$(mktemp)
  if ! { fr_apt update && fr_apt install -y --no-install-recommends "$@"; } >"$fr_log" 2>&1; then
    tail -n 20 "$fr_log" >&2
    rm -f "$fr_log"
    fr_stop "these packages could not be installed: $*"
  fi
  rm -f "$fr_log"
}

fr_apt() {
  $fr_sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@" </dev/null
}

# fr_build PRESET : configured the first time, then only what changed.
fr_build() {
  echo "Building preset $1 in build/$1"
  fr_log=$(mktemp)
  if ! { cmake --preset "$1" && cmake --build --preset "$1"; } >"$fr_log" 2>&1; then
    cat "$fr_log" >&2
    rm -f "$fr_log"
    fr_stop "preset $1 does not build"
  fi
  rm -f "$fr_log"
}
