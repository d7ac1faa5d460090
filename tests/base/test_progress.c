/* Checks the text of a progress line; off a terminal, as here, nothing is written. */
#include "base/progress.h"

#include <string.h>

#include "tests/cmocka.h"

static void says_share_and_time_left(void **state) {
    char line[80];
    (void)state;
    assert_string_equal(fr_progress_text("searching", 25, 100, 3, line, sizeof line),
                        "searching  25 %, 9 s left");
    assert_string_equal(fr_progress_text("searching", 1, 1000, 10, line, sizeof line),
                        "searching   0 %, 166 min left");
    assert_string_equal(fr_progress_text("searching", 0, 10, 2, line, sizeof line),
                        "searching ...");
    assert_string_equal(fr_progress_text("simulating", 8, 8, 4, line, sizeof line),
                        "simulating 100 %, 0 s left");
}

static void says_points_and_how_sure_they_are(void **state) {
    char line[120];
    (void)state;
    struct fr_progress_points p = {
        .visited = 312, .total = 1516, .reached = 201, .half_width = 0.02, .left_s = 185};
    assert_string_equal(fr_progress_points_text(&p, line, sizeof line),
                        "312 of 1,516 points, 2 % reached by 201, 3 min left");
    p = (struct fr_progress_points){.total = 4, .half_width = 0.005, .left_s = -3};
    assert_string_equal(fr_progress_points_text(&p, line, sizeof line),
                        "0 of 4 points, 0.5 % reached by 0, 0 s left");
}

static void counts(void **state) {
    struct fr_progress p;
    (void)state;
    fr_progress_begin(&p, "testing", 4);
    for (int i = 0; i < 4; i++) fr_progress_add(&p, 1);
    assert_int_equal(atomic_load(&p.done), 4);
    fr_progress_end(&p);
    assert_true(p.shown_s <= 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_share_and_time_left),
                                       cmocka_unit_test(says_points_and_how_sure_they_are),
                                       cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
