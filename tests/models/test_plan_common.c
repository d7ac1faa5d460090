/* Lines of plans may state once what they share: rows without it are equal only where lines are, and shorter by as
 * much. */
#include "models/plan/common.h"
#include "tests/cmocka.h"
#include "tests/plan_values.h"

enum { PLANS = 4 };

struct read_plan {
    struct fr_json_document *document;
    struct fr_plan plan;
    struct fr_plan_lists lists;
};

static bool idle(const struct fr_plan *plan) {
    const char *needs;
    return fr_plan_idle_key(NULL, plan, &needs);
}

static void rows_are_told_apart(void **state) {
    (void)state;
    uint64_t dice = 88172645463325252u;
    int shared = 0;
    for (int n = 0; n < 5000; n++) {
        struct read_plan r[PLANS];
        struct fr_plan_common common = {0};
        for (int i = 0; i < PLANS; i++) {
            assert_int_equal(fr_test_plan_document(&dice, 12, &r[i].document), 0);
            assert_int_equal(fr_plan_read(r[i].document, &r[i].plan, &r[i].lists, NULL), FR_OK);
            for (int k = 0; i > 0 && k < FR_PLAN_KEYS;
                 k++) /* most keys as the first has them */
                if (fr_test_random(&dice, 8))
                    fr_plan_key_copy(&fr_plan_keys[k], &r[0].plan, &r[i].plan);
            fr_plan_common_add(&common, &r[i].plan);
        }
        fr_plan_key_set without = fr_plan_common_keys(&common);
        shared += without != 0;
        for (int i = 0; i < PLANS; i++)
            for (int j = 0; j < i; j++) {
                char a[FR_PLAN_LINE], b[FR_PLAN_LINE], row_a[FR_PLAN_LINE], row_b[FR_PLAN_LINE];
                fr_plan_line(&r[i].plan, 0, a, sizeof a);
                fr_plan_line(&r[j].plan, 0, b, sizeof b);
                fr_plan_line(&r[i].plan, without, row_a, sizeof row_a);
                fr_plan_line(&r[j].plan, without, row_b, sizeof row_b);
                /* a rank without what it is the rank of is refused, and stands on no row */
                if (!idle(&r[i].plan) && !idle(&r[j].plan))
                    FR_TRUE(!strcmp(a, b) == !strcmp(row_a, row_b), "%s; %s: %s", a, b, row_a);
                FR_TRUE(strlen(a) - strlen(row_a) == fr_plan_common_length(&common), "%s", a);
            }
        for (int i = 0; i < PLANS; i++) {
            fr_plan_lists_free(&r[i].lists);
            fr_json_free(r[i].document);
        }
    }
    assert_true(shared > 1000);
}

/* By hand. */
static void stated_once(void **state) {
    (void)state;
    struct fr_plan a = fr_plan_default(), b = a;
    struct fr_plan_common common = {0};
    char line[FR_PLAN_LINE];
    a.tp = 8, a.dp = 4, a.attention = FR_ATTENTION_FLASH, a.global_batch = 512;
    a.compression.gradient_stages = 1, a.compression.gradient_rank = 64;
    b = a, b.tp = 4, b.dp = 8;
    fr_plan_common_add(&common, &a);
    assert_true(fr_plan_common_keys(&common) == 0); /* nothing to compare it with */
    fr_plan_common_add(&common, &b);
    assert_string_equal(fr_plan_common_line(&common, line, sizeof line),
                        "SC 1 r64, flash, batch 512");
    assert_string_equal(fr_plan_line(&b, fr_plan_common_keys(&common), line, sizeof line),
                        "tensor tp 4 x dp 8");
    b.compression.gradient_stages = 2; /* its rank stays beside it */
    fr_plan_common_add(&common, &b);
    assert_string_equal(fr_plan_common_line(&common, line, sizeof line), "flash, batch 512");
    assert_string_equal(fr_plan_line(&b, fr_plan_common_keys(&common), line, sizeof line),
                        "tensor tp 4 x dp 8, SC 2 r64");
    b.attention = FR_ATTENTION_PLAIN; /* not said of this one */
    fr_plan_common_add(&common, &b);
    assert_string_equal(fr_plan_common_line(&common, line, sizeof line), "batch 512");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_told_apart),
                                       cmocka_unit_test(stated_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
