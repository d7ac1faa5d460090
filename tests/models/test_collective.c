/* The contract of the closed forms, for every row of fr_collectives; a new row is covered at once.  The expansions
 * are tested in test_collective_messages.c. */
#include <math.h>
#include <string.h>

#include "tests/collective_points.h"

/* Each term at its cheapest, of the links that the communicator can use: inside and outside at once. */
static struct fr_link_cost cheapest_link(const struct fr_collective_args *a) {
    if (a->ranks_per_node >= a->n_ranks) return a->inner;
    if (a->ranks_per_node <= 1) return a->outer;
    double in = a->inner.s_per_B, out = a->outer.s_per_B;
    return (struct fr_link_cost){fmin(a->inner.latency_s, a->outer.latency_s),
                                 in + out > 0 ? in * out / (in + out) : 0};
}

/* No algorithm for @p op is faster on these links [s]; 0 when p = 1.  It is the larger of two times.  One is that of
 *  the bytes that must leave or reach some rank (fr_op_bus_factor).  The other is that of the ceil(log2 p) messages
 *  (1 for send_recv) that must follow each other.  Each takes the cheapest links there are: inner ones alone when r =
 *  p, outer ones alone when r = 1.  Else bytes take both at once, and latency is the shorter one.
 *  Where NCCL runs them bytes alone count, and a switch that adds up halves them.  Chan, Heimlich,
 *  Purkayastha, van de Geijn, Concurrency Computat. 19, 2007, section 3. */
static double lower_bound_s(fr_op op, const struct fr_collective_args *args) {
    if (args->n_ranks <= 1) return 0;
    struct fr_link_cost link = cheapest_link(args);
    int32_t rounds = op == FR_OP_SEND_RECV ? 1 : fr_log2_ceil(args->n_ranks);
    double start_s = rounds * link.latency_s, factor = fr_op_bus_factor(op, args->n_ranks);
    if (fr_collective_by_nccl(args)) start_s = 0; /* its hops have latencies of their own */
    if (fr_collective_by_nccl(args) && args->inside->in_switch > 0) factor = fmin(factor, 1);
    double move_s = factor * args->size_B * link.s_per_B;
    return fmax(start_s, move_s);
}

static void free_for_one(const struct fr_collective *row, const struct fr_collective_args *a) {
    if (a->n_ranks > 1) return;
    double time_s = row->time_s(a);
    EXPECT(!(time_s < 0) && !(time_s > 0), row, a, "got %.17g s, wanted 0", time_s);
}

static void bounded(const struct fr_collective *row, const struct fr_collective_args *a) {
    double got_s = row->time_s(a), bound_s = lower_bound_s(row->op, a);
    EXPECT(isfinite(got_s) && got_s >= bound_s * (1 - 1e-12), row, a,
           "got %.17g s, wanted at least %.17g s", got_s, bound_s);
}

/* Time changed from before to after by a change that makes nothing faster. */
static void not_faster(const struct fr_collective *row, const struct fr_collective_args *before,
                       const struct fr_collective_args *after) {
    double before_s = row->time_s(before), after_s = row->time_s(after);
    EXPECT(after_s >= before_s * (1 - 1e-12), row, after,
           "got %.17g s, wanted at least the %.17g s of n = %g B, alpha %g s and %g s", after_s,
           before_s, before->size_B, before->inner.latency_s, before->outer.latency_s);
}

static void monotonic(const struct fr_collective *row, const struct fr_collective_args *a) {
    struct fr_collective_args more = *a, inner = *a, outer = *a;
    more.size_B = 1.5 * a->size_B + 1;
    inner.inner.latency_s *= 2;
    outer.outer.latency_s *= 2;
    not_faster(row, a, &more);
    not_faster(row, a, &inner);
    not_faster(row, a, &outer);
}

