/* forerun reproduce effects: what intervals assume is nearly as likely as anything, by the sources of measured runs; nine in
 * ten plans lie where they say, with each source left out too; and without data each source is named as skipped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "studies/paper_table.h"
#include "tests/cmocka.h"
#include "trust/effects/groups.h"
#include "trust/numbers/components.h"

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

/* How much less likely @p value is than the likeliest, in ln L, as the row's note says. */
static double less(const struct fr_reproduction *r, const char *id, double value) {
    char key[32];
    snprintf(key, sizeof key, " %.4g: ", value);
    for (size_t i = 0; i < r->count; i++) {
        const char *at = strcmp(r->rows[i].id, id) == 0 ? strstr(r->rows[i].note, key) : NULL;
        if (at) return atof(at + strlen(key));
    }
    fail_msg("no row %s with %s", id, key);
    return NAN;
}

static void assumed_is_likely(void **state) {
    struct fr_reproduction r;
    char path[512];
    int sources = 0, without = 0;
    (void)state;
    if (!fr_data_find("training/vtrain_single_node.csv", path, sizeof path) ||
        !fr_data_find("mlperf/time_lora.csv", path, sizeof path))
        skip();
    run(&r);
    const struct {
        const char *id;
        double assumed;
    } of[] = {{"all/missed", 1},
              {"all/common", fr_sizes_usual.common},
              {"all/apart", fr_sizes_usual.apart},
              {"all/run", 1},
              {"all/widths", fr_sizes_usual.device}};
    for (size_t i = 0; i < sizeof of / sizeof *of;
         i++) /* 1.9 would refute it, nineteen times in twenty */
        FR_TRUE(less(&r, of[i].id, of[i].assumed) > -0.5, "%s: %g", of[i].id,
                less(&r, of[i].id, of[i].assumed));
    assert_true(fr_sizes_usual.device == fr_sizes_usual.network);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < r.count; i++) {
        const struct fr_reproduce_row *x = &r.rows[i];
        sources += strncmp(x->id, "of/", 3) == 0;
        if (strncmp(x->id, "stretch_without/", 16) != 0) continue;
        sum += x->ours, squares += x->ours * x->ours;
        without++;
    }
    /* The jackknife's standard error; two of them would refute it. */
    double mean = sum / without, sure = sqrt((without - 1) * (squares / without - mean * mean));
    FR_TRUE(sure > 0 && sure < 0.12, "the stretch is sure to %g", sure);
    FR_TRUE(fabs(ours(&r, "all/stretch") - FR_TUNE_STRETCH) < 2 * sure, "%g, sure to %g",
            ours(&r, "all/stretch"), sure);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(assumed_is_likely),
                                       cmocka_unit_test(absent_sources_are_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
