/* forerun reproduce unseen: every table is of all runs; a source is rejected where a binomial test says so, and named; and
 * without data the files are named as skipped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "studies/paper_table.h"
#include "tests/cmocka.h"
#include "trust/numbers/statistics.h"

static void run(struct fr_reproduction *r) {
    struct fr_error err = {0};
    *r = (struct fr_reproduction){0};
    if (fr_paper_unseen.run(r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/* "machine/dgx-a100/WHAT" of the row "machine/dgx-a100/mean_error"; NaN: none. */
static double beside(const struct fr_reproduction *r, const struct fr_reproduce_row *mean,
                     const char *what) {
    size_t n = (size_t)(strrchr(mean->id, '/') - mean->id) + 1;
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->rows[i].id, mean->id, n) == 0 && strcmp(r->rows[i].id + n, what) == 0)
            return r->rows[i].ours;
    return NAN;
}

static const char *mean_of(const struct fr_reproduce_row *row, const char *table) {
    const char *at = strrchr(row->id, '/');
    return at && strcmp(at, "/mean_error") == 0 && strncmp(row->id, table, strlen(table)) == 0
               ? at
               : NULL;
}

/* How many runs are in @p table, and how far off they are, and how many inside their intervals. */
static void sum(const struct fr_reproduction *r, const char *table, double of[3]) {
    of[0] = of[1] = of[2] = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct fr_reproduce_row *row = &r->rows[i];
        double n = mean_of(row, table) ? beside(r, row, "n") : 0;
        if (n == 0) continue;
        of[0] += n;
        of[1] += n * row->ours;
        of[2] += n * beside(r, row, "coverage");
    }
}

static void tables_are_of_all_runs(void **state) {
    static const char *const tables[] = {"machine/", "runtime/", "kind/", "source/"};
    struct fr_reproduction r;
    char path[512];
    double all[3], of[3];
    int rejected = 0;
    (void)state;
    if (!fr_data_find("fresh/rows.csv", path, sizeof path)) skip();
    run(&r);
    sum(&r, "all/", all);
    FR_TRUE(all[0] >= 100 && all[1] < 0.15 * all[0], "%g runs, %g", all[0], all[1] / all[0]);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        sum(&r, tables[t], of);
        for (int k = 0; k < 3; k++) FR_NEAR(of[k], all[k], 1e-9);
    }
    for (size_t i = 0; i < r.count; i++) {
        const struct fr_reproduce_row *x = &r.rows[i];
        if (!mean_of(x, "source/")) {
            FR_TRUE(!x->judged, "%s", x->id);
            continue;
        }
        double n = beside(&r, x, "n"), inside = n * beside(&r, x, "coverage");
        double p = fr_binomial_likely((size_t)lround(inside), (size_t)n, 0.9);
        FR_TRUE(x->judged && x->holds == (p >= 0.01), "%s: %g", x->id, p);
        FR_TRUE((strstr(x->note, "rejected") != NULL) == !x->holds, "%s: %s", x->id, x->note);
        rejected += !x->holds;
    }
    FR_TRUE(rejected <= 1, "%d sources rejected", rejected);
    free(r.rows);
}

static const struct fr_reproduce_row *row_of(const struct fr_reproduction *r, const char *id) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->rows[i].id, id) == 0) return &r->rows[i];
    fail_msg("no row %s", id);
    return NULL;
}

/* Owners that broadcast to all ranks, or to those of a node: the group is faster on every number of nodes. */
static void sharding_groups_are_ordered(void **state) {
    struct fr_reproduction r;
    char path[512], id[64];
    (void)state;
    if (!fr_data_find("fresh/rows.csv", path, sizeof path)) skip();
    run(&r);
    for (int tp = 1; tp <= 2; tp++)
        for (int ranks = 16; ranks <= 128; ranks *= 2) {
            snprintf(id, sizeof id, "run/evo_tp%d_zall_%d", tp, ranks);
            const struct fr_reproduce_row *all = row_of(&r, id);
            snprintf(id, sizeof id, "run/evo_tp%d_z%d_%d", tp, 8 / tp, ranks);
            const struct fr_reproduce_row *group = row_of(&r, id);
            FR_TRUE(all->published > group->published && all->ours > 1.01 * group->ours,
                    "%s: %g and %g s, predicted %g and %g", id, all->published,
                    group->published, all->ours, group->ours);
        }
    free(r.rows);
}

static void absent_files_are_skipped(void **state) {
    struct fr_reproduction r;
    (void)state;
    setenv("FORERUN_DATA", "/nonexistent", 1);
    run(&r);
    FR_TRUE(r.count == 2, "%zu rows", r.count);
    for (size_t i = 0; i < r.count; i++)
        FR_TRUE(strncmp(r.rows[i].id, "skipped/fresh/", 14) == 0, "%s", r.rows[i].id);
    free(r.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_of_all_runs),
                                       cmocka_unit_test(sharding_groups_are_ordered),
                                       cmocka_unit_test(absent_files_are_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
