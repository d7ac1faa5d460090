/* Links cost a communicator this: closed form against counting on every link; neighbours against scattered ranks; one
 * communicator against many at once. */
#include "tests/topology/read_levels.h"
#include "topology/communicator.h"
#include "topology/route.h"

/* 4 racks of 4 nodes of 8 ranks, two adapters a node, one link up for two nodes' worth ... of a
 * node: every level narrower than the one inside. */
static const struct fr_levels machine = {
    .count = 3,
    .level = {{"node", 8, 1e-6, 100e9, 1, {0}, {0, 0}, 0, 0, 0},
              {"rack", 32, 2e-6, 20e9, 4, {0}, {0, 0}, 0, 0, 0},
              {"system", 128, 5e-6, 10e9, 8, {0}, {0, 0}, 0, 0, 0}}};
/* Two levels, links inside slower than those between and shared by neighbours. */
static const struct fr_levels slow_inside = {
    .count = 2,
    .level = {{"node", 4, 3e-6, 2e9, 2, {0}, {0, 0}, 0, 0, 0},
              {"system", 128, 1e-6, 50e9, 1, {0}, {0, 0}, 0, 0, 0}}};

static bool same(struct fr_link_cost a, struct fr_link_cost b) {
    return fabs(a.latency_s - b.latency_s) <= 1e-12 * b.latency_s &&
           fabs(a.s_per_B - b.s_per_B) <= 1e-12 * b.s_per_B;
}

static void closed_equals_counted(const struct fr_levels *levels) {
    int tried = 0;
    for (int64_t p = 2; p <= 128; p *= 2)
        for (int64_t stride = 1; p * stride <= 128; stride *= 2)
            for (int64_t groups = 1; groups * p <= 128; groups++) {
                struct fr_communicator c = {p, stride, groups, 0, NULL};
                struct fr_group closed, counted;
                if (groups > stride && groups % stride != 0) continue;
                assert_int_equal(fr_group_of(levels, &c, &closed, NULL), FR_OK);
                assert_int_equal(fr_group_count(levels, &c, &counted, NULL), FR_OK);
                FR_TRUE(
                    closed.level == counted.level &&
                        closed.ranks_per_node == counted.ranks_per_node &&
                        closed.fewest == counted.fewest && closed.nodes == counted.nodes &&
                        same(closed.rails, counted.rails) && same(closed.ring, counted.ring) &&
                        same(closed.outer, counted.outer) && same(closed.inner, counted.inner),
                    "p %d stride %d groups %d: level %d %d, in a node %d %d, ring %g %g, outer "
                    "%g %g, inner %g %g",
                    (int)p, (int)stride, (int)groups, closed.level, counted.level,
                    (int)closed.ranks_per_node, (int)counted.ranks_per_node,
                    closed.ring.s_per_B, counted.ring.s_per_B, closed.outer.s_per_B,
                    counted.outer.s_per_B, closed.inner.s_per_B, counted.inner.s_per_B);
                tried++;
            }
    assert_true(tried > 100);
}

static void closed_form_equals_counting(void **state) {
    (void)state;
    closed_equals_counted(&machine);
    closed_equals_counted(&slow_inside);
}

