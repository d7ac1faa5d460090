/* forerun reproduce energy: what its tables must reach, on rows that had no part in their prediction,
 * and the document that shows it. */
#include <stdlib.h>

#include "base/data.h"
#include "studies/paper_table.h"
#include "tests/paper/accuracy.h"

/* These targets are asked and not reached; docs/explanation/accuracy.md says why. */
static const char *const known_misses[] = {
    "stage_clocks_time/coverage", "pipeline_limits_each_power/coverage",
    "nodes_benchmark/coverage",   "nodes_supplies/coverage",
    "nodes_switches/coverage",    NULL};

static void tables_reach_what_they_must(void **state) {
    struct fr_reproduction r = {0};
    struct fr_error err = {0};
    char path[512];
    (void)state;
    if (!fr_data_find("energy/perseus_stage_profile_freq.csv", path, sizeof path) ||
        !fr_data_find("mlperf/power_runs.csv", path, sizeof path))
        skip();
    if (fr_paper_energy.run(&r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    size_t runs = accuracy_rows_hold(&r, known_misses);
    FR_TRUE(runs > 4000, "got %zu runs", runs);
    accuracy_is_up_to_date(&r, FR_ENERGY_MARK, "evidence/2026-11-22-energy.md");
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_reach_what_they_must)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
