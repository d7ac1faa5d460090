#!/bin/sh
# python.sh PREFIX WORDS... -- python3, or PYTHON, with the module installed at PREFIX and nothing else; skipped
# without it.
set -eu
prefix=$1
shift
python=$(command -v "${PYTHON:-python3}") || { echo "no python3"; exit 77; }
unset FORERUN_LIBRARY LD_LIBRARY_PATH
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$prefix/share/forerun/python exec "$python" "$@"
