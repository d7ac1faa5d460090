#!/bin/sh
# Does folders.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

for i in $(seq 40); do
  put "models/device/a$i.c" ''
  put "models/plan/a$i.h" ''
  put "build/release/a$i.c" ''
  put "build/release/b$i.c" ''
done
put models/device/gemm/a.c ''
put models/device/notes.md ''
passes 'forty in a folder' folders.sh
put models/device/a.h ''
fails 'one more' 'models/device holds 41 sources' folders.sh
finish
