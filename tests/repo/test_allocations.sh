#!/bin/sh
# Does allocations.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put CMakeLists.txt 'fr_module(base USES x) # malloc(1)' 'fr_module(calibrate DEPS base)' \
  'fr_module(calibrate/measure/harness DEPS calibrate)'
put base/alloc.c 'void *block = malloc(8);'
put calibrate/c.c 'double *x = fr_malloc(n, sizeof *x);' 'free(x);'
put tests/t.c 'char *x = strdup("a");'
passes 'checked allocations' allocations.sh

try() { # try WHAT FILE LINE
  put "$2" "$3"
  fails "$1" "$2:1" allocations.sh
  rm "$tree/$2"
}
try 'malloc' base/b.c 'char *x = malloc(8);'
try 'in a header' calibrate/b.h 'static void *f(void) { return calloc(1, 8); }'
try 'after a cast' calibrate/measure/harness/b.c 'x = (char *)realloc(x, 8);'
try 'strdup in a list' calibrate/b.c '{1,strdup(text)}'
try 'a buffer of the C library' calibrate/b.c 'while (getline(&line, &room, file) > 0)'
try 'a sort that asks for memory' calibrate/b.c 'qsort(x, n, sizeof *x, f);'
finish
