/* Cuts of small graphs against trying all sides. */
#include "base/min_cut.h"

#include <math.h>

#include "tests/cmocka.h"

enum { N = 8, EDGES = 20 };

struct graph {
    double cost[N];
    int32_t from[EDGES], to[EDGES];
    double capacity[EDGES];
};

static uint64_t dice = 7;
static uint32_t draw(uint32_t below) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice >> 33) % below;
}

static double sum_of(const struct graph *g, unsigned sides) {
    double sum = 0;
    for (int v = 0; v < N; v++)
        if (sides >> v & 1) sum += g->cost[v];
    for (int e = 0; e < EDGES; e++)
        if ((sides >> g->from[e] & 1) && !(sides >> g->to[e] & 1)) sum += g->capacity[e];
    return sum;
}

static void make(struct graph *g) {
    for (int v = 0; v < N; v++) g->cost[v] = (double)draw(21) - 10;
    if (draw(3) == 0) g->cost[draw(N)] = INFINITY;
    for (int e = 0; e < EDGES; e++) {
        g->from[e] = (int32_t)draw(N);
        g->to[e] = (int32_t)draw(N);
        g->capacity[e] = draw(6) == 0 ? INFINITY : (double)draw(6);
    }
}

static void nothing_is_cheaper(void **state) {
    struct fr_min_cut cut;
    bool side[N];
    (void)state;
    assert_int_equal(fr_min_cut_open(&cut, N, EDGES, NULL), FR_OK);
    for (int trial = 0; trial < 500; trial++) {
        struct graph g;
        double least = INFINITY;
        unsigned got = 0;
        make(&g);
        fr_min_cut_clear(&cut);
        for (int v = 0; v < N; v++) fr_min_cut_cost(&cut, v, g.cost[v]);
        for (int e = 0; e < EDGES; e++)
            fr_min_cut_edge_add(&cut, g.from[e], g.to[e], g.capacity[e]);
        double sum = fr_min_cut_solve(&cut, side);
        for (unsigned sides = 0; sides < 1u << N; sides++)
            least = fmin(least, sum_of(&g, sides));
        for (int v = 0; v < N; v++) got |= (unsigned)side[v] << v;
        FR_TRUE(fabs(sum - least) < 1e-9, "trial %d: got %g, wanted %g", trial, sum, least);
        FR_TRUE(fabs(sum_of(&g, got) - least) < 1e-9, "trial %d: the sides cost %g, not %g",
                trial, sum_of(&g, got), least);
    }
    fr_min_cut_free(&cut);
}

/* A long chain: paths as long as the graph, and no recursion. */
static void a_chain_is_cut_where_it_is_thin(void **state) {
    enum { LONG = 20000 };
    struct fr_min_cut cut;
    static bool side[LONG];
    (void)state;
    assert_int_equal(fr_min_cut_open(&cut, LONG, LONG, NULL), FR_OK);
    fr_min_cut_cost(&cut, 0, -5);
    fr_min_cut_cost(&cut, LONG - 1, 4);
    for (int32_t v = 0; v + 1 < LONG; v++)
        fr_min_cut_edge_add(&cut, v, v + 1, v == 777 ? 2 : 3);
    FR_NEAR(fr_min_cut_solve(&cut, side), -3, 1e-12);
    assert_true(side[777] && !side[778]);
    fr_min_cut_free(&cut);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_cheaper),
                                       cmocka_unit_test(a_chain_is_cut_where_it_is_thin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
