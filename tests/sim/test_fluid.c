/* Flows on links: rates are feasible and max-min fair by definition (every flow has a full link on
 * which none goes faster), whatever came and went before; bytes are conserved; hand-computed cases. */
#include <stdlib.h>

#include "sim/fluid.h"
#include "tests/pipeline_case.h"

enum { LINKS = 12, FLOWS = 200, USES = 4 };

struct flow {
    struct fr_link_use uses[USES];
    int n_uses;
    double size_B, moved_B;
    bool alive;
};

static bool begin(struct fr_fluid *fluid, int64_t tag, double size_B,
                  const struct fr_link_use *uses, int n_uses) {
    return fr_fluid_start(fluid, tag, size_B, fr_fluid_alone_B_per_s(fluid, uses, n_uses), uses,
                          n_uses);
}

/* Max-min fair: feasible, and each flow has a bottleneck (Bertsekas & Gallager, 6.5.2). */
static void check_rates(struct fr_fluid *fluid, const struct flow *flows, const double *rate,
                        double x[FLOWS]) {
    int64_t tag[FLOWS];
    double got[FLOWS], load[LINKS] = {0}, fastest[LINKS] = {0};
    int n = fr_fluid_rates(fluid, FLOWS, tag, got);
    memset(x, 0, FLOWS * sizeof *x);
    for (int k = 0; k < n; k++) {
        const struct flow *f = &flows[tag[k]];
        x[tag[k]] = got[k];
        for (int u = 0; u < f->n_uses; u++) {
            load[f->uses[u].link] += f->uses[u].weight * got[k];
            fastest[f->uses[u].link] = fmax(fastest[f->uses[u].link], got[k]);
        }
    }
    for (int l = 0; l < LINKS; l++)
        FR_TRUE(load[l] <= rate[l] * (1 + 1e-9), "link %d carries %g of %g", l, load[l],
                rate[l]);
    for (int k = 0; k < n; k++) {
        const struct flow *f = &flows[tag[k]];
        bool bottleneck = false;
        for (int u = 0; u < f->n_uses; u++) {
            int l = f->uses[u].link;
            bottleneck |= load[l] >= rate[l] * (1 - 1e-9) && got[k] >= fastest[l] * (1 - 1e-9);
        }
        FR_TRUE(bottleneck, "flow %d at %g has no bottleneck", (int)tag[k], got[k]);
    }
}

static void fair_whatever_came_before(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 40; round++) {
        struct flow flows[FLOWS] = {0};
        double rate[LINKS], x[FLOWS], now_s = 0;
        int started = 0, ended = 0;
        for (int l = 0; l < LINKS; l++) rate[l] = 1 + 9 * case_uniform01(&seed);
        struct fr_fluid *fluid = fr_fluid_new(LINKS, rate, USES);
        assert_non_null(fluid);
        while (ended < FLOWS) {
            bool start = started < FLOWS && (case_random(&seed) % 2 || started == ended);
            double next_s = fr_fluid_next_s(fluid), then_s;
            check_rates(fluid, flows, rate, x);
            bool finish = !start || isinf(next_s);
            if (start) finish = false;
            then_s = finish ? next_s
                            : now_s + (isinf(next_s)
                                           ? 0.1
                                           : case_uniform01(&seed) * 0.99 * (next_s - now_s));
            for (int k = 0; k < FLOWS; k++) flows[k].moved_B += x[k] * (then_s - now_s);
            now_s = then_s;
            if (finish) {
                bool slowed;
                struct flow *f = &flows[fr_fluid_finish(fluid, &slowed)];
                assert_true(f->alive);
                FR_NEAR(f->moved_B, f->size_B, 1e-8);
                f->alive = false;
                ended++;
                continue;
            }
            fr_fluid_advance(fluid, now_s);
            struct flow *f = &flows[started];
            f->size_B = 0.1 + case_uniform01(&seed);
            f->alive = true;
            f->n_uses = 1 + (int)(case_random(&seed) % USES);
            for (int u = 0; u < f->n_uses; u++) {
                int link = (int)(case_random(&seed) % 3) + 3 * u; /* never one twice */
                f->uses[u] = (struct fr_link_use){link, 1 + (int)(case_random(&seed) % 3)};
            }
            assert_true(begin(fluid, started++, f->size_B, f->uses, f->n_uses));
        }
        fr_fluid_free(fluid);
    }
}

/* Two flows on a link of 10 B/s, one of which another link holds to 2 B/s: the other gets 8. */
static void by_hand(void **state) {
    (void)state;
    const double rate[] = {10, 2};
    const struct fr_link_use both[] = {{0, 1}, {1, 1}}, one[] = {{0, 1}};
    struct fr_fluid *fluid = fr_fluid_new(2, rate, 2);
    bool slowed;
    assert_true(fr_fluid_is_free(fluid, both, 2));
    assert_true(begin(fluid, 8, 16, one, 1));
    assert_false(fr_fluid_is_free(fluid, both, 2));
    assert_true(fr_fluid_is_free(fluid, &both[1], 1));
    fr_fluid_reset(fluid);
    assert_true(begin(fluid, 7, 10, both, 2));
    assert_true(begin(fluid, 8, 16, one, 1));
    FR_NEAR(fr_fluid_next_s(fluid), 2, 1e-12);
    assert_int_equal(fr_fluid_finish(fluid, &slowed), 8);
    assert_true(slowed); /* alone it would have had 10 */
    FR_NEAR(fr_fluid_next_s(fluid), 5, 1e-12);
    assert_int_equal(fr_fluid_finish(fluid, &slowed), 7);
    assert_false(slowed);
    assert_true(isinf(fr_fluid_next_s(fluid)));
    /* Three replicas on one link: a third each. */
    fr_fluid_reset(fluid);
    const struct fr_link_use thrice[] = {{0, 3}};
    assert_true(begin(fluid, 9, 10, thrice, 1));
    FR_NEAR(fr_fluid_next_s(fluid), 3, 1e-12);
    fr_fluid_free(fluid);
}

/* More at once than the first capacity: n of them over one link take n times as long. */
static void a_thousand_at_once(void **state) {
    (void)state;
    enum { MANY = 1000 };
    const double rate = 10;
    const struct fr_link_use use = {.link = 0, .weight = 1};
    struct fr_fluid *fluid = fr_fluid_new(1, &rate, 1);
    bool seen[MANY] = {false}, slowed;
    assert_non_null(fluid);
    for (int i = 0; i < MANY; i++) assert_true(begin(fluid, i, 2, &use, 1));
    for (int i = 0; i < MANY; i++) {
        FR_NEAR(fr_fluid_next_s(fluid), MANY * 2 / rate, 1e-9);
        int64_t tag = fr_fluid_finish(fluid, &slowed);
        assert_true(tag >= 0 && tag < MANY && !seen[tag]);
        seen[tag] = true;
    }
    assert_true(isinf(fr_fluid_next_s(fluid)));
    fr_fluid_free(fluid);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fair_whatever_came_before),
                                       cmocka_unit_test(a_thousand_at_once),
                                       cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
