#!/bin/sh
# module.sh PREFIX -- the modulefile of the installed copy, by Environment Modules or Lmod: the program, its
# manual and pkg-config are those of PREFIX, and unloading takes them away.
set -eu
prefix=$1
if command -v modulecmd >/dev/null; then
  module() { modulecmd sh "$@"; }
elif [ -n "${LMOD_CMD:-}" ]; then
  module() { "$LMOD_CMD" sh "$@"; }
else
  echo "Skipped: neither Environment Modules nor Lmod is installed"
  exit 77
fi
export MODULEPATH="$prefix/share/modulefiles"
before=$PATH
eval "$(module load forerun 2>/dev/null)"
[ "$(command -v forerun)" = "$prefix/bin/forerun" ]
forerun --version | grep -q '^forerun '
pkg-config --cflags forerun | grep -qF "$prefix"
case $MANPATH in *"$prefix/share/man"*) ;; *) exit 1 ;; esac
eval "$(module unload forerun 2>/dev/null)"
[ "$PATH" = "$before" ]