static void fastest_is_minimum(const struct fr_collective *row,
                               const struct fr_collective_args *a) {
    const struct fr_collective *best = fr_collective_fastest(row->op, a);
    double best_s = best ? best->time_s(a) : -1, row_s = row->time_s(a);
    if (best && best->nccl && !row->nccl && fr_collective_by_nccl(a)) return; /* not asked */
    EXPECT(best && best->op == row->op && best->applicable(a), row, a, "got no usable row");
    EXPECT(best_s <= row_s, row, a, "fastest took %.17g s (%s), this row %.17g s", best_s,
           best->name, row_s);
    EXPECT(fabs(best_s - best->time_s(a)) <= 0, row, a, "got %.17g s, wanted %.17g s of %s",
           best_s, best->time_s(a), best->name);
    const struct fr_collective *const *first = fr_collectives;
    while (*first != row && *first != best) first++;
    EXPECT(row_s > best_s || *first == best, row, a,
           "as fast as %s, and before it in the table", best->name);
}

static void described(const struct fr_collective *row, const struct fr_collective_args *a) {
    const struct fr_collective *found = fr_collective_find(row->op, row->name);
    EXPECT(found == row, row, a, "the name stands for another row too");
    EXPECT(row->equation && *row->equation && row->source && *row->source, row, a,
           "equation or source is missing");
}

static void one_rank_is_free(void **state) { (void)state, at_every_point(free_for_one); }
static void never_under_the_bound(void **state) { (void)state, at_every_point(bounded); }
static void more_is_never_faster(void **state) { (void)state, at_every_point(monotonic); }
static void fastest_is_the_minimum(void **state) {
    (void)state, at_every_point(fastest_is_minimum);
}
static void rows_are_described(void **state) { (void)state, at_every_shape(described); }

/* Run backwards, with sums in place of copies, an operation is its dual. */
static const fr_op dual_of[FR_OP_COUNT] = {
    [FR_OP_BROADCAST] = FR_OP_REDUCE,
    [FR_OP_REDUCE] = FR_OP_BROADCAST,
    [FR_OP_ALL_REDUCE] = FR_OP_ALL_REDUCE,
    [FR_OP_ALL_GATHER] = FR_OP_REDUCE_SCATTER,
    [FR_OP_REDUCE_SCATTER] = FR_OP_ALL_GATHER,
    [FR_OP_ALL_TO_ALL] = FR_OP_ALL_TO_ALL,
    [FR_OP_SEND_RECV] = FR_OP_SEND_RECV,
    [FR_OP_SCATTER] = FR_OP_GATHER,
    [FR_OP_GATHER] = FR_OP_SCATTER,
};

static void has_a_dual(const struct fr_collective *row, const struct fr_collective_args *a) {
    double time_s = row->time_s(a);
    for (const struct fr_collective *const *other = fr_collectives; *other; other++)
        if ((*other)->op == dual_of[row->op] && (*other)->applicable(a) &&
            fabs((*other)->time_s(a) - time_s) <= 1e-12 * time_s)
            return;
    EXPECT(false, row, a, "no row of %s takes its %.17g s", fr_op_names[dual_of[row->op]],
           time_s);
}

/* An all-reduce can be a reduce-scatter and an all-gather: neither costs more than it. */
static void half_is_not_dearer(const struct fr_collective *row,
                               const struct fr_collective_args *a) {
    if (row->op != FR_OP_ALL_REDUCE || fr_collective_by_nccl(a))
        return; /* NCCL gathers by rings alone */
    for (int op = FR_OP_ALL_GATHER; op <= FR_OP_REDUCE_SCATTER; op++) {
        double half_s = fr_collective_fastest_s((fr_op)op, a);
        EXPECT(half_s <= row->time_s(a) * (1 + 1e-12), row, a,
               "%s takes %.17g s, more than %.17g", fr_op_names[op], half_s, row->time_s(a));
    }
}

static void every_algorithm_has_a_dual(void **state) {
    (void)state, at_every_point(has_a_dual);
}
static void halves_are_not_dearer(void **state) {
    (void)state, at_every_point(half_is_not_dearer);
}

