#!/bin/sh
# Does layers.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put CMakeLists.txt '# fr_module(base DEPS app) in a comment is none' \
  'fr_module(base USES jansson)' 'fr_module(topology DEPS base)' \
  'fr_module(models DEPS topology)' 'fr_module(calibrate DEPS models' '  USES gsl)' \
  'fr_module(calibrate/measure/harness DEPS calibrate USES mpi)' 'fr_module(plots DEPS models)' \
  'fr_street(calibrate/low)' 'fr_street(calibrate/high DEPS calibrate/low models)' \
  'fr_module(app DEPS calibrate plots)'
put base/a.c '#include "base/a.h"' '#include <jansson.h>' '#include <stdio.h>'
put models/m.c '#include "models/m.h"' '#include "topology/t.h"' '#include "base/a.h"'
put calibrate/c.c '#include "models/m.h"' '#include "base/a.h"' '#include <gsl/gsl_fit.h>'
put calibrate/measure/harness/h.c '#include "calibrate/c.h"' '#include "models/m.h"' '#include <mpi.h>'
put plots/p.c '#include "models/m.h"' 'char *argv[] = {"gnuplot", 0};'
put calibrate/low/l.c '#include <gsl/gsl_fit.h>' '#include "base/a.h"'
put calibrate/high/h.c '#include "calibrate/low/l.h"' '#include "topology/t.h"'
put app/a.c '#include "plots/p.h"' '#include "topology/t.h"' '#include "calibrate/high/h.h"'

passes 'own header and a library' layers.sh base ''
passes 'what a dependency lists in turn' layers.sh models topology
passes 'far below' layers.sh calibrate models
passes 'the harness' layers.sh calibrate/measure/harness calibrate
passes 'the lowest street, with its module'"'"'s library' layers.sh calibrate/low ''
passes 'a street further up' layers.sh calibrate/high calibrate/low,models
put calibrate/low/rows.c '#include "calibrate/high/h_list.h"'
passes 'rows of a street further up' layers.sh calibrate/low ''
passes 'gnuplot in plots' layers.sh plots models
passes 'the top' layers.sh app calibrate,plots

try() { # try WHAT WORD FOLDER DEPS LINE : one line in a file of its own
  put "$3/bad.c" "$5"
  fails "$1" "$2" layers.sh "$3" "$4"
  rm "$tree/$3/bad.c"
}
try 'upwards' 'bad.c:1: "models/m.h" belongs to models' base '' '#include "models/m.h"'
try 'upwards in brackets' 'belongs to models' topology base '#include <models/m.h>'
try 'upwards, indented' 'belongs to app' models topology '  #  include "app/a.h"'
try 'sideways' 'belongs to calibrate' plots models '#include "calibrate/c.h"'
try 'the harness from calibrate' 'calibrate/measure/harness' calibrate models \
  '#include "calibrate/measure/harness/h.h"'
try 'up the street' 'belongs to calibrate/high' calibrate/low '' '#include "calibrate/high/h.h"'
try 'a street with what its module may' 'belongs to models' calibrate/low '' '#include "models/m.h"'
try 'rows of a module further up' 'belongs to app' calibrate/low '' '#include "app/verb_list.h"'
try 'MPI in a street' 'is seen by' calibrate/low '' '#include <mpi.h>'
try 'without a folder' 'belongs to no module' models topology '#include "m.h"'
try 'through the parent folder' 'belongs to no module' models topology '#include "../app/a.h"'
try 'by macro' 'hides its layer' models topology '#include HEADER'
try 'jansson outside base' 'seen by base only' models topology '#include <jansson.h>'
try 'MPI in calibrate' 'is seen by calibrate/measure/harness real/apps app/ranks only' calibrate models '#include <mpi.h>'
try 'BLAS in app' 'is seen by calibrate/measure/harness real/apps only' app calibrate,plots '#include <cblas.h>'
try 'GSL in models' 'seen by trust calibrate real only' models topology '#include <gsl/gsl_math.h>'
try 'cmocka in a module' 'tests only' base '' '#include <cmocka.h>'
try 'gnuplot in app' 'plots only' app calibrate,plots 'execlp("gnuplot", "gnuplot", NULL);'

try 'the public header in app' 'seen by library only' app calibrate,plots '#include "library/include/forerun.h"'

# What a module may not include, its own headers may not either.
put models/up.h '#include "app/a.h"'
fails 'upwards from a header' 'up.h:1' layers.sh models topology
finish
