/* forerun reproduce memory: the interval of a plan's memory is what the rows say, and the readers take from the rows
 * what stands in them. */
#include <stdlib.h>

#include "base/data.h"
#include "models/outcome/memory.h"
#include "studies/paper_table.h"
#include "studies/training/table.h"
#include "tests/cmocka.h"
#include "trust/numbers/statistics.h"

static const struct fr_reproduce_row *row(const struct fr_reproduction *r, const char *id) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].id, id) == 0) return &r->rows[i];
    fail_msg("no row %s", id);
    return NULL;
}

static double ours(const struct fr_reproduction *r, const char *id) { return row(r, id)->ours; }

/* The constants of models/outcome/memory.h are the spread of these plans, and Student's t of so many. */
static void the_interval_is_of_these_rows(void **state) {
    struct fr_reproduction r = {0};
    struct fr_error err = {0};
    char path[512];
    (void)state;
    if (!fr_data_find("training/simumax_b200.csv", path, sizeof path)) skip();
    if (fr_paper_memory.run(&r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    const struct fr_reproduce_row *spread = row(&r, "memory_spread/allocated");
    FR_TRUE(strstr(spread->note, "over 5 plans") != NULL, "%s", spread->note);
    FR_TRUE(fabs(spread->ours - FR_MEMORY_SPREAD) < 5e-5, "%g", spread->ours);
    FR_NEAR(fr_reach_90(4), FR_MEMORY_REACH, 1e-3);
    FR_TRUE(ours(&r, "memory_mlperf/mean_error") < 0.03, "%g",
            ours(&r, "memory_mlperf/mean_error"));
    FR_TRUE(ours(&r, "memory_simumax/mean_error") < 0.005, "%g",
            ours(&r, "memory_simumax/mean_error"));
    FR_TRUE(fabs(ours(&r, "memory_simumax/bias")) < 0.003, "%g",
            ours(&r, "memory_simumax/bias"));
    FR_TRUE(ours(&r, "memory_reserved_simumax/mean_error") < 0.05, "%g",
            ours(&r, "memory_reserved_simumax/mean_error"));
    FR_TRUE(ours(&r, "memory_shown_bloom/mean_error") < 0.1, "%g",
            ours(&r, "memory_shown_bloom/mean_error"));
    free(r.rows);
}

/* Llama 3.1 405B on 8 stages: the ends as layers, 126 + 2 over 8, 16 each with them. */
static void rows_of_405b_say_their_layout_and_peak(void **state) {
    struct fr_table_set set = {0};
    struct fr_error err = {0};
    int found = 0;
    (void)state;
    if (fr_table_read("mlperf/time_pretraining.csv", &set, &err) != FR_OK) skip();
    for (int i = 0; i < set.n; i++) {
        const struct fr_run *run = set.use[i];
        if (strcmp(run->id, "mlpt_50_llama31_405b_NVIDIA_eos_dfw_n64_ngc25_01_nemo") != 0)
            continue;
        found++;
        FR_NEAR(run->measured_memory_B, 58.817e9, 1e-9);
        FR_TRUE(run->counted == FR_COUNTED_ALLOCATED, "%d", (int)run->counted);
        assert_non_null(run->plan.stage_layers);
        for (int k = 0; k < 8; k++)
            FR_TRUE(run->plan.stage_layers[k] == (k == 0 || k == 7 ? 15 : 16), "stage %d", k);
    }
    FR_TRUE(found == 1, "%d rows", found);
    fr_table_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_is_of_these_rows),
        cmocka_unit_test(rows_of_405b_say_their_layout_and_peak)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
