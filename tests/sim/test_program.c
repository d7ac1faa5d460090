/* A program's tasks and what they wait for. */
#include "sim/program.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_are_kept_once_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
