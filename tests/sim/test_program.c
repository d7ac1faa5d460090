/* A program's tasks, what they wait for, and what holds it up. */
#include <stdlib.h>

#include "sim/engine.h"
#include "tests/cmocka.h"

static void waits_are_kept_once_each(void **state) {
    struct fr_program p = {.n_ranks = 1};
    const struct fr_task task = {.class_id = 3, .rank = 2, .peer = -1, .micro = 7, .chunk = 1};
    (void)state;
    for (int32_t k = 0; k < 2500; k++) {
        assert_int_equal(fr_program_add(&p, &task), k);
        for (int w = 0; w < FR_TASK_WAITS_MAX; w++) assert_int_equal(p.tasks[k].after[w], -1);
    }
    assert_int_equal(p.n_tasks, 2500);
    assert_true(p.tasks[1024].class_id == 3 && p.tasks[1024].micro == 7 &&
                p.tasks[0].rank == 2);
    fr_program_wait(&p, 5, 0);
    fr_program_wait(&p, 5, -1);
    fr_program_wait(&p, 5, 1);
    fr_program_wait(&p, 5, 0);
    fr_program_wait(&p, 5, 4);
    assert_true(p.tasks[5].after[0] == 0 && p.tasks[5].after[1] == 1 &&
                p.tasks[5].after[2] == 4);
    fr_program_wait(&p, 1, 0);
    assert_true(p.tasks[1].after[0] == 0 && p.tasks[1].after[1] == -1);
    fr_program_wait(&p, -1, 0); /* a task that could not be added */
    fr_program_free(&p);
    assert_true(p.n_tasks == 0 && !p.tasks);
}

static uint64_t chance(uint64_t *dice, uint64_t n) {
    *dice ^= *dice << 13, *dice ^= *dice >> 7, *dice ^= *dice << 17;
    return *dice % n;
}

/* By the longest way to it, asked for anew each time. */
static double way_s(const struct fr_program *p, const double *class_s, int64_t task) {
    double most_s = 0;
    for (int w = 0; w < FR_TASK_WAITS_MAX; w++)
        if (p->tasks[task].after[w] >= 0)
            most_s = fmax(most_s, way_s(p, class_s, p->tasks[task].after[w]));
    return most_s + class_s[p->tasks[task].class_id];
}

/* Of those in @p tasks the one that ends last, of equals the first. */
static int64_t last_of(const double *end_s, const int32_t *tasks, int n) {
    int64_t last = -1;
    for (int64_t t = 0; t < 1000; t++)
        for (int k = 0; k < n; k++)
            if (tasks[k] == t && (last < 0 || end_s[t] > end_s[last])) last = t;
    return last;
}

/* Random programs, many tasks of which take no time: ends are the longest ways, and the critical path goes back
 * from the last end by what ended last before it. */
static void ends_and_critical_paths(void **state) {
    enum { TASKS = 14, ROUNDS = 500 };
    static const double class_s[] = {0, 0, 1, 2.5};
    uint64_t dice = 88172645463325252u;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct fr_program p = {.n_ranks = 1, .n_classes = 4};
        double end_s[TASKS], most_s = 0;
        bool critical[TASKS], want[TASKS] = {false};
        int32_t all[TASKS];
        int n = 1 + (int)chance(&dice, TASKS);
        for (int32_t t = 0; t < n; t++) {
            const struct fr_task task = {
                .class_id = (int32_t)chance(&dice, 4), .peer = -1, .micro = -1};
            assert_int_equal(fr_program_add(&p, &task), t);
            for (uint64_t w = t ? chance(&dice, 4) : 0; w > 0; w--)
                fr_program_wait(&p, t, (int32_t)chance(&dice, (uint64_t)t));
            all[t] = t;
        }
        double last_s = fr_engine_run(&p, class_s, end_s);
        for (int t = 0; t < n; t++) {
            FR_NEAR(end_s[t], way_s(&p, class_s, t), 0);
            most_s = fmax(most_s, end_s[t]);
        }
        FR_NEAR(last_s, most_s, 0);
        fr_engine_critical(&p, end_s, critical);
        for (int64_t at = last_of(end_s, all, n); at >= 0;
             at = last_of(end_s, p.tasks[at].after, FR_TASK_WAITS_MAX))
            want[at] = true;
        for (int t = 0; t < n; t++)
            FR_TRUE(critical[t] == want[t], "round %d, task %d of %d", round, t, n);
        fr_program_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_are_kept_once_each),
                                       cmocka_unit_test(ends_and_critical_paths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