/* Messages that must follow each other, and bytes that must reach a rank, each by itself: of 5 ranks. */
static void bounds_by_hand(void **state) {
    static const struct {
        fr_op op;
        double rounds, share;
    } rows[] = {{FR_OP_SEND_RECV, 1, 1},
                {FR_OP_ALL_GATHER, 3, 0.8},
                {FR_OP_REDUCE_SCATTER, 3, 0.8},
                {FR_OP_ALL_REDUCE, 3, 1.6}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_collective_args few = {.n_ranks = 5,
                                         .ranks_per_node = 5,
                                         .inner = {2, 1},
                                         .outer = {2, 1}},
                                  many = few;
        many.size_B = 1000;
        assert_true(lower_bound_s(rows[k].op, &few) == 2 * rows[k].rounds);
        assert_true(fabs(lower_bound_s(rows[k].op, &many) - 1000 * rows[k].share) < 1e-9);
    }
}

static void every_op_has_a_row_for_any_p(void **state) {
    (void)state;
    for (int op = 0; op < FR_OP_COUNT; op++)
        for (int64_t p = 1; p <= MAX_RANKS; p++) {
            struct fr_collective_args a = {.n_ranks = p,
                                           .ranks_per_node = p,
                                           .size_B = 1,
                                           .inner = {1, 1},
                                           .outer = {1, 1}};
            if (!fr_collective_fastest((fr_op)op, &a))
                fail_msg("%s, p = %d: got no row", fr_op_names[op], (int)p);
        }
}

static void unknown_names_are_not_found(void **state) {
    (void)state;
    assert_null(fr_collective_find(FR_OP_ALL_REDUCE, "pigeon"));
    assert_null(fr_collective_find(FR_OP_ALL_REDUCE, "pairwise"));
    assert_null(fr_op_names[FR_OP_COUNT]);
    assert_string_equal(fr_op_names[FR_OP_SEND_RECV], "send_recv");
}

/* p = 6 or 8, alpha = 2 us, 25 GB/s, n = 3 or 8 MB; a block is 0.5 or 1 MB: 20 or 40 us.
 * Hierarchical: 2 us, 100 GB/s inside 4 ranks, 10 us, 10 GB/s between 2 nodes, n = 8 MB. */