/* Eight ranks of a node behind one adapter of 25 GB/s, 300 GB/s inside: by hand. */
static void neighbours_and_scattered(void **state) {
    (void)state;
    static const struct fr_levels nodes = {
        .count = 2,
        .level = {{"node", 8, 2e-6, 300e9, 1, {0}, {0, 0}, 0, 0, 0},
                  {"system", 128, 5e-6, 25e9, 8, {0}, {0, 0}, 0, 0, 0}}};
    struct fr_group group;
    struct fr_communicator near = {4, 1, 1, 0, NULL}, far = {4, 8, 1, 0, NULL},
                           eight = {4, 8, 8, 0, NULL}, two_nodes = {16, 1, 1, 0, NULL};
    assert_int_equal(fr_group_of(&nodes, &near, &group, NULL), FR_OK);
    FR_NEAR(group.outer.s_per_B, 1 / 300e9, 1e-12);
    assert_int_equal(fr_group_of(&nodes, &far, &group, NULL), FR_OK);
    FR_NEAR(group.outer.s_per_B, 1 / 25e9, 1e-12);
    assert_int_equal(fr_group_of(&nodes, &eight, &group, NULL), FR_OK);
    FR_NEAR(group.outer.s_per_B, 8 / 25e9, 1e-12);
    FR_NEAR(group.ring.s_per_B, 8 / 25e9, 1e-12);
    /* A ring through two whole nodes leaves each once; exchanges over 8 ranks leave them 8 times. */
    assert_int_equal(fr_group_of(&nodes, &two_nodes, &group, NULL), FR_OK);
    FR_NEAR(group.ring.s_per_B, 1 / 25e9, 1e-12);
    FR_NEAR(group.outer.s_per_B, 8 / 25e9, 1e-12);
}

/* A list that says what strides say, and one that places the same ranks round-robin. */
static void lists(void **state) {
    (void)state;
    int64_t by_column[32], scattered[32];
    struct fr_group strided, listed, apart;
    for (int64_t g = 0; g < 8; g++)
        for (int64_t i = 0; i < 4; i++) {
            by_column[g * 4 + i] = i * 8 + g;
            scattered[g * 4 + i] = (g % 4) * 32 + (g / 4) * 16 + i * 4;
        }
    struct fr_communicator c = {4, 8, 8, 0, NULL}, l = {4, 1, 8, 0, by_column},
                           s = {4, 1, 8, 0, scattered};
    assert_int_equal(fr_group_count(&machine, &c, &strided, NULL), FR_OK);
    assert_int_equal(fr_group_of(&machine, &l, &listed, NULL), FR_OK);
    assert_memory_equal(&strided, &listed, sizeof strided);
    assert_int_equal(fr_group_of(&machine, &s, &apart, NULL), FR_OK);
    FR_TRUE(apart.ring.s_per_B < strided.ring.s_per_B, "got %g, wanted less than %g",
            apart.ring.s_per_B, strided.ring.s_per_B);
}

/* More communicators at once never cost less. */
static void never_cheaper_in_company(void **state) {
    (void)state;
    static const char *const lines[] = {NULL, "fat-tree down=4,4 up=2", "torus size=4,4",
                                        "dragonfly groups=4 routers=2 ports=2 global=2",
                                        "rail pod=2 up=1 pods=4"};
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        struct fr_levels levels;
        fr_test_topology(lines[k], &levels);
        for (int64_t p = 2; p <= 16; p *= 2)
            for (int64_t stride = 1; p * stride <= 32; stride *= 2) {
                struct fr_group before = {0}, now;
                for (int64_t groups = 1; groups <= stride; groups++) {
                    struct fr_communicator c = {p, stride, groups, 0, NULL};
                    assert_int_equal(fr_group_count(&levels, &c, &now, NULL), FR_OK);
                    FR_TRUE(now.outer.s_per_B >= before.outer.s_per_B &&
                                now.ring.s_per_B >= before.ring.s_per_B,
                            "%s: p %d stride %d groups %d", lines[k], (int)p, (int)stride,
                            (int)groups);
                    before = now;
                }
            }
    }
}

