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
        {"[{\"name\": \"n\", \"ranks\": 4, \"segment\": 5, \"latency\": \"1 us\", "
         "\"bandwidth\": \"1 GB/s\"}]",
         "levels#/0/segment"},
        {"[{\"name\": \"n\", \"ranks\": 4, \"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"},"
         " {\"name\": \"m\", \"ranks\": 8, \"segment\": 6, \"latency\": \"1 us\", "
         "\"bandwidth\": \"1 GB/s\"}]",
         "levels#/1/segment"},
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

/* ---- what a job takes ------------------------------------------------------------------------ */

/* By hand: racks of 72 of which larger jobs take 64; 12 ranks on nodes of 8; and adapters of four ranks each. */
static void takes_by_hand(void **state) {
    static const struct {
        int64_t node, segment, ranks;
        fr_units units;
        int64_t takes, of_node, last;
    } rows[] = {
        {72, 64, 72, FR_UNITS_SEGMENTS, 72, 1, 72},  {72, 64, 73, FR_UNITS_SEGMENTS, 64, 2, 9},
        {72, 64, 256, FR_UNITS_SEGMENTS, 64, 4, 64}, {72, 0, 256, FR_UNITS_SEGMENTS, 72, 4, 40},
        {8, 0, 12, FR_UNITS_SEGMENTS, 8, 2, 4},      {8, 0, 12, FR_UNITS_EQUAL, 6, 2, 6},
        {8, 0, 20, FR_UNITS_EQUAL, 5, 4, 5},         {72, 64, 144, FR_UNITS_EQUAL, 72, 2, 72},
        {8, 0, 13, FR_UNITS_EQUAL, 1, 13, 1},        {8, 0, 8, FR_UNITS_EQUAL, 8, 1, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_levels levels = {.count = 2};
        levels.level[0] = (struct fr_level){
            .ranks = rows[i].node, .segment = rows[i].segment, .shared_by = 1};
        levels.level[1] =
            (struct fr_level){.ranks = 100 * rows[i].node, .shared_by = rows[i].node / 2};
        const struct fr_levels own = fr_levels_take(&levels, rows[i].ranks, rows[i].units);
        int64_t last, units = fr_levels_units(&own, 0, rows[i].ranks, &last);
        FR_TRUE(own.level[0].ranks == rows[i].takes && units == rows[i].of_node &&
                    last == rows[i].last && own.level[0].holds == rows[i].node &&
                    own.level[1].ranks == 100 * rows[i].takes,
                "row %d: %lld of each of %lld units, the last %lld", (int)i,
                (long long)own.level[0].ranks, (long long)units, (long long)last);
        /* Two adapters a node, to which its ranks are dealt. */
        FR_TRUE(own.level[1].shared_by == (rows[i].takes == 5 ? 5 : (rows[i].takes + 1) / 2),
                "row %d: %lld share an adapter", (int)i, (long long)own.level[1].shared_by);
    }
}

static uint64_t fr_test_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void draw_levels(uint64_t *seed, struct fr_levels *levels) {
    int64_t inside = 1;
    *levels = (struct fr_levels){.count = 1 + (int)(fr_test_random(seed) % 4)};
    for (int l = 0; l < levels->count; l++) {
        int64_t parts = 1 + (int64_t)(fr_test_random(seed) % 9),
                used = 1 + (int64_t)(fr_test_random(seed) % (uint64_t)parts);
        levels->level[l] = (struct fr_level){
            .ranks = inside * parts,
            .segment = fr_test_random(seed) % 2 ? inside * used : 0,
            .shared_by =
                1 + (int64_t)(fr_test_random(seed) % (uint64_t)(l ? inside : inside * parts))};
        inside *= parts;
    }
}

/* A unit of level l gives this to a larger job that takes segments of all levels inside. */
static int64_t gives(const struct fr_levels *levels, int l, int64_t n) {
    if (l < 0) return 1;
    const struct fr_level *level = &levels->level[l];
    int64_t below = l ? level[-1].ranks : 1, inside = gives(levels, l - 1, n),
            all = level->ranks / below * inside;
    if (n <= all || l == levels->count - 1 || !level->segment) return all;
    return level->segment / below * inside;
}

/* A law of any levels and any job: one that fits one unit sits in it; a larger one fills units up to the segment and the
 * last takes the rest; equal ones are equal; links are of one unit and no more ranks share one than before; taking twice
 * is taking once; and the largest job fits while none larger does. */
static void takes_units(void **state) {
    uint64_t seed = 34;
    (void)state;
    for (int k = 0; k < 20000; k++) {
        struct fr_levels levels;
        draw_levels(&seed, &levels);
        int64_t all = fr_levels_capacity(&levels),
                n = 1 + (int64_t)(fr_test_random(&seed) % (uint64_t)all);
        const struct fr_levels own = fr_levels_take(&levels, n, FR_UNITS_SEGMENTS),
                               again = fr_levels_take(&own, n, FR_UNITS_SEGMENTS),
                               equal = fr_levels_take(&levels, n, FR_UNITS_EQUAL);
        for (int l = 0; l < levels.count; l++) {
            int64_t last, ranks = own.level[l].ranks;
            FR_TRUE(ranks == gives(&levels, l, n), "case %d, level %d: %lld of %lld", k, l,
                    (long long)ranks, (long long)levels.level[l].ranks);
            assert_true(own.level[l].holds == levels.level[l].ranks);
            assert_true(memcmp(&again.level[l], &own.level[l], sizeof own.level[l]) == 0);
            fr_levels_units(&equal, l, n, &last);
            assert_true(l == levels.count - 1 || n <= equal.level[l].ranks ||
                        last == equal.level[l].ranks);
            assert_true(equal.level[l].ranks <= levels.level[l].ranks);
            assert_true(l == 0 || ranks % own.level[l - 1].ranks == 0);
            assert_true(own.level[l].shared_by <= levels.level[l].shared_by ||
                        own.level[l].shared_by <= own.level[l ? l - 1 : 0].ranks);
        }
        int64_t most = fr_levels_largest(&levels);
        const struct fr_levels largest = fr_levels_take(&levels, most, FR_UNITS_SEGMENTS),
                               more = fr_levels_take(&levels, most + 1, FR_UNITS_SEGMENTS);
        FR_TRUE(fr_levels_capacity(&largest) >= most && fr_levels_capacity(&more) <= most,
                "case %d: the largest of %lld is %lld", k, (long long)all, (long long)most);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads), cmocka_unit_test(against_counting), cmocka_unit_test(refuses),
        cmocka_unit_test(takes_by_hand), cmocka_unit_test(takes_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
