/* Levels: which one a group spans, how many of it share a unit.  Against counting. */
#include "tests/cmocka.h"
#include "topology/levels.h"

static fr_status read(const char *text, struct fr_levels *levels, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    fr_status status = fr_json_parse(text, strlen(text), "levels", &document, err);
    if (status != FR_OK) return status;
    struct fr_json root = fr_json_root(document);
    status = fr_levels_read(&root, levels, err);
    fr_json_free(document);
    return status;
}

static const char *const three =
    "[{\"name\": \"node\", \"ranks\": 4, \"latency\": \"1 us\", \"bandwidth\": \"100 GB/s\"},"
    " {\"name\": \"rack\", \"ranks\": 16, \"latency\": \"2 us\", \"bandwidth\": \"25 GB/s\", "
    "\"shared_by\": 4},"
    " {\"name\": \"system\", \"ranks\": 64, \"latency\": \"5 us\", \"bandwidth\": \"200 "
    "Gb/s\"}]";

static void reads(void **state) {
    (void)state;
    struct fr_levels levels;
    struct fr_error err = {0};
    assert_int_equal(read(three, &levels, &err), FR_OK);
    assert_int_equal(fr_levels_capacity(&levels), 64);
    FR_NEAR(fr_level_s_per_B(&levels, 1), 4 / 25e9, 1e-15);
    FR_NEAR(levels.level[2].rate_B_per_s, 25e9, 1e-15);
    assert_int_equal(fr_levels_find(&levels, "rack"), 1);
    assert_int_equal(fr_levels_find(&levels, "island"), -1);
}

/* Counting: ranks 0, s, ..., (p-1)s; the level spans when all share unit 0, and members is the
 * largest count in one unit. */
static void against_counting(void **state) {
    (void)state;
    struct fr_levels levels;
    assert_int_equal(read(three, &levels, NULL), FR_OK);
    for (int64_t s = 1; s <= 32; s++)
        for (int64_t p = 1; (p - 1) * s < 64; p++) {
            int spanning = 0;
            while (spanning < 2 && (p - 1) * s / levels.level[spanning].ranks > 0) spanning++;
            FR_TRUE(fr_levels_spanning(&levels, p, s) == spanning, "p %d s %d", (int)p, (int)s);
            for (int l = 0; l < 3; l++) {
                int64_t count[64] = {0}, most = 0;
                for (int64_t i = 0; i < p; i++) {
                    int64_t n = ++count[i * s / levels.level[l].ranks];
                    if (n > most) most = n;
                }
                FR_TRUE(fr_levels_members(&levels, l, p, s) == most,
                        "level %d p %d s %d: got %d want %d", l, (int)p, (int)s,
                        (int)fr_levels_members(&levels, l, p, s), (int)most);
            }
        }
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *where;
    } bad[] = {
        {"[]", "levels#/"},
        {"[{\"name\": \"n\", \"ranks\": 0, \"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"}]",
         "levels#/0/ranks"},
        {"[{\"name\": \"n\", \"ranks\": 2, \"latency\": \"-1 us\", \"bandwidth\": \"1 GB/s\"}]",
         "levels#/0/latency"},
        {"[{\"name\": \"n\", \"ranks\": 2, \"latency\": \"1 us\", \"bandwidth\": \"25\"}]",
         "levels#/0/bandwidth"},
        {"[{\"name\": \"n\", \"ranks\": 2, \"latency\": \"1 us\", \"bandwidth\": \"0 B/s\"}]",
         "levels#/0/bandwidth"},
        {"[{\"name\": \"n\", \"ranks\": 4, \"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"},"
         " {\"name\": \"m\", \"ranks\": 6, \"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"}]",
         "levels#/1/ranks"},
        {"[{\"name\": \"n\", \"ranks\": 4, \"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"},"
         " {\"name\": \"n\", \"ranks\": 8, \"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"}]",
         "levels#/1/name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fr_levels levels;
        struct fr_error err = {0};
        assert_int_equal(read(bad[i].text, &levels, &err), FR_ERR_INPUT);
        assert_string_equal(err.where, bad[i].where);
    }
}

/* By hand: 256 ranks on nodes of 72 are 64 of four; 13 are prime; and a law: whole shares, of no more nodes than needed
 * but for divisibility, none of less than half. */
static void even_shares(void **state) {
    static const struct {
        int64_t node, ranks, even;
    } cases[] = {{72, 256, 64}, {72, 512, 64}, {72, 128, 64}, {72, 144, 0}, {72, 72, 0},
                 {72, 8, 0},    {8, 12, 6},    {8, 13, 0},    {8, 16, 0},   {8, 20, 5},
                 {8, 10, 5},    {8, 9, 0},     {1, 7, 0}};
    struct fr_levels levels = {.count = 2};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        levels.level[0].ranks = cases[i].node;
        levels.level[1].ranks = 1 << 20;
        FR_TRUE(fr_levels_even(&levels, cases[i].ranks) == cases[i].even, "%lld of %lld: %lld",
                (long long)cases[i].ranks, (long long)cases[i].node,
                (long long)fr_levels_even(&levels, cases[i].ranks));
    }
    for (int64_t node = 1; node <= 80; node++)
        for (int64_t ranks = 1; ranks <= 600; ranks++) {
            levels.level[0].ranks = node;
            int64_t even = fr_levels_even(&levels, ranks);
            if (even == 0) continue;
            assert_true(ranks > node && ranks % node != 0 && ranks % even == 0 && even < node &&
                        2 * even >= node);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads), cmocka_unit_test(against_counting), cmocka_unit_test(refuses),
        cmocka_unit_test(even_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