static const struct {
    fr_op op;
    const char *name;
    int64_t p, r;
    double size_B, wanted_s;
} by_hand[] = {
    {FR_OP_ALL_REDUCE, "ring", 6, 6, 3e6, 220e-6},               /* 10 (2 + 20) */
    {FR_OP_ALL_REDUCE, "ring", 8, 8, 8e6, 588e-6},               /* 14 (2 + 40) */
    {FR_OP_ALL_GATHER, "ring", 6, 6, 3e6, 110e-6},               /* 5 (2 + 20) */
    {FR_OP_REDUCE_SCATTER, "ring", 6, 6, 3e6, 110e-6},           /* 5 (2 + 20) */
    {FR_OP_ALL_GATHER, "bruck", 6, 6, 3e6, 106e-6},              /* 3 2 + (1 + 2 + 2) 20 */
    {FR_OP_ALL_GATHER, "recursive_doubling", 8, 8, 8e6, 286e-6}, /* 3 2 + (1 + 2 + 4) 40 */
    {FR_OP_REDUCE_SCATTER, "recursive_halving", 8, 8, 8e6, 286e-6},
    {FR_OP_REDUCE_SCATTER, "circulant", 6, 6, 3e6, 106e-6},      /* 3 2 + (3 + 1 + 1) 20 */
    {FR_OP_ALL_REDUCE, "circulant", 6, 6, 3e6, 212e-6},          /* twice that */
    {FR_OP_ALL_REDUCE, "recursive_doubling", 8, 8, 8e6, 966e-6}, /* 3 (2 + 320) */
    {FR_OP_ALL_REDUCE, "rabenseifner", 8, 8, 8e6, 572e-6},       /* 6 2 + 14 40 */
    {FR_OP_BROADCAST, "binomial", 6, 6, 3e6, 366e-6},            /* 3 (2 + 120) */
    {FR_OP_REDUCE, "binomial", 6, 6, 3e6, 366e-6},               /* the same */
    {FR_OP_BROADCAST, "scatter_all_gather", 6, 6, 3e6, 216e-6},  /* 3 2 + 5 20 + 5 (2 + 20) */
    {FR_OP_BROADCAST, "scatter_all_gather", 8, 8, 8e6, 572e-6},  /* 6 2 + 14 40 */
    {FR_OP_ALL_TO_ALL, "pairwise", 6, 6, 3e6, 110e-6},           /* 5 (2 + 20) */
    {FR_OP_ALL_TO_ALL, "bruck", 8, 8, 8e6, 486e-6},              /* 3 (2 + 4 40) */
    {FR_OP_ALL_TO_ALL, "bruck", 6, 6, 3e6, 146e-6},              /* 1 to 5 have 7 bits set */
    {FR_OP_SEND_RECV, "direct", 6, 6, 3e6, 122e-6},              /* 2 + 120 */
    {FR_OP_SCATTER, "binomial", 6, 6, 3e6, 106e-6},              /* 3 2 + (3 + 1 + 1) 20 */
    {FR_OP_GATHER, "binomial", 6, 6, 3e6, 106e-6},               /* the same */
    {FR_OP_ALL_REDUCE, "hierarchical", 8, 4, 8e6, 348e-6},       /* 2 (2 2 + 60 + 10 + 100) */
    {FR_OP_ALL_TO_ALL, "pairwise_by_node", 8, 4, 8e6, 476e-6},   /* 3 (2 + 10) + 4 (10 + 100) */
    {FR_OP_ALL_REDUCE, "rail_ring", 8, 4, 8e6, 406e-6},          /* 14 (4 + 25): adapters */
    {FR_OP_ALL_GATHER, "rail_ring", 8, 4, 8e6, 203e-6},          /* half of it */
    {FR_OP_BROADCAST, "rail_chain", 8, 4, 8e6, 385e-6},     /* (2 + 3) (10 + 50) + 5 (2 + 15) */
    {FR_OP_REDUCE_SCATTER, "rail_ring", 6, 3, 6e6, 190e-6}, /* 5 (14/3 + 100/3) */
    {FR_OP_ALL_GATHER, "hierarchical", 8, 4, 8e6, 174e-6},  /* 10 + 100 + 2 2 + 60 */
    {FR_OP_REDUCE_SCATTER, "hierarchical", 8, 4, 8e6, 174e-6},  /* the same */
    {FR_OP_REDUCE, "reduce_scatter_gather", 6, 6, 3e6, 216e-6}, /* 5 (2 + 20) + 3 2 + 5 20 */
    {FR_OP_REDUCE, "reduce_scatter_gather", 8, 8, 8e6, 572e-6}, /* 6 2 + 14 40 */
};

static void hand_computed_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        const struct fr_collective *row = fr_collective_find(by_hand[i].op, by_hand[i].name);
        struct fr_collective_args a = {.n_ranks = by_hand[i].p,
                                       .ranks_per_node = by_hand[i].r,
                                       .size_B = by_hand[i].size_B,
                                       .inner = {2e-6, 1 / 25e9},
                                       .outer = {10e-6, 1 / 10e9}};
        if (a.ranks_per_node < a.n_ranks) a.inner.s_per_B = 1 / 100e9;
        assert_non_null(row);
        EXPECT(fabs(row->time_s(&a) - by_hand[i].wanted_s) <= 1e-12 * by_hand[i].wanted_s, row,
               &a, "got %.15g s, wanted %.15g s", row->time_s(&a), by_hand[i].wanted_s);
    }
}

