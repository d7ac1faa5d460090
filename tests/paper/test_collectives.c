/* Published benchmarks, a part held out: the targets that the project set itself.  Skipped where
 * the data is absent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "studies/paper_table.h"
#include "tests/cmocka.h"

static const struct fr_reproduce_row *find(const struct fr_reproduction *r, const char *id) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].id, id) == 0) return &r->rows[i];
    return NULL;
}

static void targets_are_met(void **state) {
    static const struct {
        const char *id;
        double least, most;
    } wanted[] = {
        {"summary/sizes/median", 0, 0.06},
        {"summary/sizes/p90", 0, 0.35},
        {"summary/ranks/gpu-fabrics", 0, 0.15},
        {"summary/ranks/mpi-on-cpu-clouds", 0, 0.28},
        {"summary/similarity-beats-the-papers-form", 0.8, 1},
        {"summary/coverage/sizes", 0.80, 0.97},
        {"summary/coverage/ranks", 0.80, 0.97},
    };
    struct fr_reproduction r = {0};
    struct fr_error err = {0};
    (void)state;
    if (fr_paper_collectives.run(&r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    if (find(&r, "skipped")) {
        free(r.rows);
        skip();
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct fr_reproduce_row *row = find(&r, wanted[i].id);
        if (!row) fail_msg("no row %s", wanted[i].id);
        if (!(row->ours >= wanted[i].least && row->ours <= wanted[i].most))
            fail_msg("%s: got %g, wanted %g to %g", row->id, row->ours, wanted[i].least,
                     wanted[i].most);
    }
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(targets_are_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
