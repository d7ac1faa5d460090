/* Ends of a transformer that common layers of sub-graphs compute: all that they do is marked so, and is else the same. */
#include "models/work/transformer.h"
#include "tests/job.h"
#include "tests/plan_values.h"
#include "tests/work.h"

static void ends_are_common_or_not(void **state) {
    uint64_t dice = 5;
    (void)state;
    for (int round = 0; round < 200; round++) {
        const struct fr_transformer t = {.layers = 2,
                                         .hidden = 64 << fr_test_random(&dice, 3),
                                         .heads = 4,
                                         .vocabulary = 1000,
                                         .sequence = 128,
                                         .masked_head = fr_test_random(&dice, 2)};
        struct fr_ends ends = {.tokens = 1 + (double)fr_test_random(&dice, 500),
                               .batch = 1,
                               .words = 8 + (double)fr_test_random(&dice, 500),
                               .value_B = 2,
                               .saved = (double)t.hidden,
                               .logits_saved = (double)t.hidden,
                               .axis = FR_AXIS_TP,
                               .predicted = (double)fr_test_random(&dice, 3)};
        bool first = fr_test_random(&dice, 2), last = fr_test_random(&dice, 2) || !first;
        static struct fr_rank_work own, common;
        memset(&own, 0, sizeof own);
        memset(&common, 0, sizeof common);
        fr_transformer_add_ends(&own, &t, first, last, &ends);
        ends.common = true;
        fr_transformer_add_ends(&common, &t, first, last, &ends);
        for (int kind = 0; kind <= FR_WORK_KERNELS; kind++)
            for (int pass = 0; pass < FR_PASS_KINDS; pass++)
                FR_NEAR(test_sum(&common, kind, pass), test_sum(&own, kind, pass), 1e-12);
        for (int k = 0; k < own.n_ops; k++) assert_false(own.op[k].common);
        for (int k = 0; k < common.n_ops; k++)
            FR_TRUE(common.op[k].common || test_amount(&common.op[k]) == 0,
                    "round %d: operation %d of kind %d", round, k, common.op[k].kind);
        FR_NEAR(test_sum(&own, FR_WORK_KERNELS, FR_PASS_FORWARD),
                (first ? 2 : 0) + 2 * ends.predicted +
                    (last ? 5 * (1 + ends.predicted) + (t.masked_head ? 3 : 0) : 0),
                0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_are_common_or_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
