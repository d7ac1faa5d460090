/* Curves of forerun quality as points of a figure: by hand, and never more than a figure holds. */
#include <stdlib.h>
#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(long_curves_are_thinned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
