/* Similarity tables by hand: laws of steps and bytes, reading a table, carrying it, its interval. */
#include "models/network/similarity.h"
#include "tests/cmocka.h"

static int named(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) return i;
    fail_msg("no law %s", name);
    return -1;
}

/* Twelve ranks on three nodes, and eight on one. */
static void laws_are_what_they_are_called(void **state) {
    static const struct {
        const char *name;
        double three, one;
    } steps[] = {{"1", 1, 1},
                 {"log2 p", 3.5849625007211563, 3},
                 {"1 + log2 N", 2.5849625007211563, 1},
                 {"1/4 + log2 N", 1.8349625007211563, 0.25},
                 {"p^0.6", 4.4412856, 3.4822022},
                 {"p - 1", 11, 7},
                 {"N - 1", 2, 7}},
      bytes[] = {{"1", 1, 1},
                 {"(p - 1)/p", 11.0 / 12, 7.0 / 8},
                 {"(p - p/N)/p", 8.0 / 12, 7.0 / 8},
                 {"(p - 1)/(p r)", 11.0 / 48, 7.0 / 64},
                 {"(N - 1)/(N r)", 2.0 / 12, 7.0 / 64},
                 {"log2 p", 3.5849625007211563, 3},
                 {"1 + log2 N", 2.5849625007211563, 1},
                 {"p - 1", 11, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int which = named(fr_steps_names, steps[i].name);
        FR_NEAR(fr_steps(which, 12, 3), steps[i].three, 1e-6);
        FR_NEAR(fr_steps(which, 8, 1), steps[i].one, 1e-6);
    }
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        int which = named(fr_bytes_names, bytes[i].name);
        FR_NEAR(fr_bytes(which, 12, 3), bytes[i].three, 1e-6);
        FR_NEAR(fr_bytes(which, 8, 1), bytes[i].one, 1e-6);
    }
}

/* Chords between sizes; level below the first, or as steep as it rose there; above, the last chord. */
static void a_table_is_read(void **state) {
    static const double n[] = {16, 64, 256, 1024}, flat[] = {10, 12, 20, 44},
                        steep[] = {10, 40, 100, 500}, falls[] = {10, 8, 20, 15},
                        zero[] = {0, 8}, two[] = {3, 5};
    static const struct {
        const double *t;
        double size, wanted;
    } reads[] = {{flat, 16, 10},  {flat, 40, 11},   {flat, 64, 12},   {flat, 160, 16},
                 {flat, 640, 32}, {flat, 1024, 44}, {flat, 2048, 76}, {flat, 4, 10},
                 {flat, 0, 10},   {steep, 4, 2.5},  {steep, 0, 10},   {steep, 2048, 1000},
                 {falls, 4, 10},  {falls, 4096, 15}};
    (void)state;
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
        FR_NEAR(fr_table_time_s(n, reads[i].t, 4, reads[i].size), reads[i].wanted, 1e-12);
    FR_NEAR(fr_table_time_s(zero, two, 2, 0), 3, 0); /* a size of nothing has no slope below */
    FR_NEAR(fr_table_time_s(zero, two, 2, 4), 4, 1e-12);
    FR_NEAR(fr_table_time_s(n, flat, 1, 32), 20, 1e-12); /* one size: in proportion above it, */
    FR_NEAR(fr_table_time_s(n, flat, 1, 8), 10, 0);      /* level below */
}

/* Below a first size of one byte and less a time that rose in proportion shrinks as the size. */
static void sizes_of_a_byte_have_a_slope(void **state) {
    static const double n[] = {1, 2}, t[] = {4, 8};
    (void)state;
    FR_NEAR(fr_table_time_s(n, t, 2, 0.5), 2, 1e-12);
}

/* t = F g(n B / F) with g = alpha + beta x: alpha F + beta B n, at ranks that no table has. */
static double law_s(const struct fr_similarity_law *law, double p, double nodes, double n) {
    return 3e-6 * fr_steps(law->steps, (int64_t)p, (int64_t)nodes) +
           4e-11 * fr_bytes(law->bytes, (int64_t)p, (int64_t)nodes) * n;
}

