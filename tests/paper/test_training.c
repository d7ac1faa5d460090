/* forerun reproduce training: the accuracy that the tables must reach, on rows not fitted to, and
 * the document that shows it. */
#include <stdlib.h>

#include "app/papers/reproduce.h"
#include "base/data.h"
#include "tests/paper/accuracy.h"

/* Coverages outside what their notes ask, of tables that only report; each must really miss, and
 * docs/accuracy.md says so.  More rows than nine in ten lie in intervals that are too wide. */
static const char *const known_misses[] = {"mpt/a100_40gb/coverage",
                                           "mpt/a100_80gb/coverage",
                                           "mpt/h100/coverage",
                                           "dgxc/coverage",
                                           "bridge_gb200/coverage",
                                           "bridge_gb300/coverage",
                                           NULL};

static void tables_reach_what_they_must(void **state) {
    struct fr_reproduction r = {0};
    struct fr_error err = {0};
    char path[512];
    (void)state;
    if (!fr_data_find("training/vtrain_single_node.csv", path, sizeof path)) skip();
    if (fr_paper_training.run(&r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    size_t runs = accuracy_rows_hold(&r, known_misses);
    FR_TRUE(runs > 900, "got %zu runs", runs);
    accuracy_is_up_to_date(&r, FR_TRAINING_MARK);
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_reach_what_they_must)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
