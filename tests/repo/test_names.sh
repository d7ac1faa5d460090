#!/bin/sh
# Does names.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

put CMakeLists.txt 'fr_module(models USES x)' 'fr_module(sim DEPS models)' \
  'fr_module(sim/network DEPS sim)'
put models/plan.h 'struct fr_stage {' '    int n;' '};' 'typedef enum { A, B } fr_kind;' \
  'struct fr_stage_use;'
put sim/use.h 'struct fr_stage;' 'struct fr_stage_use {' '    const struct fr_stage *stage;' '};'
put tests/stage.h 'struct fr_stage {'
passes 'each name once' names.sh

try() { # try WHAT LINE...
  what=$1
  shift
  put sim/network/again.h "$@"
  fails "$what" 'is defined in models/plan.h sim/network/again.h' names.sh
}
try 'a struct twice' 'struct fr_stage {'
put models/plan.h 'typedef struct {' '    int n;' '} fr_kind;'
try 'a type twice' 'typedef enum {' '    A' '} fr_kind;'
try 'a type in one line' 'typedef enum { A, B } fr_kind;'
put models/plan.h 'enum fr_kind { A, B };'
try 'an enum and a type' 'typedef struct {' '} fr_kind;'
put models/plan.h 'union fr_word {'
try 'a union and a static struct' 'static const struct fr_word { int n; } words[] = {'

put models/plan.h 'struct fr_plan {'
put sim/network/again.h ''
put models/work/method_list.h 'FR_METHOD(grid)' 'FR_METHOD(tensor)'
put models/work/method/grid.c 'const struct fr_method fr_method_grid = {'
put studies/paper/grid.c 'plan.method = &fr_method_grid;'
put sim/layers.c 'plan.method = FR_METHOD_WITH(grids);'
passes 'methods by their traits' names.sh
put sim/layers.c 'if (plan->method == &fr_method_grid)'
fails 'a method by its name' 'ask for a trait' names.sh
finish
