/* forerun reproduce training: the accuracy that the tables must reach, on rows not fitted to, and
 * the document that shows it. */
#include <stdlib.h>

#include "base/data.h"
#include "studies/paper_table.h"
#include "tests/paper/accuracy.h"

/* Coverages outside what their notes ask; each must really miss, and docs/explanation/accuracy.md says so: all rows of DGXC's four
 * plans, whose preset they set, lie in intervals that one model's runs leave; of B300 all of 54
 * do and of GB300 154 in 156, which is too many; of sharded runs at 8 bits 11 in 16; of DGXC's at 8 bits all but six of 208,
 * since each is of its own release, while what releases still differ by is no less (4.1 % in the mean over sources). The plan chosen from one A100's profile is
 * once 1.06 % slower than the best, for 1 % allowed. */
static const char *const known_misses[] = {"dgxc/coverage",
                                           "bridge_b300/coverage",
                                           "bridge_gb300/coverage",
                                           "dgxc_fsdp_fp8/coverage",
                                           "dgxc_fp8/coverage",
                                           "vtrain_profile/regret_worst",
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
    accuracy_is_up_to_date(&r, FR_TRAINING_MARK, "evidence/2026-11-21-training-runs.md");
    int tables = accuracy_commands_agree(&r, "training/vtrain_single_node.csv");
    FR_TRUE(tables > 20, "got %d tables", tables);
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_reach_what_they_must)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