static void flat_algorithms_pay_the_slower_place(void **state) {
    (void)state;
    struct fr_collective_args a = {.n_ranks = 8,
                                   .ranks_per_node = 4,
                                   .size_B = 8e6,
                                   .inner = {2e-6, 1 / 100e9},
                                   .outer = {10e-6, 1 / 10e9}};
    const struct fr_collective *ring = fr_collective_find(FR_OP_ALL_GATHER, "ring");
    EXPECT(fabs(ring->time_s(&a) - 7 * 110e-6) < 1e-15, ring, &a, "got %.15g s, wanted 770 us",
           ring->time_s(&a));
    a.ranks_per_node = 8;
    EXPECT(fabs(ring->time_s(&a) - 7 * 12e-6) < 1e-15, ring, &a, "got %.15g s, wanted 84 us",
           ring->time_s(&a));
}

static void a_million_ranks_are_no_trouble(void **state) {
    (void)state;
    struct fr_collective_args a = {.n_ranks = 1000000,
                                   .ranks_per_node = 8,
                                   .size_B = 8e9,
                                   .inner = {2e-6, 1e-11},
                                   .outer = {1e-5, 1e-10}};
    for (const struct fr_collective *const *row = fr_collectives; *row; row++) {
        if (!(*row)->applicable(&a)) continue;
        bounded(*row, &a);
    }
    assert_int_equal(fr_log2_ceil(1000000), 20);
    assert_int_equal(fr_log2_ceil((int64_t)1 << 40), 40);
    assert_int_equal(fr_log2_ceil(((int64_t)1 << 40) + 1), 41);
    assert_int_equal(fr_log2_ceil(1), 0);
    assert_true(fr_is_power_of_two(1) && fr_is_power_of_two(64));
    assert_false(fr_is_power_of_two(0) || fr_is_power_of_two(6));
}

static void bus_factors_are_those_of_nccl_tests(void **state) {
    (void)state;
    static const double wanted[FR_OP_COUNT] = {
        [FR_OP_BROADCAST] = 1,      [FR_OP_REDUCE] = 1,         [FR_OP_ALL_REDUCE] = 1.75,
        [FR_OP_ALL_GATHER] = 0.875, [FR_OP_ALL_TO_ALL] = 0.875, [FR_OP_REDUCE_SCATTER] = 0.875,
        [FR_OP_SEND_RECV] = 1,      [FR_OP_SCATTER] = 0.875,    [FR_OP_GATHER] = 0.875,
    };
    for (int op = 0; op < FR_OP_COUNT; op++)
        if (fabs(fr_op_bus_factor((fr_op)op, 8) - wanted[op]) > 0)
            fail_msg("%s, p = 8: got %g, wanted %g", fr_op_names[op],
                     fr_op_bus_factor((fr_op)op, 8), wanted[op]);
}

/* ---- which shapes ---------------------------------------------------------------------------------- */

static bool any(int64_t p, int64_t r) { return p > 0 && r > 0; }
static bool of_classes(int64_t p, int64_t r) { /* links of no class here */
    (void)p, (void)r;
    return false;
}
static bool power(int64_t p, int64_t r) {
    (void)r;
    while (p % 2 == 0) p /= 2;
    return p == 1;
}
/* Several nodes, each of the same number of ranks, and that more than one. */
static bool even_nodes(int64_t p, int64_t r) { return p > r && r > 1 && p / r * r == p; }

static bool nodes_of_several(int64_t p, int64_t r) { return p > r && r > 1; }

