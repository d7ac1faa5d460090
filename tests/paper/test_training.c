/* forerun reproduce training: the accuracy that the tables must reach, on rows not fitted to. */
#include <stdlib.h>
#include <string.h>

#include "app/reproduce.h"
#include "base/data.h"
#include "tests/cmocka.h"

static void tables_reach_what_they_must(void **state) {
    struct fr_reproduction r = {0};
    struct fr_error err = {0};
    char path[512];
    size_t runs = 0;
    (void)state;
    if (!fr_data_find("training/vtrain_single_node.csv", path, sizeof path)) skip();
    if (fr_paper_training.run(&r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    for (size_t i = 0; i < r.count; i++) {
        const struct fr_reproduce_row *x = &r.rows[i];
        runs += x->detail;
        FR_TRUE(isfinite(x->ours), "%s has no value", x->id);
        if (x->role == FR_ROLE_NOT_EXPLAINED) continue;
        FR_TRUE(x->holds, "%s: got %g, %s", x->id, x->ours, x->note);
    }
    FR_TRUE(runs > 900, "got %zu runs", runs);
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_reach_what_they_must)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
