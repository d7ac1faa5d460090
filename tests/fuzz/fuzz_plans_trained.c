/* Any file of trainings of plans is resumed, and compared, or is refused. */
#include <math.h>

#include "real/quality/cells.h"
#include "tests/fuzz/fuzz.h"

FR_FUZZ_TEXT(text, size) {
    static const char *const plans[] = {"{\"pp\":2}", "{\"dp\":2}"};
    struct fr_quality_options o = fr_quality_defaults();
    struct fr_cells cells = {0};
    struct fr_quality q = {0};
    struct fr_error err = {0};
    o.samples = fr_fuzz_file(text, size);
    o.model = "{}";
    o.plans = plans;
    o.n_plans = 2;
    o.launch.n_ranks = 2;
    o.seeds = 2;
    o.steps = 4;
    o.every = 2;
    o.held_out = 8;
    o.target = 2;
    if (fr_cells_read(&cells, fr_quality_cells_of(&o), &err) == FR_OK) {
        /* An observed value may still be refused. */
        if (fr_quality_rows(&o, &cells, &q, &err) == FR_OK) {
            FR_FUZZ_REQUIRE(fr_quality_compare(&o, &q, &err) == FR_OK);
            for (int i = 0; i < q.n_pairs; i++) FR_FUZZ_REQUIRE(isfinite(q.pairs[i].d.mean));
        } else
            FR_FUZZ_REQUIRE(err.detail[0]);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_quality_free(&q);
    fr_cells_free(&cells);
}