/* Each algorithm asks this of p ranks, r a node, as its paper says. */
static const struct {
    fr_op op;
    const char *name;
    bool (*asks)(int64_t p, int64_t r);
} shapes[] = {
    {FR_OP_BROADCAST, "binomial", any},
    {FR_OP_BROADCAST, "scatter_all_gather", any},
    {FR_OP_BROADCAST, "rail_chain", nodes_of_several},
    {FR_OP_REDUCE, "binomial", any},
    {FR_OP_REDUCE, "reduce_scatter_gather", any},
    {FR_OP_REDUCE, "rail_chain", nodes_of_several},
    {FR_OP_ALL_REDUCE, "ring", any},
    {FR_OP_ALL_REDUCE, "rail_ring", nodes_of_several},
    {FR_OP_ALL_REDUCE, "tree", of_classes},
    {FR_OP_ALL_REDUCE, "switch", of_classes},
    {FR_OP_ALL_REDUCE, "circulant", any},
    {FR_OP_ALL_REDUCE, "recursive_doubling", power},
    {FR_OP_ALL_REDUCE, "rabenseifner", power},
    {FR_OP_ALL_REDUCE, "hierarchical", even_nodes},
    {FR_OP_ALL_GATHER, "ring", any},
    {FR_OP_ALL_GATHER, "rail_ring", nodes_of_several},
    {FR_OP_ALL_GATHER, "bruck", any},
    {FR_OP_ALL_GATHER, "recursive_doubling", power},
    {FR_OP_ALL_GATHER, "hierarchical", even_nodes},
    {FR_OP_REDUCE_SCATTER, "ring", any},
    {FR_OP_REDUCE_SCATTER, "rail_ring", nodes_of_several},
    {FR_OP_REDUCE_SCATTER, "circulant", any},
    {FR_OP_REDUCE_SCATTER, "recursive_halving", power},
    {FR_OP_REDUCE_SCATTER, "hierarchical", even_nodes},
    {FR_OP_ALL_TO_ALL, "pairwise", any},
    {FR_OP_ALL_TO_ALL, "bruck", any},
    {FR_OP_ALL_TO_ALL, "pairwise_by_node", even_nodes},
    {FR_OP_SEND_RECV, "direct", any},
    {FR_OP_SCATTER, "binomial", any},
    {FR_OP_GATHER, "binomial", any},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool has_shape(const struct fr_collective *row) {
    for (size_t i = 0; i < SHAPES; i++)
        if (shapes[i].op == row->op && strcmp(shapes[i].name, row->name) == 0) return true;
    return false;
}

static void shapes_are_those_of_the_papers(void **state) {
    (void)state;
    for (const struct fr_collective *const *row = fr_collectives; *row; row++)
        FR_TRUE(has_shape(*row),
                "%s `%s` is missing from the shapes in tests/models/test_collective.c",
                fr_op_names[(*row)->op], (*row)->name);
    for (size_t i = 0; i < SHAPES; i++) {
        const struct fr_collective *row = fr_collective_find(shapes[i].op, shapes[i].name);
        if (!row)
            fail_msg("the shapes in tests/models/test_collective.c have %s `%s`, which "
                     "models/network/collective_list.h has not",
                     fr_op_names[shapes[i].op], shapes[i].name);
        for (int64_t p = 1; p <= MAX_RANKS; p++)
            for (int64_t r = 1; r <= p; r++) {
                struct fr_collective_args a = {.n_ranks = p,
                                               .ranks_per_node = r,
                                               .size_B = 1,
                                               .inner = {1, 1},
                                               .outer = {1, 1}};
                EXPECT(row->applicable(&a) == shapes[i].asks(p, r), row, &a,
                       "applicable is wrong");
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank_is_free),
        cmocka_unit_test(never_under_the_bound),
        cmocka_unit_test(more_is_never_faster),
        cmocka_unit_test(fastest_is_the_minimum),
        cmocka_unit_test(rows_are_described),
        cmocka_unit_test(every_algorithm_has_a_dual),
        cmocka_unit_test(halves_are_not_dearer),
        cmocka_unit_test(bounds_by_hand),
        cmocka_unit_test(every_op_has_a_row_for_any_p),
        cmocka_unit_test(unknown_names_are_not_found),
        cmocka_unit_test(hand_computed_values),
        cmocka_unit_test(flat_algorithms_pay_the_slower_place),
        cmocka_unit_test(a_million_ranks_are_no_trouble),
        cmocka_unit_test(bus_factors_are_those_of_nccl_tests),
        cmocka_unit_test(shapes_are_those_of_the_papers),
    };
    return cmocka_run_group_tests_name("models.collective", tests, NULL, NULL);
}
