/* Who has the ranks of a search that names no mesh: tp, unless it can divide the heads at none of the rank counts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answer/search/search.h"
#include "tests/cmocka.h"

enum { HEADS = 12 };

/* GPT-2 on @p ranks, with one sample for each of @p batch; recompute varied, and @p more. */
static bool search(const char *ranks, int64_t batch, const char *more, struct fr_plan *best) {
    char set[64];
    const char *const sets[] = {set, "method=tensor", "model.dtype=bf16"};
    const char *const vary[] = {"recompute=none,full", more};
    const struct fr_job_names names = {
        .cluster = "dgx-h100", .model = "gpt-2", .sets = sets, .n_sets = 3};
    struct fr_error err = {.status = FR_OK};
    static struct fr_searched r;
    r = (struct fr_searched){.options = {.top = 1, .threads = 1, .max_lossy = 1}};
    snprintf(set, sizeof set, "global_batch=%" PRId64, batch);
    if (fr_job_load(&names, &r.job, &err) != FR_OK ||
        fr_searched_make(ranks, vary, more ? 2 : 1, &names, &r, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    bool found = r.result.top.count > 0;
    if (found) *best = r.result.top.items[0].outcome.plan;
    fr_searched_free(&r);
    return found;
}

static void every_rank_count_has_a_plan(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 48; n++) {
        char ranks[24];
        struct fr_plan best = {.tp = 0};
        bool whole = HEADS % n == 0;
        snprintf(ranks, sizeof ranks, "%" PRId64, n);
        FR_TRUE(search(ranks, n, NULL, &best), "%" PRId64 " ranks: no plan", n);
        FR_TRUE(best.tp == (whole ? n : 1) && best.dp == (whole ? 1 : n),
                "%" PRId64 " ranks: tp %" PRId64 ", dp %" PRId64, n, best.tp, best.dp);
    }
}

/* One rank count that tp can have, or a word of the mesh, and the ranks stay tp's. */
static void others_stay(void **state) {
    struct fr_plan best = {.tp = 0};
    (void)state;
    assert_true(search("6,16", 48, NULL, &best) && best.tp == 6);
    assert_true(search("16,32", 32, NULL, &best) && best.tp == 1 && best.dp == 32);
    assert_true(search("16", 32, "pp=1,4", &best) && best.tp == 4 && best.pp == 4);
    assert_false(search("16", 32, "pp=1,2", &best));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rank_count_has_a_plan),
                                       cmocka_unit_test(others_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
