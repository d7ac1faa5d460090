/* A search keeps these, against all that it saw: the best, the front, the best of each method. */
#include <stdlib.h>

#include "search/keep.h"
#include "tests/cmocka.h"

enum { MOST = 600 };

static uint64_t draw(uint64_t *dice, uint64_t n) {
    *dice ^= *dice << 13, *dice ^= *dice >> 7, *dice ^= *dice << 17;
    return *dice % n;
}

/* Few values, so that many are equal. */
static void draw_plans(uint64_t *dice, struct fr_ranked *plan, int n, uint64_t values) {
    for (int i = 0; i < n; i++)
        plan[i] = (struct fr_ranked){
            .value = (double)draw(dice, values), .lossy = (double)draw(dice, 3), .index = i};
}

/* Better by value; of equals the less lossy; of these the earlier. */
static bool before(const struct fr_ranked *a, const struct fr_ranked *b) {
    return a->value < b->value ||
           (a->value == b->value &&
            (a->lossy < b->lossy || (a->lossy == b->lossy && a->index < b->index)));
}

/* A lossy forward message counts as a lossy gradient or backward message does. */
static void lossiness_is_of_all_three(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        const struct fr_outcome out = {.lossy_gradient = k & 1 ? 0.25 : 0,
                                       .lossy_backward = k & 2 ? 0.5 : 0,
                                       .lossy_forward = k & 4 ? 1 : 0};
        FR_NEAR(fr_lossiness(&out), 0.25 * k, 0);
    }
}

static void the_order_is_by_value_loss_and_number(void **state) {
    struct fr_ranked plan[60];
    uint64_t dice = 88172645463325252u;
    (void)state;
    draw_plans(&dice, plan, 60, 4);
    for (int i = 0; i < 60; i++)
        for (int k = 0; k < 60; k++) {
            int order = fr_by_rank(&plan[i], &plan[k]);
            FR_TRUE((order < 0) == before(&plan[i], &plan[k]) && (order == 0) == (i == k),
                    "%d, %d: %d", i, k, order);
        }
}

static void the_best_are_the_best_of_all(void **state) {
    static const size_t limits[] = {0, 1, 2, 10, 64, 100};
    static struct fr_ranked plan[MOST];
    uint64_t dice = 362436069362436069u;
    (void)state;
    for (int round = 0; round < 200; round++) {
        int n = (int)draw(&dice, MOST);
        size_t limit = limits[round % 6], most = 0;
        struct fr_best best = {0};
        draw_plans(&dice, plan, n, 1 + draw(&dice, 300));
        for (int i = 0; i < n; i++) {
            assert_true(fr_best_keep(&best, limit, &plan[i]));
            most = best.list.count > most ? best.list.count : most;
        }
        fr_best_cut(&best, limit);
        qsort(plan, (size_t)n, sizeof *plan, fr_by_rank);
        size_t want = limit > 0 && (size_t)n > limit ? limit : (size_t)n;
        FR_TRUE(best.list.count == want, "%zu kept of %d, at most %zu", best.list.count, n,
                limit);
        for (size_t i = 0; i < want; i++)
            assert_true(best.list.items[i].index == plan[i].index);
        FR_TRUE(limit == 0 || most <= 2 * limit + 64, "%zu held for %zu", most, limit);
        free(best.list.items);
    }
}

static void of_a_method_the_best(void **state) {
    struct fr_ranked of[FR_SEARCH_METHODS];
    struct fr_ranked plan[40];
    uint64_t dice = 521288629362436069u;
    (void)state;
    for (int round = 0; round < 300; round++) {
        int n = 1 + (int)draw(&dice, 40), none = (int)draw(&dice, 40);
        const struct fr_ranked *want = NULL;
        fr_ranked_begin(of, FR_SEARCH_METHODS);
        for (int m = 0; m < FR_SEARCH_METHODS; m++) assert_true(of[m].index == -1);
        draw_plans(&dice, plan, n, 5);
        if (none < n) plan[none] = (struct fr_ranked){-1, 0, -1}; /* no plan */
        for (int i = 0; i < n; i++) {
            fr_ranked_keep(&of[1], &plan[i]);
            if (plan[i].index >= 0 && (!want || before(&plan[i], want))) want = &plan[i];
        }
        assert_true(of[1].index == (want ? want->index : -1));
        assert_true(of[0].index == -1);
    }
}

/* Those that no other is as good as in all four, of equals the first; in order of time. */
static void the_front_is_what_nobody_dominates(void **state) {
    static struct fr_front_point point[200];
    uint64_t dice = 123456789123456789u;
    int kept = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        int n = (int)draw(&dice, 200), found = 0;
        uint64_t values = 1 + draw(&dice, 60);
        struct fr_front front = {0};
        for (int i = 0; i < n; i++) {
            point[i] = (struct fr_front_point){
                (double)draw(&dice, values), (double)draw(&dice, values),
                (double)draw(&dice, values), (double)draw(&dice, 2), i};
            assert_true(fr_front_keep(&front, &point[i]));
        }
        fr_front_sort(&front);
        for (int i = 0; i < n; i++) {
            bool dominated = false, there = false;
            for (int k = 0; k < n; k++) {
                const struct fr_front_point *a = &point[k], *b = &point[i];
                bool no_worse = a->time_s <= b->time_s && a->energy_J <= b->energy_J &&
                                a->memory_B <= b->memory_B && a->lossy <= b->lossy;
                bool same = a->time_s == b->time_s && a->energy_J == b->energy_J &&
                            a->memory_B == b->memory_B && a->lossy == b->lossy;
                dominated = dominated || (no_worse && (!same || k < i));
                assert_true(fr_front_as_good(a, b) == no_worse);
            }
            for (size_t k = 0; k < front.count; k++) there = there || front.items[k].index == i;
            FR_TRUE(there != dominated, "round %d, %d of %d", round, i, n);
            found += there;
        }
        assert_int_equal(front.count, found);
        for (size_t i = 1; i < front.count; i++) {
            struct fr_ranked a = {front.items[i - 1].time_s, front.items[i - 1].lossy,
                                  front.items[i - 1].index},
                             b = {front.items[i].time_s, front.items[i].lossy,
                                  front.items[i].index};
            assert_true(before(&a, &b));
        }
        kept += found;
        free(front.items);
    }
    FR_TRUE(kept > 1000, "%d", kept);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lossiness_is_of_all_three),
        cmocka_unit_test(the_order_is_by_value_loss_and_number),
        cmocka_unit_test(the_best_are_the_best_of_all),
        cmocka_unit_test(of_a_method_the_best),
        cmocka_unit_test(the_front_is_what_nobody_dominates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
