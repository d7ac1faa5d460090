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
    FR_NEAR(fr_table_time_s(zero, two, 1, 4), 3, 0); /* nor above, where it is the only one */
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
struct scratch {
    double size_B[COUNT], time_s[COUNT], left_out[COUNT];
};

static struct fr_similarity_table table(struct scratch *scratch,
                                        const struct fr_similarity_law *law, int level,
                                        int64_t p, int64_t nodes) {
    for (int i = 0; i < COUNT; i++) {
        scratch->size_B[i] = ldexp(1, i);
        scratch->time_s[i] = law_s(law, (double)p, (double)nodes, scratch->size_B[i]);
        scratch->left_out[i] = 0;
    }
    return (struct fr_similarity_table){
        level, p, nodes, COUNT, scratch->size_B, scratch->time_s, scratch->left_out, 0};
}

/* One table says all of a law that holds, whatever law it is, at any ranks and nodes. */
static void one_table_says_all_of_its_law(void **state) {
    (void)state;
    for (int s = 0; fr_steps_names[s]; s++)
        for (int b = 0; fr_bytes_names[b]; b++)
            for (int64_t nodes = 1; nodes <= 32; nodes *= 2) {
                struct fr_similarity_law law = {.steps = s, .bytes = b};
                struct scratch scratch;
                struct fr_similarity_table t =
                    table(&scratch, &law, nodes > 1, 4 * nodes, nodes);
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
    struct scratch scratch[2];
    (void)state;
    struct fr_similarity_table t[] = {table(&scratch[0], &law, 0, 4, 1),
                                      table(&scratch[1], &law, 0, 64, 1)};
    struct fr_similarity s = {.tables = t, .n_tables = 2, .law = {law}};
    struct fr_similarity_answer a;
    for (int i = 0; i < COUNT; i++) scratch[1].time_s[i] *= 16;
    assert_true(fr_similarity_ask(&s, 0, 8, 1, 1024, false, &a));
    FR_NEAR(a.time_s, scratch[0].time_s[10] * 2, 1e-9); /* 16^(1/4) */
    assert_true(a.measured);
    assert_true(fr_similarity_ask(&s, 0, 32, 1, 1024, false, &a));
    FR_NEAR(a.time_s, scratch[0].time_s[10] * 8, 1e-9);
    assert_true(fr_similarity_ask(&s, 0, 128, 1, 1024, false, &a));
    FR_NEAR(a.time_s, scratch[1].time_s[10], 1e-9);
    assert_false(a.measured);
    assert_true(fr_similarity_ask(&s, 0, 2, 1, 1024, false, &a));
    FR_NEAR(a.time_s, scratch[0].time_s[10], 1e-9);
    assert_false(a.measured);
}

/* A size beyond the measured ones by more than rounding was not measured. */
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
    struct scratch scratch;
    (void)state;
    struct fr_similarity_table t = table(&scratch, &law, 0, 4, 1);
    struct fr_similarity s = {.tables = &t, .n_tables = 1, .law = {law}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fr_similarity_answer a;
        assert_true(fr_similarity_ask(&s, 0, 4, 1, sizes[i].size, false, &a));
        FR_TRUE(a.measured == sizes[i].measured, "size %.17g", sizes[i].size);
    }
}

/* Only the layout with as many ranks a node counts, of two over nodes. */
static void the_likest_layout_speaks(void **state) {
    const struct fr_similarity_law law = {0};
    struct scratch scratch[2];
    (void)state;
    struct fr_similarity_table t[] = {table(&scratch[0], &law, 1, 16, 16),
                                      table(&scratch[1], &law, 1, 16, 2)};
    struct fr_similarity s = {.tables = t, .n_tables = 2, .law = {law, law}};
    struct fr_similarity_answer a;
    for (int i = 0; i < COUNT; i++) scratch[1].time_s[i] *= 5;
    assert_true(fr_similarity_ask(&s, 1, 32, 32, 64, false, &a));
    FR_NEAR(a.time_s, scratch[0].time_s[6], 1e-9);
    assert_true(fr_similarity_ask(&s, 1, 32, 4, 64, false, &a));
    FR_NEAR(a.time_s, scratch[1].time_s[6], 1e-9);
    assert_true(fr_similarity_ask(&s, 2, 16, 2, 64, false, &a)); /* the level nearest */
    FR_NEAR(a.time_s, scratch[1].time_s[6], 1e-9);
    assert_false(a.measured);
    assert_false(fr_similarity_ask(&s, 0, 16, 1, 64, false, &a));
    t[1].level = 3; /* of two levels as near the one that stands first */
    t[1].n_nodes = t[0].n_nodes;
    assert_true(fr_similarity_ask(&s, 2, 16, 16, 64, false, &a));
    FR_NEAR(a.time_s, scratch[0].time_s[6], 1e-9);
    assert_true(fr_similarity_ask(&s, 3, 16, 16, 64, false, &a));
    FR_NEAR(a.time_s, scratch[1].time_s[6], 1e-9);
    assert_true(a.measured);
}

