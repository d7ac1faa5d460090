#!/bin/sh
# Does lists.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

fails 'no list at all' 'holds no' lists.sh

put models/form_list.h 'FR_FORM(log)'
put models/form.h 'extern const struct fr_form *const fr_forms[];'
put models/form.c '#include "models/form.h"' '#include "models/form_list.h"'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do put "models/$i.c" '#include "models/form.h"'; done
passes 'the table alone expands its list' lists.sh

put models/form.h '#include "models/form_list.h"'
fails 'all who read the header expand it' 'compiles 17 sources again' lists.sh
put models/form.h '#include "models/more.h"'
put models/more.h '#include "models/form_list.h"'
fails 'a header between' 'through models/more.h models/form.h' lists.sh
put models/form.h ''
passes 'its table and two headers that nobody reads' lists.sh
finish
