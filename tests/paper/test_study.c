/* A study is a description: its statements, and what is wrong told with its line. */
#include "studies/engine/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka.h"

static fr_status twice(struct fr_study_call *c) {
    return fr_say(c, 2 * fr_call_number(c, "x", 0, NAN));
}

static fr_status absent(struct fr_study_call *c) {
    return fr_fail(c->err, FR_ERR_IO, "data.csv", "not found");
}

static fr_status priced(struct fr_study_call *c) {
    struct fr_outcome out = {.time_s = fr_call_number(c, "s", 0, 1), .low_s = 1, .high_s = 9};
    out.part_s[FR_PART_TP_COMM] = 3;
    return fr_say_outcome(c, &out, NULL);
}

static const struct fr_study_function functions[] = {
    {"twice", twice}, {"absent", absent}, {"priced", priced}, {NULL, NULL}};

static fr_status run(const char *text, struct fr_reproduction *r, struct fr_error *err) {
    const struct fr_study_text study = {"mine", text, functions};
    *r = (struct fr_reproduction){0};
    return fr_study_run(&study, NULL, r, err);
}

static void statements(void **state) {
    (void)state;
    static const char text[] =
        "table a b: 1 10\n  2 20\n"
        "let sum = 0\n"
        "for i from 0 to rows - 1\n"
        "for k in 1, 3\n"
        "let sum = sum + a[i] * b[i] * k\n"
        "end\n"
        "end\n"
        "predicted sum/{rows} = sum; published 200; within 0.01; unit J; "
        "note of {rows} rows; all\n"
        "when sum > 1000\n"
        "point large = 1\n"
        "else\n"
        "point small = twice(x=4); unit s\n"
        "end\n"
        "let o = priced(5)\n"
        "fitted time = o.time_s; low o.low_s; high o.high_s\n"
        "fitted part = priced(5).tp_comm + fact(o, 'tp_comm'); holds 1\n"
        "not_explained open = 1; published 1; holds nan\n"
        "part\n"
        "ordering before = 1\n"
        "do absent()\n"
        "ordering after = 1\n"
        "end\n"
        "for n from 4 to 20 times 2\n"
        "ordering n/{n} = n < 16; note {n / 3:%.2f}\n"
        "end\n";
    static const struct {
        const char *id;
        double ours;
        bool judged, holds;
    } want[] = {{"sum/2", 200, true, true},
                {"small", 8, false, false},
                {"time", 5, false, false},
                {"part", 6, true, true},
                {"open", 1, false, false},
                {"before", 1, true, true},
                {"skipped/data.csv", NAN, false, false},
                {"n/4", 1, true, true},
                {"n/8", 1, true, true},
                {"n/16", 0, true, false}};
    struct fr_reproduction r;
    struct fr_error err = {0};
    if (run(text, &r, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_int_equal(r.count, sizeof want / sizeof *want);
    for (size_t i = 0; i < r.count; i++) {
        const struct fr_reproduce_row *row = &r.rows[i];
        assert_string_equal(row->id, want[i].id);
        FR_TRUE(row->ours == want[i].ours || isnan(want[i].ours), "%s: %g", row->id, row->ours);
        FR_TRUE(row->judged == want[i].judged && row->holds == want[i].holds, "%s", row->id);
    }
    assert_string_equal(r.rows[0].note, "of 2 rows; all");
    assert_string_equal(r.rows[0].unit, "J");
    assert_true(r.rows[1].detail && r.rows[2].low == 1 && r.rows[2].high == 9);
    assert_string_equal(r.rows[7].note, "1.33");
    free(r.rows);
}

static void what_is_wrong_is_told(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"let a = 1\nlet b = c", "study mine:2", "nothing is called \"c\""},
        {"predict x = 1", "study mine:1", "is no statement"},
        {"fitted x", "study mine:1", "expected ID = VALUE"},
        {"fitted x = 1; units s", "study mine:1", "expected published"},
        {"for i from 1 to 3 step 0\nend", "study mine:1", "does not end"},
        {"for i in 1, 2\nlet a = 1", "study mine:1", "has no end"},
        {"table a b: 1 2 3", "study mine:1", "3 cells in 2 columns"},
        {"let r = 'sure'\nrole r x = 1", "study mine:2", "\"sure\" is no role"},
        {"for i in 1, 2\nwhen i\nlet a = sqrt(\nend\nend", "study mine:3", "expected a value"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_reproduction r;
        struct fr_error err = {0};
        assert_int_equal(run(rows[i][0], &r, &err), FR_ERR_INPUT);
        FR_TRUE(strcmp(err.where, rows[i][1]) == 0, "%s: %s", rows[i][0], err.where);
        FR_TRUE(strstr(err.detail, rows[i][2]) != NULL, "got \"%s\"", err.detail);
        free(r.rows);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements),
                                       cmocka_unit_test(what_is_wrong_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
