/* Written values are read back: laws of iterations, a calibration's own statements. */
#include <string.h>

#include "models/job/calibration.h"
#include "models/plan/iterations_law.h"
#include "models/plan/method.h"
#include "tests/job.h"
#include "tests/plan_values.h"

static double drawn(uint64_t *dice, double low, double high) {
    return low + (high - low) * (double)fr_test_random(dice, 1000) / 999;
}

static struct fr_iterations_law law_drawn(uint64_t *dice, int along) {
    bool share = along == FR_LAW_BACKWARD || along == FR_LAW_GRADIENT;
    struct fr_iterations_law law = {.along = (fr_law_along)along};
    law.from = share ? drawn(dice, 0, 0.5) : drawn(dice, 1, 64);
    law.to = share ? drawn(dice, 0.5, 1) : drawn(dice, 64, 4096);
    law.error = drawn(dice, 0, 2);
    if (share) law.slope = drawn(dice, -100, 100);
    if (along == FR_LAW_BATCH) law.critical_batch = drawn(dice, 0, 1e6);
    if (along != FR_LAW_GHOST) return law;
    int n = 0;
    while (fr_methods[n]) n++;
    law.method = fr_methods[fr_test_random(dice, (uint64_t)n)];
    law.iterations = drawn(dice, 1, 1e5);
    law.ghost_power = drawn(dice, -100, 100);
    law.tp_power = drawn(dice, -100, 100);
    law.tp_from = drawn(dice, 1, 8);
    law.tp_to = drawn(dice, 8, 4096);
    return law;
}

static void laws_of_iterations(void **state) {
    uint64_t dice = 4;
    (void)state;
    for (int round = 0; round < 400; round++) {
        const struct fr_iterations_law law = law_drawn(&dice, round % 4);
        struct fr_iterations_law back = {0};
        struct fr_text text = {0};
        struct fr_json_writer w = {.text = &text};
        struct fr_json_document *document = NULL;
        struct fr_error err = {0};
        fr_json_begin_object(&w);
        fr_iterations_law_write(&w, &law);
        fr_json_end_object(&w);
        assert_int_equal(fr_json_parse(text.data, text.length, "law", &document, NULL), FR_OK);
        struct fr_json root = fr_json_root(document);
        if (fr_iterations_law_read(&root, &back, &err) != FR_OK)
            fail_msg("%s: %s in %s", err.where, err.detail, text.data);
        assert_int_equal(back.along, law.along);
        assert_ptr_equal(back.method, law.method);
        const double of[][2] = {{law.critical_batch, back.critical_batch},
                                {law.iterations, back.iterations},
                                {law.ghost_power, back.ghost_power},
                                {law.tp_power, back.tp_power},
                                {law.slope, back.slope},
                                {law.from, back.from},
                                {law.to, back.to},
                                {law.tp_from, back.tp_from},
                                {law.tp_to, back.tp_to},
                                {law.error, back.error}};
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) FR_NEAR(of[k][1], of[k][0], 1e-12);
        /* each member is needed, but the error */
        for (int64_t k = 0; fr_json_key_at(&root, k); k++) {
            const char *key = fr_json_key_at(&root, k), *at = strstr(text.data, key);
            struct fr_text less = {0};
            struct fr_json_document *without = NULL;
            fr_text_addf(&less, "%.*splan%s", (int)(at - text.data), text.data,
                         at + strlen(key));
            assert_int_equal(fr_json_parse(less.data, less.length, "law", &without, NULL),
                             FR_OK);
            struct fr_json other = fr_json_root(without);
            FR_TRUE((fr_iterations_law_read(&other, &back, NULL) == FR_OK) ==
                        (strcmp(key, "error") == 0),
                    "without %s", key);
            fr_json_free(without);
            fr_text_free(&less);
        }
        fr_json_free(document);
        fr_text_free(&text);
    }
}

/* The member of an answer; nothing where no verdict was stated. */
static void what_a_calibration_said(void **state) {
    static const struct fr_calibration calibrations[] = {
        {.reason = "nobody asked", .held_out = 0.5},
        {.verdict = "PASS", .variation = 0.01},
        {.verdict = "WARN", .reason = "one", .held_out = 0.25},
        {.verdict = "FAIL", .reason = "a b", .held_out = 1, .variation = 0.125}};
    static const char *const tells[] = {"", "from a calibration that passed",
                                        "from a calibration that passed with a warning: one",
                                        "from a calibration that failed: a b"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct fr_text text = {0}, stated = {0};
        struct fr_json_writer w = {.text = &text};
        struct fr_json_document *document = NULL;
        double held_out = -1, variation = -1;
        fr_json_begin_object(&w);
        fr_calibration_put(&calibrations[k], &w);
        fr_json_end_object(&w);
        fr_calibration_tell(&calibrations[k], &stated);
        assert_string_equal(fr_text_get(&stated), tells[k]);
        assert_int_equal(fr_json_parse(text.data, text.length, "answer", &document, NULL),
                         FR_OK);
        struct fr_json root = fr_json_root(document),
                       member = fr_json_member(&root, "calibration");
        assert_int_equal(fr_json_present(&member), *calibrations[k].verdict != 0);
        if (*calibrations[k].verdict) {
            assert_string_equal(fr_json_text_at(&member, "verdict"), calibrations[k].verdict);
            const char *reason = fr_json_text_at(&member, "reason");
            assert_string_equal(reason ? reason : "", calibrations[k].reason);
            assert_int_equal(
                fr_json_get_number(&member, "held_out", true, 0, 9, &held_out, NULL), FR_OK);
            assert_int_equal(
                fr_json_get_number(&member, "variation", true, 0, 9, &variation, NULL), FR_OK);
            FR_NEAR(held_out + 1, calibrations[k].held_out + 1, 0);
            FR_NEAR(variation + 1, calibrations[k].variation + 1, 0);
        }
        fr_json_free(document);
        fr_text_free(&text);
        fr_text_free(&stated);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(laws_of_iterations),
                                       cmocka_unit_test(what_a_calibration_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