/* Pairs: tp ranks of one stage share the adapter; alone each has it to itself. */
static void pairs(void **state) {
    (void)state;
    static const struct fr_levels nodes = {
        .count = 2,
        .level = {{"node", 8, 2e-6, 300e9, 1, {0}, {0, 0}, 0, 0, 0},
                  {"system", 128, 5e-6, 25e9, 8, {0}, {0, 0}, 0, 0, 0}}};
    FR_NEAR(fr_group_pairs(&nodes, 0, 8, 1, 1, 16).outer.s_per_B, 1 / 25e9, 1e-12);
    FR_NEAR(fr_group_pairs(&nodes, 0, 8, 8, 1, 16).outer.s_per_B, 8 / 25e9, 1e-12);
    FR_NEAR(fr_group_pairs(&nodes, 4, 8, 4, 4, 16).outer.s_per_B, 4 / 25e9, 1e-12);
    FR_NEAR(fr_group_pairs(&nodes, 0, 4, 4, 4, 16).outer.s_per_B, 1 / 300e9, 1e-12);
    /* Replicas two ranks apart: four of them in a node. */
    FR_NEAR(fr_group_pairs(&nodes, 0, 8, 1, 4, 2).outer.s_per_B, 4 / 25e9, 1e-12);
    FR_NEAR(fr_group_pairs(&nodes, 0, 8, 1, 1, 16).outer.latency_s, 5e-6, 1e-12);
    struct fr_group near = fr_group_pairs(&nodes, 0, 4, 4, 4, 16),
                    far = fr_group_pairs(&nodes, 0, 8, 8, 1, 16);
    assert_true(near.n_ranks == 2 && near.level == 0 && near.ranks_per_node == 2);
    assert_true(far.n_ranks == 2 && far.level == 1 && far.ranks_per_node == 1);
    assert_memory_equal(&far.ring, &far.outer, sizeof far.ring);
}

/* Pairs that lie anyhow pay what the slowest does: of 0 -> 1, 2 -> 8 and 3 -> 9 two share a link. */
static void listed_pairs(void **state) {
    (void)state;
    static const struct fr_levels nodes = {
        .count = 2,
        .level = {{"node", 8, 2e-6, 300e9, 1, {0}, {0, 0}, 0, 0, 0},
                  {"system", 128, 5e-6, 25e9, 8, {0}, {0, 0}, 0, 0, 0}}};
    static const int64_t from[] = {0, 2, 3}, to[] = {1, 8, 9};
    int32_t load[512] = {0};
    assert_true(fr_links_count(&nodes) <= 512);
    struct fr_group pair = fr_group_pairs_at(&nodes, from, to, 3, load);
    FR_NEAR(pair.outer.s_per_B, 2 / 25e9, 1e-12);
    FR_NEAR(pair.outer.latency_s, 5e-6, 1e-12);
    assert_true(pair.n_ranks == 2 && pair.level == 1 && pair.ranks_per_node == 1);
    assert_memory_equal(&pair.ring, &pair.outer, sizeof pair.ring);
    pair = fr_group_pairs_at(&nodes, from, to, 1, load);
    FR_NEAR(pair.outer.s_per_B, 1 / 300e9, 1e-12);
    assert_true(pair.level == 0 && pair.ranks_per_node == 2);
    for (int k = 0; k < 512; k++) assert_int_equal(load[k], 0);
}

/* Six ranks on nodes of four, four on one and two on the other: even algorithms are not for it. */
static void uneven(void **state) {
    (void)state;
    static const struct fr_levels nodes = {
        .count = 2,
        .level = {{"node", 4, 2e-6, 300e9, 1, {0}, {0, 0}, 0, 0, 0},
                  {"system", 16, 5e-6, 25e9, 4, {0}, {0, 0}, 0, 0, 0}}};
    struct fr_group group;
    struct fr_communicator six = {6, 1, 1, 0, NULL}, eight = {8, 1, 1, 0, NULL};
    assert_int_equal(fr_group_of(&nodes, &six, &group, NULL), FR_OK);
    assert_true(group.fewest == 2 && group.ranks_per_node == 4 && group.nodes == 2);
    assert_int_equal(fr_group_of(&nodes, &eight, &group, NULL), FR_OK);
    assert_true(group.fewest == 4 && group.ranks_per_node == 4 && group.nodes == 2);
    assert_int_equal(fr_group_count(&nodes, &eight, &group, NULL), FR_OK);
    assert_true(group.fewest == 4 && group.ranks_per_node == 4 && group.nodes == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(closed_form_equals_counting),
                                       cmocka_unit_test(neighbours_and_scattered),
                                       cmocka_unit_test(lists),
                                       cmocka_unit_test(never_cheaper_in_company),
                                       cmocka_unit_test(pairs),
                                       cmocka_unit_test(listed_pairs),
                                       cmocka_unit_test(uneven)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
