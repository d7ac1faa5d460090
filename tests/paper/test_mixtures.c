/* forerun reproduce mixtures: the same runs four times, and a date says as much as the release's name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "studies/paper_table.h"
#include "tests/cmocka.h"

static double ours(const struct fr_reproduction *r, const char *id) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].id, id) == 0) return r->rows[i].ours;
    fail_msg("no row %s", id);
    return NAN;
}

static void a_date_is_as_good_as_a_name(void **state) {
    static const char *const counts[] = {"known/run/n", "known/release/n", "known/date/n",
                                         "known/newest/n"};
    struct fr_reproduction r = {0};
    struct fr_error err = {0};
    char path[512];
    (void)state;
    if (!fr_data_find("training/megatron_bridge.csv", path, sizeof path)) skip();
    if (fr_paper_mixtures.run(&r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        FR_TRUE(ours(&r, counts[i]) == 113, "%s: %g", counts[i], ours(&r, counts[i]));
    assert_true(ours(&r, "known/date/mean_error") == ours(&r, "known/release/mean_error"));
    FR_TRUE(ours(&r, "known/date/mean_error") < 0.15, "%g", ours(&r, "known/date/mean_error"));
    assert_true(ours(&r, "known/run/mean_error") < ours(&r, "known/date/mean_error"));
    assert_true(ours(&r, "known/date/mean_error") < ours(&r, "known/newest/mean_error"));
    FR_TRUE(ours(&r, "known/newest/mean_error") < 0.15, "%g",
            ours(&r, "known/newest/mean_error"));
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_date_is_as_good_as_a_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
