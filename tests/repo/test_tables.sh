#!/bin/sh
# Does tables.sh catch what it is there to catch?
# shellcheck source=tests/repo/check.sh
. "$(dirname "$0")/check.sh"

fails 'no list at all' 'holds no' tables.sh

put models/network/form_list.h '/* rows */' 'FR_FORM(log)' 'FR_FORM(segments)'
put models/network/form/log.c ''
put models/network/form/segments.c ''
put models/network/form/shared.h ''
put plots/figure_list.h 'FR_FIGURE(energy_time)'
put plots/figure/energy_time.c ''
put plots/figure/energy_time.gp ''
put build/old/stale_list.h 'FR_STALE(none)'
passes 'rows and files agree' tables.sh

put models/network/form/extra.c ''
fails 'a file without its row' 'no row in the list for file extra' tables.sh
rm "$tree/models/network/form/extra.c"

put models/network/form_list.h 'FR_FORM(log)' 'FR_FORM(segments)' 'FR_FORM(missing)'
fails 'a row without its file' 'for row missing' tables.sh

put models/network/form_list.h 'FR_FORM(log)' 'FR_FORM(segments)' 'FR_FORM(log)'
fails 'a row twice' 'twice the row log' tables.sh

put models/network/form_list.h '/* none yet */'
fails 'a list without rows' 'has no rows' tables.sh
put models/network/form_list.h 'FR_FORM(log)' 'FR_FORM(segments)'

put models/key_list.h '/* Rows alone */' 'FR_KEY(dp, 1)' 'FR_KEY(TP, 2)'
passes 'rows without files that say so' tables.sh
put models/key_list.h '/* Rows alone */' 'FR_KEY(dp, 1)' 'FR_KEY(dp, 2)'
fails 'such a row twice' 'twice the row dp' tables.sh
rm "$tree/models/key_list.h"

put models/runs/reader_list.h 'FR_RUN_READER(own)'
put models/runs/reader/own.reader ''
passes 'descriptions in place of code' tables.sh
put models/runs/reader/other.reader ''
fails 'a description without its row' 'no row in the list for file other' tables.sh
rm "$tree/models/runs/reader/other.reader"

put plots/figure_list.h 'FR_FIGURE(energy_time)' 'FR_FIGURE(grid)'
put plots/figure/grid.c ''
fails 'a figure without its script' 'no script .gp for grid' tables.sh
put plots/figure/grid.gp ''
passes 'its script added' tables.sh
put plots/figure/orphan.gp ''
fails 'a script without its figure' 'script without its .c: orphan' tables.sh
finish