/* Wider by the law's growth for every doubling of p, on each side its own; wider beyond the last size;
 * wider where the table misses itself. */
static void intervals_grow_as_the_law_says(void **state) {
    struct fr_similarity_law law = {.slow = 0.8, .fast = 0.6};
    struct scratch scratch;
    (void)state;
    struct fr_similarity_table t = table(&scratch, &law, 0, 4, 1);
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

/* ---- all of an answer, once more ------------------------------------------------------------------ */

static double uniform(uint64_t *dice) {
    *dice ^= *dice << 13, *dice ^= *dice >> 7, *dice ^= *dice << 17;
    return (double)(*dice % 1000000) / 1e6;
}

/* Octaves between the ranks a node of a table and those asked for; none within a node. */
static double octaves_apart(const struct fr_similarity_table *t, double p, double nodes) {
    return t->level == 0 ? 0 : fabs(log2(p / nodes * (double)t->n_nodes / (double)t->n_ranks));
}

/* Half-width in log2 of a table @p octaves of ranks away, on the side that grows by @p growth: the parts are
 * independent, so their squares add.
 *    the table's own: 0.8 of what nine in ten sizes miss by, 0.5 of the worst within a factor of five of the
 *      size, and 0.03, growing by 0.12 for every octave beyond the last size;
 *    where the table itself was measured so: no more than 0.05 with 0.3 of the nine in ten;
 *    other ranks: at least the nine in ten and 0.07, growing by the law, 0.6 more for another layout. */
static double half_width(const struct fr_similarity_table *t, double growth, double octaves,
                         double apart, double size_B) {
    double worst = 0, last_B = t->size_B[t->count - 1];
    bool measured = false;
    for (int i = 0; i < t->count; i++) {
        double ratio = size_B / t->size_B[i];
        if (ratio <= 5 && ratio >= 0.2) worst = fmax(worst, t->left_out[i]);
        measured = measured || fabs(ratio - 1) < 1e-8;
    }
    double grown = 0.03 + (size_B > last_B ? 0.12 * log2(size_B / last_B) : 0);
    double own = sqrt(pow(0.8 * t->left_out_90, 2) + pow(0.5 * worst, 2) + pow(grown, 2));
    if (octaves == 0 && apart < 0.05) {
        double again = sqrt(0.05 * 0.05 + pow(0.3 * t->left_out_90, 2));
        return measured ? fmin(again, own) : own;
    }
    double least = fmax(fmax(t->left_out_90, own), 0.07);
    return hypot(least, growth * octaves + (apart < 0.05 ? 0 : 0.6));
}

/* The nearest two rank counts, p between them, of the tables of the likest layout: both speak, by the way of
 * log p; or the one there is. */
static struct fr_similarity_answer once_more(const struct fr_similarity *s, int level,
                                             int64_t p, int64_t nodes, double size_B) {
    const struct fr_similarity_table *low = NULL, *high = NULL;
    double apart = HUGE_VAL;
    for (int i = 0; i < s->n_tables; i++)
        if (s->tables[i].level == level)
            apart = fmin(apart, octaves_apart(&s->tables[i], (double)p, (double)nodes));
    for (int i = s->n_tables; i-- > 0;) {
        const struct fr_similarity_table *t = &s->tables[i];
        if (t->level != level || octaves_apart(t, (double)p, (double)nodes) > apart + 0.05)
            continue;
        if (t->n_ranks <= p && (!low || t->n_ranks >= low->n_ranks)) low = t;
        if (t->n_ranks >= p && (!high || t->n_ranks <= high->n_ranks)) high = t;
    }
    const struct fr_similarity_law *law = &s->law[level];
    const struct fr_similarity_table *t = low ? low : high;
    double far = fabs(log2((double)p / (double)t->n_ranks)), near = far, way = 0;
    bool within =
        size_B >= (1 - 1e-9) * t->size_B[0] && size_B <= (1 + 1e-9) * t->size_B[t->count - 1];
    bool between = low && high && low != high;
    struct fr_similarity_answer a = {.time_s = fr_similarity_from_s(t, law, p, nodes, size_B),
                                     .measured =
                                         apart < 0.05 && within && (far == 0 || between)};
    if (between) {
        double span = log2((double)high->n_ranks / (double)low->n_ranks);
        way = span > 0 ? far / span : 0;
        a.time_s = pow(a.time_s, 1 - way) *
                   pow(fr_similarity_from_s(high, law, p, nodes, size_B), way);
        a.measured = a.measured && size_B >= (1 - 1e-9) * high->size_B[0] &&
                     size_B <= (1 + 1e-9) * high->size_B[high->count - 1];
        near = fmin(far, span - far);
    }
    a.slow_log2 = half_width(t, law->slow, near, apart, size_B);
    a.fast_log2 = half_width(t, law->fast, near, apart, size_B);
    return a;
}

/* Random tables of two levels, asked for every layout about them, at sizes measured, between, beyond. */
static void answers_are_those_of_a_second_hand(void **state) {
    enum { TABLES = 6, FEW = 7 };
    uint64_t dice = 88172645463325252u;
    int measured = 0, narrow = 0;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct scratch scratch[TABLES];
        struct fr_similarity_table t[TABLES];
        struct fr_similarity s = {.tables = t, .n_tables = TABLES};
        for (int level = 0; level < 2; level++)
            s.law[level] = (struct fr_similarity_law){.steps = (int)(7 * uniform(&dice)),
                                                      .bytes = (int)(8 * uniform(&dice)),
                                                      .slow = 0.2 + uniform(&dice),
                                                      .fast = 0.1 + uniform(&dice)};
        for (int i = 0; i < TABLES; i++) {
            int64_t nodes = i < 2 ? 1 : 2 << (int)(2 * uniform(&dice));
            int64_t per_node = i < 2 ? 2 + 6 * i : 1 << (int)(3 * uniform(&dice));
            t[i] = (struct fr_similarity_table){.level = i >= 2,
                                                .n_ranks = per_node * nodes,
                                                .n_nodes = nodes,
                                                .count = FEW,
                                                .size_B = scratch[i].size_B,
                                                .time_s = scratch[i].time_s,
                                                .left_out = scratch[i].left_out,
                                                .left_out_90 = pow(uniform(&dice), 3)};
            for (int k = 0; k < FEW; k++) {
                scratch[i].size_B[k] = pow(10, k) * (1 + i % 2);
                scratch[i].time_s[k] = 1e-6 * (1 + 3 * uniform(&dice)) * pow(2, k);
                scratch[i].left_out[k] = round % 3 ? pow(uniform(&dice), 3) : 0;
            }
        }
        for (int k = 0; k < 40; k++) {
            int level = k % 2;
            int64_t nodes = level ? 2 << k / 2 % 3 : 1, per_node = 1 << k / 6 % 4;
            int64_t p = level ? nodes * per_node : 2 + k / 2;
            double rounded = 1 + (k % 3 - 1) * 1e-11, /* as formulas make it */
                size_B = k % 5 ? pow(10, 8 * uniform(&dice))
                               : rounded * pow(10, k / 5) * (1 + k % 2);
            struct fr_similarity_answer got = {0},
                                        want = once_more(&s, level, p, nodes, size_B);
            assert_true(fr_similarity_ask(&s, level, p, nodes, size_B, true, &got));
            FR_NEAR(got.time_s, want.time_s, 1e-9);
            FR_NEAR(got.slow_log2, want.slow_log2, 1e-9);
            FR_NEAR(got.fast_log2, want.fast_log2, 1e-9);
            FR_TRUE(got.measured == want.measured, "round %d, %d", round, k);
            measured += got.measured, narrow += got.slow_log2 < 0.15;
        }
    }
    FR_TRUE(measured > 1000 && narrow > 300, "%d, %d", measured, narrow);
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
        cmocka_unit_test(answers_are_those_of_a_second_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
