/* Messages as if no two shared a link: a lower bound of those that do, and the same where none would have. */
#include <math.h>

#include "models/outcome/messages/earliest.h"
#include "models/outcome/messages/unshared.h"
#include "models/outcome/recurrence.h"
#include "tests/slow_links.h"

/* The time of a run; *is_bound: only at least that. */
static double run_s(const struct fr_pipeline *p, bool bound, bool *is_bound) {
    struct fr_pipeline_times times = {.bound = bound};
    struct fr_error err = {0};
    if (fr_pipeline_run(p, FR_WITH_ALL, &times, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    *is_bound = times.is_bound;
    return times.makespan_s;
}

static double alone_s(const struct fr_pipeline *p) {
    struct fr_pipeline alone = *p;
    bool is_bound;
    alone.lines = NULL;
    return run_s(&alone, false, &is_bound);
}

/* Alone <= unshared <= shared; and the last two are the same to the last bit where it is no bound. */
static void unshared_bounds_shared(void **state) {
    uint64_t dice = 0x9e3779b97f4a7c15u;
    int bounds = 0, exact = 0, tighter = 0, slower = 0;
    (void)state;
    for (int k = fr_sample(8000, 800); k > 0; k--) {
        struct fr_job job;
        struct fr_pipeline p = {0};
        struct fr_error err = {0};
        char stated[SLOW_SETS * SLOW_SET];
        uint32_t extrapolated;
        bool is_bound, still;
        slow_job(&dice, &job, stated);
        if (fr_pipeline_check(&job, &job.plan) == 0) {
            if (fr_pipeline_make(&job, &job.plan, &p, &extrapolated, &err) != FR_OK)
                fail_msg("%s: %s", err.where, err.detail);
            double unshared_s = run_s(&p, true, &is_bound), shared_s = run_s(&p, false, &still),
                   least_s = alone_s(&p);
            assert_false(still);
            FR_TRUE(least_s <= unshared_s * (1 + 1e-12) && unshared_s <= shared_s * (1 + 1e-12),
                    "%s: alone %.17g s, unshared %.17g s, shared %.17g s", stated, least_s,
                    unshared_s, shared_s);
            FR_TRUE(is_bound || memcmp(&unshared_s, &shared_s, sizeof shared_s) == 0,
                    "%s: unshared %.17g s, shared %.17g s", stated, unshared_s, shared_s);
            bounds += is_bound;
            exact += p.lines && !is_bound;
            tighter += unshared_s > least_s * 1.01;
            slower += shared_s > unshared_s * 1.01;
            fr_pipeline_free(&p);
        }
        fr_job_free(&job);
    }
    FR_TRUE(bounds > 100 && exact > 50 && tighter > 50 && slower > 50, "%d, %d, %d, %d", bounds,
            exact, tighter, slower);
}

/* Two stages of one replica whose passes take no time but the first: flows that touch do not meet. */
static void flows_by_hand(void **state) {
    struct fr_message_flow a[] = {{0, 1}, {2, 3}}, b[] = {{1, 2}, {3, 4}}, c[] = {{2.5, 2.75}};
    const double apart_s[] = {0, 0};
    int32_t first_on[] = {0, 2}, on[] = {0, 1};
    struct fr_path path[] = {{.from = 0}, {.from = 1}};
    struct fr_pair_lines lines = {
        .n = 2, .path = path, .links = {.n = 1}, .first_on = first_on, .on = on};
    struct fr_unshared_line line[] = {{.n = 2, .flow = a}, {.n = 2, .flow = b}};
    const struct fr_unshared s = {.lines = &lines, .line = line};
    (void)state;
    assert_false(fr_unshared_meet(&s, apart_s));
    line[1] = (struct fr_unshared_line){.n = 1, .flow = c};
    assert_true(fr_unshared_meet(&s, apart_s));
    c[0] = (struct fr_message_flow){2.75, 3.5};
    assert_true(fr_unshared_meet(&s, apart_s));
    c[0] = (struct fr_message_flow){3, 3.5};
    assert_false(fr_unshared_meet(&s, apart_s));
    c[0] = (struct fr_message_flow){2, 2}; /* which goes first is not known */
    assert_true(fr_unshared_meet(&s, apart_s));
}

/* Beside a look through all of them. */
static void earliest_is_the_least(void **state) {
    static const int32_t sizes[] = {1, 2, 8, 9, 63, 64, 65, 128, 500, 5000};
    uint64_t dice = 42;
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct fr_earliest s;
        assert_true(fr_earliest_make(sizes[k], &s));
        assert_true(isinf(fr_earliest_s(&s)));
        for (int change = 0; change < 500; change++) {
            double least = INFINITY, time_s = (double)fr_test_random(&dice, 1000);
            fr_earliest_set(&s, (int32_t)fr_test_random(&dice, (uint64_t)sizes[k]),
                            fr_test_random(&dice, 3) ? time_s : INFINITY);
            for (int32_t i = 0; i < sizes[k]; i++)
                least = s.time_s[i] < least ? s.time_s[i] : least;
            assert_true(!(fr_earliest_s(&s) < least) && !(least < fr_earliest_s(&s)));
        }
        fr_earliest_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(unshared_bounds_shared),
                                       cmocka_unit_test(flows_by_hand),
                                       cmocka_unit_test(earliest_is_the_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
