/* Fitted similarity tables by hand: the law by nature, the law that rank counts show, intervals, and what a
 * table misses of its own sizes. */
#include <stdlib.h>

#include "calibrate/fit/fitter.h"
#include "calibrate/fit/parts.h"
#include "tests/cmocka.h"

enum { POINTS = 256 };
struct points {
    struct fr_fit_point item[POINTS];
    int n;
};

static void add(struct points *points, fr_op op, int64_t p, int64_t nodes, double size_B,
                double time_s) {
    points->item[points->n++] = (struct fr_fit_point){.op = op,
                                                      .level = nodes > 1,
                                                      .n_ranks = p,
                                                      .n_nodes = nodes,
                                                      .size_B = size_B,
                                                      .time_s = time_s,
                                                      .median_s = time_s,
                                                      .uncertainty = 1e9,
                                                      .n = 1};
}

static void fit(const struct points *points, bool gpu, struct fr_price *price) {
    *price = (struct fr_price){.op = points->item->op};
    assert_int_equal(fr_fitter_similarity.fit(points->item, points->n, gpu, price), FR_OK);
}

/* With one rank count alone. */
static void the_law_by_nature(void **state) {
    static const struct {
        fr_op op;
        int64_t p, nodes;
        bool gpu;
        const char *steps, *bytes;
    } cases[] = {
        {FR_OP_ALL_REDUCE, 8, 1, false, "log2 p", "(p - 1)/p"},
        {FR_OP_BROADCAST, 8, 1, true, "log2 p", "(p - 1)/p"},
        {FR_OP_ALL_REDUCE, 8, 2, true, "1/4 + log2 N", "(p - 1)/p"},
        {FR_OP_ALL_REDUCE, 16, 2, false, "1 + log2 N", "(p - 1)/p"},
        {FR_OP_ALL_REDUCE, 18, 2, false, "p^0.6", "(p - 1)/p"}, /* nine a node are a crowd */
        {FR_OP_ALL_GATHER, 16, 2, false, "p - 1", "(p - 1)/p"},
        {FR_OP_REDUCE_SCATTER, 16, 2, true, "p - 1", "(p - 1)/p"},
        {FR_OP_SCATTER, 8, 1, false, "p - 1", "(p - 1)/p"},
        {FR_OP_GATHER, 8, 1, false, "p - 1", "(p - 1)/p"},
        {FR_OP_ALL_TO_ALL, 16, 2, false, "p - 1", "(p - p/N)/p"},
        {FR_OP_SEND_RECV, 2, 1, false, "1", "1"},
        {FR_OP_SEND_RECV, 4, 2, true, "1", "1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct points points = {.n = 0};
        struct fr_price price;
        for (double n = 8; n < 1e6; n *= 8)
            add(&points, cases[i].op, cases[i].p, cases[i].nodes, n, 1e-6 + 1e-10 * n);
        fit(&points, cases[i].gpu, &price);
        const struct fr_similarity_law *law = &price.similarity.law[cases[i].nodes > 1];
        FR_TRUE(strcmp(fr_steps_names[law->steps], cases[i].steps) == 0, "%zu: %s", i,
                fr_steps_names[law->steps]);
        FR_TRUE(strcmp(fr_bytes_names[law->bytes], cases[i].bytes) == 0, "%zu: %s", i,
                fr_bytes_names[law->bytes]);
        fr_price_free(&price);
    }
}

/* As they are stated; confirmed by a second rank count of as many ranks a node, narrower on GPUs. */
static void growth_of_the_interval(void **state) {
    static const struct {
        bool gpu;
        int64_t p, nodes, second_p, second_nodes;
        double slow, fast;
    } cases[] = {{true, 8, 2, 16, 4, 0.24, 0.12}, {true, 8, 2, 0, 0, 0.28, 0.14},
                 {true, 8, 2, 16, 2, 0.28, 0.14}, {true, 4, 1, 8, 1, 0.40, 0.35},
                 {true, 4, 1, 0, 0, 0.40, 0.35},  {false, 8, 2, 16, 4, 0.80, 0.60},
                 {false, 8, 2, 0, 0, 0.80, 0.60}, {false, 4, 1, 8, 1, 0.50, 0.40}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct points points = {.n = 0};
        struct fr_price price;
        for (int k = 0; k < 2; k++)
            for (double n = 8; n < 1e6; n *= 8) {
                int64_t p = k ? cases[i].second_p : cases[i].p;
                int64_t nodes = k ? cases[i].second_nodes : cases[i].nodes;
                if (p) add(&points, FR_OP_ALL_REDUCE, p, nodes, n, 1e-6 + 1e-10 * n);
            }
        fit(&points, cases[i].gpu, &price);
        const struct fr_similarity_law *law = &price.similarity.law[cases[i].nodes > 1];
        FR_TRUE(law->slow == cases[i].slow && law->fast == cases[i].fast, "%zu: %g, %g", i,
                law->slow, law->fast);
        fr_price_free(&price);
    }
}

/* t = F g(n B / F), g(x) = 2 us + x/5 GB/s: what rank counts show plainly is taken, and predicts ranks that
 * were not measured; what they hardly show is left as by nature. */
static void rank_counts_show_the_law(void **state) {
    static const struct {
        const char *steps, *bytes, *bytes_found;
    } cases[] = {{"p - 1", "p - 1", "p - 1"},    {"1", "p - 1", "p - 1"},
                 {"p - 1", "1", "(p - 1)/p"},    {"log2 p", "(p - 1)/p", "(p - 1)/p"},
                 {"log2 p", "log2 p", "log2 p"}, {"1", "log2 p", "log2 p"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct points points = {.n = 0};
        struct fr_price price;
        struct fr_similarity_answer a;
        int s = 0, b = 0;
        while (strcmp(fr_steps_names[s], cases[i].steps) != 0) s++;
        while (strcmp(fr_bytes_names[b], cases[i].bytes) != 0) b++;
        for (int64_t p = 8; p <= 32; p *= 2)
            for (double n = 8; n < 1e9; n *= 4)
                add(&points, FR_OP_BROADCAST, p, 1, n,
                    2e-6 * fr_steps(s, p, 1) + 2e-10 * fr_bytes(b, p, 1) * n);
        fit(&points, false, &price);
        const struct fr_similarity_law *law = &price.similarity.law[0];
        FR_TRUE(strcmp(fr_steps_names[law->steps], cases[i].steps) == 0, "%zu: %s", i,
                fr_steps_names[law->steps]);
        FR_TRUE(strcmp(fr_bytes_names[law->bytes], cases[i].bytes_found) == 0, "%zu: %s", i,
                fr_bytes_names[law->bytes]);
        double near = strcmp(cases[i].bytes, cases[i].bytes_found) == 0 ? 1e-9 : 0.05;
        for (double n = 100; n < 1e8; n *= 10) {
            assert_true(fr_similarity_ask(&price.similarity, 0, 256, 1, n, true, &a));
            FR_NEAR(a.time_s, 2e-6 * fr_steps(s, 256, 1) + 2e-10 * fr_bytes(b, 256, 1) * n,
                    near);
        }
        fr_price_free(&price);
    }
}

/* A size read without it: the chord of its neighbours, in octaves; beside how well it is known. */
static void what_a_table_misses_of_itself(void **state) {
    struct points points = {.n = 0};
    struct fr_price price;
    (void)state;
    add(&points, FR_OP_BROADCAST, 4, 1, 100, 1);
    add(&points, FR_OP_BROADCAST, 4, 1, 200, 4); /* 2 of its neighbours: an octave */
    add(&points, FR_OP_BROADCAST, 4, 1, 300, 3); /* 4 */
    add(&points, FR_OP_BROADCAST, 4, 1, 400, 4);
    points.item[2].uncertainty = 0.5;
    points.item[3].uncertainty = 0.25;
    fit(&points, false, &price);
    const struct fr_similarity_table *t = price.similarity.tables;
    double third = hypot(log2(1.5), log2(4.0 / 3));
    assert_int_equal(t->count, 4);
    FR_NEAR(t->left_out[0], 0, 0);
    FR_NEAR(t->left_out[1], 1, 1e-12);
    FR_NEAR(t->left_out[2], third, 1e-12);
    FR_NEAR(t->left_out[3], log2(1.25), 1e-12);
    FR_NEAR(t->left_out_90, third + 0.9 * (1 - third), 1e-12);
    assert_int_equal(t->n_nodes, 1);
    fr_price_free(&price);
}

/* Nodes that nobody stated are two where ranks are on several; a table for every rank count. */
static void tables_are_told_apart(void **state) {
    static const int nodes[] = {1, 2, 4, 4}, ranks[] = {4, 8, 8, 16};
    struct points points = {.n = 0};
    struct fr_price price;
    (void)state;
    for (double n = 1; n < 5; n++) add(&points, FR_OP_BROADCAST, 4, 1, n, 1);
    for (double n = 1; n < 4; n++) add(&points, FR_OP_BROADCAST, 8, 2, n, 2);
    for (double n = 1; n < 3; n++) add(&points, FR_OP_BROADCAST, 8, 4, n, 3);
    for (double n = 1; n < 2; n++) add(&points, FR_OP_BROADCAST, 16, 4, n, 4);
    for (int i = 4; i < 7; i++) points.item[i].n_nodes = 0;
    fit(&points, false, &price);
    assert_int_equal(price.similarity.n_tables, 4);
    for (int i = 0; i < 4; i++) {
        const struct fr_similarity_table *t = &price.similarity.tables[i];
        assert_int_equal(t->count, 4 - i);
        assert_int_equal(t->n_nodes, nodes[i]);
        assert_int_equal(t->n_ranks, ranks[i]);
        for (int k = 0; k < t->count; k++) FR_NEAR(t->time_s[k], i + 1, 0);
    }
    fr_price_free(&price);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_by_nature),
        cmocka_unit_test(growth_of_the_interval),
        cmocka_unit_test(rank_counts_show_the_law),
        cmocka_unit_test(what_a_table_misses_of_itself),
        cmocka_unit_test(tables_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
