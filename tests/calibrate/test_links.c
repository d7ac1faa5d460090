/* A sample that links cannot carry is left out; a sample that the levels' own rates allow never is. */
#include "calibrate/fit/links.h"

#include <string.h>

#include "base/random.h"
#include "tests/cmocka.h"

static const struct fr_levels levels = {
    .count = 2,
    .level = {{.name = "node", .ranks = 8, .rate_B_per_s = 300e9, .shared_by = 1},
              {.name = "system", .ranks = 1024, .rate_B_per_s = 25e9, .shared_by = 1}}};

static struct fr_sample_collective sample(fr_op op, int64_t ranks, int64_t nodes, double size_B,
                                          double time_s) {
    return (struct fr_sample_collective){.op = op,
                                         .level = nodes > 1 ? FR_SAMPLE_SYSTEM : FR_SAMPLE_NODE,
                                         .n_ranks = ranks,
                                         .n_nodes = nodes,
                                         .n_groups = 1,
                                         .size_B = size_B,
                                         .time_s = time_s};
}

static void bounds_by_hand(void **state) {
    static const struct {
        fr_op op;
        int64_t ranks, nodes;
        double bound_s;
    } rows[] = {{FR_OP_ALL_REDUCE, 8, 1, 1. / 300},       {FR_OP_ALL_GATHER, 8, 1, 0.875 / 300},
                {FR_OP_ALL_REDUCE, 16, 2, 1. / 200},      {FR_OP_ALL_GATHER, 16, 2, 0.5 / 200},
                {FR_OP_ALL_TO_ALL, 16, 2, 8 * 0.5 / 200}, {FR_OP_SEND_RECV, 16, 2, 1. / 25}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_sample_collective s =
            sample(rows[i].op, rows[i].ranks, rows[i].nodes, 1e9, 1);
        FR_NEAR(fr_links_bound_s(&s, &levels), rows[i].bound_s, 1e-12);
    }
}

static void only_what_cannot_be_goes(void **state) {
    uint64_t random = 9;
    struct fr_sample_collective items[200];
    struct fr_samples samples = {.collective = items, .n_collective = 200};
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < 200; i++) {
        int64_t nodes = 1 + (int64_t)(fr_random_next(&random) % 8);
        items[i] = sample((fr_op)(fr_random_next(&random) % FR_OP_COUNT), 8 * nodes, nodes,
                          1e6 * (double)(1 + fr_random_next(&random) % 1000), 1);
        double bound_s = fr_links_bound_s(&items[i], &levels);
        bool fast = bound_s > 0 && fr_random_next(&random) % 4 == 0;
        items[i].time_s = bound_s > 0 ? bound_s * (fast ? 0.6 : 0.7) : 1e-6;
        wrong += fast;
    }
    assert_int_equal(fr_links_drop(&samples, &levels), wrong);
    assert_int_equal(samples.n_collective, 200 - wrong);
    for (size_t i = 0; i < samples.n_collective; i++)
        assert_true(items[i].time_s >= 2. / 3 * fr_links_bound_s(&items[i], &levels));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_by_hand),
        cmocka_unit_test(only_what_cannot_be_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