enum { COUNT = 30 };
struct room {
    double size_B[COUNT], time_s[COUNT], left_out[COUNT];
};

static struct fr_similarity_table table(struct room *room, const struct fr_similarity_law *law,
                                        int level, int64_t p, int64_t nodes) {
    for (int i = 0; i < COUNT; i++) {
        room->size_B[i] = ldexp(1, i);
        room->time_s[i] = law_s(law, (double)p, (double)nodes, room->size_B[i]);
        room->left_out[i] = 0;
    }
    return (struct fr_similarity_table){
        level, p, nodes, COUNT, room->size_B, room->time_s, room->left_out, 0};
}

/* One table says all of a law that holds, whatever law it is, at any ranks and nodes. */
static void one_table_says_all_of_its_law(void **state) {
    (void)state;
    for (int s = 0; fr_steps_names[s]; s++)
        for (int b = 0; fr_bytes_names[b]; b++)
            for (int64_t nodes = 1; nodes <= 32; nodes *= 2) {
                struct fr_similarity_law law = {.steps = s, .bytes = b};
                struct room room;
                struct fr_similarity_table t = table(&room, &law, nodes > 1, 4 * nodes, nodes);
                FR_NEAR(fr_similarity_from_s(&t, &law, 4 * nodes, 2 * nodes, 3000),
                        law_s(&law, 4.0 * (double)nodes, 2.0 * (double)nodes, 3000), 1e-9);
                FR_NEAR(fr_similarity_from_s(&t, &law, 4 * nodes, nodes, 3000),
                        law_s(&law, 4.0 * (double)nodes, (double)nodes, 3000), 1e-9);
                FR_NEAR(fr_similarity_from_s(&t, &law, 16 * nodes, 2 * nodes, 3000),
                        law_s(&law, 16.0 * (double)nodes, 2.0 * (double)nodes, 3000), 1e-9);
            }
}

/* Between two tables that differ by a factor the answer lies the way of log p between them. */
static void between_two_tables_both_speak(void **state) {
    const struct fr_similarity_law law = {0};
    struct room room[2];
    (void)state;
    struct fr_similarity_table t[] = {table(&room[0], &law, 0, 4, 1),
                                      table(&room[1], &law, 0, 64, 1)};
    struct fr_similarity s = {.tables = t, .n_tables = 2, .law = {law}};
    struct fr_similarity_answer a;
    for (int i = 0; i < COUNT; i++) room[1].time_s[i] *= 16;
    assert_true(fr_similarity_ask(&s, 0, 8, 1, 1024, false, &a));
    FR_NEAR(a.time_s, room[0].time_s[10] * 2, 1e-9); /* 16^(1/4) */
    assert_true(a.measured);
    assert_true(fr_similarity_ask(&s, 0, 32, 1, 1024, false, &a));
    FR_NEAR(a.time_s, room[0].time_s[10] * 8, 1e-9);
    assert_true(fr_similarity_ask(&s, 0, 128, 1, 1024, false, &a));
    FR_NEAR(a.time_s, room[1].time_s[10], 1e-9);
    assert_false(a.measured);
    assert_true(fr_similarity_ask(&s, 0, 2, 1, 1024, false, &a));
    FR_NEAR(a.time_s, room[0].time_s[10], 1e-9);
    assert_false(a.measured);
}

/* What is beyond the sizes by more than rounding was not measured. */
static void the_ends_of_a_table_are_inside(void **state) {
    static const struct {
        double size;
        bool measured;
    } sizes[] = {{1, true},
                 {1 - 1e-12, true},
                 {1 - 1e-6, false},
                 {0.5, false},
                 {1 << 29, true},
                 {(1 + 1e-12) * (1 << 29), true},
                 {(1 + 1e-6) * (1 << 29), false}};
    const struct fr_similarity_law law = {0};
    struct room room;
    (void)state;
    struct fr_similarity_table t = table(&room, &law, 0, 4, 1);
    struct fr_similarity s = {.tables = &t, .n_tables = 1, .law = {law}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fr_similarity_answer a;
        assert_true(fr_similarity_ask(&s, 0, 4, 1, sizes[i].size, false, &a));
        FR_TRUE(a.measured == sizes[i].measured, "size %.17g", sizes[i].size);
    }
}

