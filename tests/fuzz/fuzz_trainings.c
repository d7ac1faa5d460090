/* Any file of trainings is resumed, and its rows stand in a model file, or is refused. */
#include <math.h>

#include "real/iterations/cells.h"
#include "tests/fuzz/fuzz.h"

FR_FUZZ_TEXT(text, size) {
    struct fr_training_options o = fr_training_defaults();
    struct fr_training_cells cells = {0};
    struct fr_trained *rows = NULL;
    struct fr_error err = {0};
    int n = 0;
    o.samples = fr_fuzz_file(text, size);
    if (fr_cells_read(&cells, &o, &err) == FR_OK) {
        FR_FUZZ_REQUIRE(fr_cells_rows(&cells, &rows, &n, &err) == FR_OK);
        for (int i = 0; i < n; i++)
            FR_FUZZ_REQUIRE(!isnan(rows[i].iterations) || rows[i].n_reached == 0);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    free(rows);
    free(cells.items);
}
