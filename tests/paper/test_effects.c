/* forerun reproduce effects: what intervals assume is what the sources of measured runs find likeliest, with each left
 * out too, within a step of the grid; and without data each source is named as skipped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/papers/reproduce.h"
#include "base/data.h"
#include "calibrate/numbers/components.h"
#include "calibrate/runs/shared/alike.h"
#include "tests/cmocka.h"

static void run(struct fr_reproduction *r) {
    struct fr_error err = {0};
    *r = (struct fr_reproduction){0};
    if (fr_paper_effects.run(r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

static double ours(const struct fr_reproduction *r, const char *id) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].id, id) == 0) return r->rows[i].ours;
    fail_msg("no row %s", id);
    return NAN;
}

static void assumed_is_likeliest(void **state) {
    struct fr_reproduction r;
    char path[512];
    int sources = 0, without = 0;
    (void)state;
    if (!fr_data_find("training/vtrain_single_node.csv", path, sizeof path) ||
        !fr_data_find("mlperf/time_lora.csv", path, sizeof path))
        skip();
    run(&r);
    FR_NEAR(ours(&r, "all/missed"), 1, 0.11);
    FR_NEAR(ours(&r, "all/common"), fr_sizes_usual.common, 0.35);
    FR_NEAR(ours(&r, "all/apart"), fr_sizes_usual.apart, 0.3);
    FR_NEAR(ours(&r, "all/run"), 1, 0.5);
    FR_NEAR(ours(&r, "all/widths"), fr_sizes_usual.device, 0.31);
    assert_true(fr_sizes_usual.device == fr_sizes_usual.network);
    FR_NEAR(ours(&r, "all/stretch"), FR_TUNE_STRETCH, 0.06); /* sure to 0.09 by the jackknife */
    for (size_t i = 0; i < r.count; i++) {
        const struct fr_reproduce_row *x = &r.rows[i];
        sources += strncmp(x->id, "of/", 3) == 0;
        if (strncmp(x->id, "stretch_without/", 16) != 0) continue;
        FR_TRUE(fabs(x->ours - FR_TUNE_STRETCH) < 0.1, "%s: %g", x->id, x->ours);
        without++;
    }
    FR_TRUE(sources > 20 && without == sources, "%d sources, %d left out", sources, without);
    free(r.rows);
}

static void absent_sources_are_skipped(void **state) {
    struct fr_reproduction r;
    (void)state;
    setenv("FORERUN_DATA", "/nonexistent", 1);
    run(&r);
    assert_true(r.count > 20);
    for (size_t i = 0; i < r.count; i++)
        FR_TRUE(strncmp(r.rows[i].id, "skipped/", 8) == 0, "%s", r.rows[i].id);
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(assumed_is_likeliest),
                                       cmocka_unit_test(absent_sources_are_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