/* Of two layouts over nodes the one with as many ranks a node speaks, and no other. */
static void the_likest_layout_speaks(void **state) {
    const struct fr_similarity_law law = {0};
    struct room room[2];
    (void)state;
    struct fr_similarity_table t[] = {table(&room[0], &law, 1, 16, 16),
                                      table(&room[1], &law, 1, 16, 2)};
    struct fr_similarity s = {.tables = t, .n_tables = 2, .law = {law, law}};
    struct fr_similarity_answer a;
    for (int i = 0; i < COUNT; i++) room[1].time_s[i] *= 5;
    assert_true(fr_similarity_ask(&s, 1, 32, 32, 64, false, &a));
    FR_NEAR(a.time_s, room[0].time_s[6], 1e-9);
    assert_true(fr_similarity_ask(&s, 1, 32, 4, 64, false, &a));
    FR_NEAR(a.time_s, room[1].time_s[6], 1e-9);
    assert_true(fr_similarity_ask(&s, 2, 16, 2, 64, false, &a)); /* the level nearest */
    FR_NEAR(a.time_s, room[1].time_s[6], 1e-9);
    assert_false(a.measured);
    assert_false(fr_similarity_ask(&s, 0, 16, 1, 64, false, &a));
}

/* Wider by the law's growth for every doubling of p, on each side its own; wider beyond the last size;
 * wider where the table misses itself. */
static void intervals_grow_as_the_law_says(void **state) {
    struct fr_similarity_law law = {.slow = 0.8, .fast = 0.6};
    struct room room;
    (void)state;
    struct fr_similarity_table t = table(&room, &law, 0, 4, 1);
    struct fr_similarity s = {.tables = &t, .n_tables = 1, .law = {law}};
    struct fr_similarity_answer at, twice, far, large, larger, loose;
    fr_similarity_ask(&s, 0, 4, 1, 64, true, &at);
    fr_similarity_ask(&s, 0, 8, 1, 64, true, &twice);
    fr_similarity_ask(&s, 0, 64, 1, 64, true, &far);
    FR_NEAR(pow(far.slow_log2, 2) - pow(twice.slow_log2, 2), 0.64 * (16 - 1), 1e-9);
    FR_NEAR(pow(far.fast_log2, 2) - pow(twice.fast_log2, 2), 0.36 * (16 - 1), 1e-9);
    assert_true(at.slow_log2 > 0 && at.slow_log2 == at.fast_log2);
    assert_true(at.slow_log2 < twice.fast_log2 && twice.fast_log2 < twice.slow_log2);
    fr_similarity_ask(&s, 0, 4, 1, 4.0 * (1 << 29), true, &large);
    fr_similarity_ask(&s, 0, 4, 1, 16.0 * (1 << 29), true, &larger);
    assert_true(at.slow_log2 < large.slow_log2 && large.slow_log2 < larger.slow_log2);
    t.left_out_90 = 1;
    fr_similarity_ask(&s, 0, 8, 1, 64, true, &loose);
    assert_true(loose.slow_log2 > twice.slow_log2 && loose.fast_log2 > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_what_they_are_called),
        cmocka_unit_test(a_table_is_read),
        cmocka_unit_test(sizes_of_a_byte_have_a_slope),
        cmocka_unit_test(one_table_says_all_of_its_law),
        cmocka_unit_test(between_two_tables_both_speak),
        cmocka_unit_test(the_ends_of_a_table_are_inside),
        cmocka_unit_test(the_likest_layout_speaks),
        cmocka_unit_test(intervals_grow_as_the_law_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
