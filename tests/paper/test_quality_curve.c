/* Curves of forerun quality as points of a figure: by hand, and never more than a figure holds. */
#include <stdlib.h>
#include <string.h>

#include "studies/dsp/quality.h"
#include "studies/quality_curve.h"
#include "tests/cmocka.h"

static void points_of(const char *json, const char *name, bool perplexity,
                      struct fr_reproduction *r) {
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_json_parse(json, strlen(json), "row", &document, NULL), FR_OK);
    struct fr_json root = fr_json_root(document);
    fr_quality_curve(&root, "fig", name, perplexity, r);
    fr_json_free(document);
    assert_false(r->failed);
}

static void by_hand(void **state) {
    struct fr_reproduction r = {0};
    (void)state;
    points_of(
        "{\"curve\": [{\"iteration\": 0, \"time_s\": 0, \"loss\": 2}, {\"iteration\": 20, "
        "\"time_s\": 0.5, \"loss\": 1}, {\"iteration\": 40, \"loss\": null}]}",
        "a/b", true, &r);
    assert_int_equal(r.count, 4);
    assert_string_equal(r.rows[0].id, "quality/fig/curve/iteration=0/a-b");
    assert_string_equal(r.rows[1].id, "quality/fig/curve/iteration=20/a-b");
    assert_string_equal(r.rows[3].id, "quality/fig/clock/time=0.5/a-b");
    FR_NEAR(r.rows[0].ours, exp(2), 1e-12);
    FR_NEAR(r.rows[3].ours, exp(1), 1e-12);
    for (size_t i = 0; i < r.count; i++) assert_true(r.rows[i].detail && !r.rows[i].judged);
    free(r.rows);
}

static void long_curves_are_thinned(void **state) {
    (void)state;
    for (int n = 1; n <= 200; n++) {
        struct fr_text json = {0};
        struct fr_reproduction r = {0};
        fr_text_addf(&json, "{\"curve\": [");
        for (int i = 0; i < n; i++)
            fr_text_addf(&json, "%s{\"iteration\": %d, \"loss\": 1}", i ? "," : "", i);
        fr_text_addf(&json, "]}");
        points_of(fr_text_get(&json), "a", false, &r);
        FR_TRUE(r.count >= 1 && r.count <= 30 && (n > 30 || r.count == (size_t)n),
                "%d evaluations, %zu points", n, r.count);
        fr_text_free(&json);
        free(r.rows);
    }
}

/* Fig. 17's legend has the paper's words, and labels where those would name two plans. */
static void ways_are_named_as_the_paper_does(void **state) {
#define PLAN_ROW(tp, dp)                                                                       \
    "{\"label\": \"tp " #tp " x dp " #dp                                                       \
    "\", \"plan\": {\"method\": \"subgraph\", \"tp\": " #tp                                    \
    "}, \"curve\": [{\"iteration\": 0, "                                                       \
    "\"loss\": 2, \"loss_high\": 3}]}"
#define RESULT(rows)                                                                           \
    "{\"schema\": \"forerun/quality/1\", \"corpus\": \"grammar\", \"rows\": [" rows "]}"
    static const struct {
        const char *json, *name[3];
    } cases[] = {{RESULT(PLAN_ROW(1, 4) "," PLAN_ROW(4, 1)), {"data_parallel", "4_way"}},
                 {RESULT(PLAN_ROW(1, 4) "," PLAN_ROW(2, 2) "," PLAN_ROW(2, 1)),
                  {"data_parallel", "tp 2 x dp 2", "tp 2 x dp 1"}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *document = NULL;
        struct fr_reproduction r = {0};
        size_t length = strlen(cases[i].json);
        assert_int_equal(fr_json_parse(cases[i].json, length, "quality", &document, NULL),
                         FR_OK);
        struct fr_json root = fr_json_root(document);
        assert_int_equal(fr_dsp_quality(&root, &r, NULL), FR_OK);
        for (int k = 0; k < 3 && cases[i].name[k]; k++) {
            char id[96];
            int found = 0;
            snprintf(id, sizeof id, "quality/fig17/curve/iteration=0/%s", cases[i].name[k]);
            for (size_t j = 0; j < r.count; j++) found += strcmp(r.rows[j].id, id) == 0;
            FR_TRUE(found == 1, "%s: %d rows", id, found);
        }
        free(r.rows);
        fr_json_free(document);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(long_curves_are_thinned),
                                       cmocka_unit_test(ways_are_named_as_the_paper_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
