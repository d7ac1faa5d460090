/* Results that fill a picture: many keys, far apart, or one point alone.  Nothing is cut, and every curve is seen. */
#include "tests/plots/figure_check.h"

/* A plan of many keys: titles are smaller, notes and labels have more lines, and nothing is cut. */
static void long_lines_are_whole(void **state) {
#define LONG_PLAN(k, time)                                                                     \
    "{\"plan\": {\"method\": \"phantom\", \"tp\": 4, \"dp\": 4, \"pp\": 8, \"ghost\": " #k     \
    ", \"schedule\": \"1f1b\", \"overlap\": \"gradient\", \"recompute\": \"full\", "           \
    "\"global_batch\": "                                                                       \
    "512, \"micro_batch\": " #k ", \"compression\": {\"backward\": {\"scope\": \"epilogue\", " \
    "\"rank\": 16}, \"embedding\": "                                                           \
    "\"fused\", \"gradient\": {\"stages\": 2, \"rank\": " #k                                   \
    "}}}, \"ranks\": 128, \"iteration_time_s\": " time                                         \
    ", \"iteration_energy_J\": 63300, \"break_even_iterations\": 1.4, \"breakdown_s\": "       \
    "{\"compute\": " time "}}"
    static const char search[] =
        "{\"schema\": \"forerun/search/1\", \"ranked_by\": \"iteration_time_s\", \"feasible\": "
        "231989, \"top\": [" LONG_PLAN(4, "2.5") "," LONG_PLAN(16, "2.6") "], \"pareto\": []}";
    static const char *const names[] = {"energy-time", "scaling", "break-even", "breakdown"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        draws(names[i], search, "long.svg");
        char *svg = read_text("long.svg");
        if (strstr(svg, "\xe2\x80\xa6")) fail_msg("%s: something is cut", names[i]);
        holds(names[i], svg, "lists all)");
        unlink("long.svg");
        free(svg);
    }
}

/* A single point is no curve: the note says what would make one. */
static void one_rank_count_says_so(void **state) {
    static const char search[] = "{\"schema\": \"forerun/search/1\", \"ranked_by\": "
                                 "\"iteration_time_s\", \"top\": [{\"plan\": {\"method\": "
                                 "\"tensor\", \"tp\": 8, \"dp\": 1}, \"ranks\": 8, "
                                 "\"iteration_time_s\": 1}], \"pareto\": []}";
    (void)state;
    draws("scaling", search, "one.svg");
    char *svg = read_text("one.svg");
    holds("scaling", svg, "--ranks 8..64*2");
    unlink("one.svg");
    free(svg);
}

/* Break-evens of 1.4 and 0.02: on linear axes the steep line would press the other to the bottom. */
static void break_evens_far_apart_are_on_logarithmic_axes(void **state) {
#define LOSSY(at)                                                                              \
    "{\"plan\": {\"method\": \"phantom\", \"tp\": 8, \"dp\": 1, \"ghost\": 4}, \"ranks\": 8, " \
    "\"iteration_time_s\": 1, \"break_even_iterations\": " at "}"
    static const char *const lowest[] = {"0.02", "1.2"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fr_text json = {0};
        struct fr_error err = {0};
        struct fr_figure_options o = {.output = "apart.svg", .keep_script = true};
        fr_text_addf(&json,
                     "{\"schema\": \"forerun/search/1\", \"ranked_by\": \"iteration_time_s\", "
                     "\"top\": [" LOSSY("1.4") "," LOSSY("%s") "], \"pareto\": []}",
                     lowest[i]);
        if (draw_text("break-even", json.data, "apart.json", &o, &err) != FR_OK)
            fail_msg("%s", err.detail);
        char *script = read_text("apart.gp");
        assert_int_equal(strstr(script, "set logscale y") != NULL, i == 0);
        assert_int_equal(system("rm apart.svg apart.gp apart.dat"), 0);
        free(script);
        fr_text_free(&json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_lines_are_whole),
        cmocka_unit_test(one_rank_count_says_so),
        cmocka_unit_test(break_evens_far_apart_are_on_logarithmic_axes),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
