/* Labels of figures over generated results: equal for equal plans alone, with every key and what is
 * varied of model and cluster. */
#include <stdlib.h>

#include "plots/results.h"
#include "tests/cmocka.h"
#include "tests/plan_values.h"

enum { RESULTS = 6, ROUNDS = 1000 };

static void add_outcome(struct fr_json_writer *w, int i, uint64_t *dice) {
    struct fr_json_document *document = NULL;
    struct fr_plan plan;
    struct fr_plan_lists lists;
    assert_int_equal(fr_test_plan_document(dice, 12, &document), 0);
    assert_int_equal(fr_plan_read(document, &plan, &lists, NULL), FR_OK);
    fr_json_begin_object(w);
    fr_json_key(w, "plan");
    fr_plan_write(w, &plan);
    if (fr_test_random(dice, 2)) {
        fr_json_add_object(w, "varied");
        fr_json_add_string(w, "model.sequence", fr_test_random(dice, 2) ? "2048" : "4096");
        fr_json_end_object(w);
    }
    fr_json_add_integer(w, "ranks", 8);
    fr_json_add_number(w, "iteration_time_s", 1 + i);
    fr_json_end_object(w);
    fr_plan_lists_free(&lists);
    fr_json_free(document);
}

static void read_generated(uint64_t *dice, struct fr_results *results) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/search/1");
    fr_json_add_string(&w, "ranked_by", "iteration_time_s");
    fr_json_add_array(&w, "top");
    for (int i = 0; i < RESULTS; i++) add_outcome(&w, i, dice);
    fr_json_end_array(&w);
    fr_json_add_array(&w, "pareto");
    fr_json_end_array(&w);
    fr_json_end_object(&w);
    assert_int_equal(fr_json_parse(fr_text_get(&text), text.length, "r", &document, &err),
                     FR_OK);
    struct fr_json root = fr_json_root(document);
    if (fr_results_read(&root, 1, results, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    fr_json_free(document);
    fr_text_free(&text);
}

static void equal_labels_for_equal_plans(void **state) {
    (void)state;
    uint64_t dice = 6364136223846793005u;
    int differ = 0;
    for (int n = 0; n < ROUNDS; n++) {
        struct fr_results r;
        read_generated(&dice, &r);
        assert_int_equal(r.count, RESULTS);
        for (int i = 0; i < RESULTS; i++)
            for (int j = 0; j < i; j++) {
                char a[FR_RESULT_LABEL], b[FR_RESULT_LABEL], line_a[FR_PLAN_LINE],
                    line_b[FR_PLAN_LINE];
                fr_result_label(&r, &r.items[i], a, sizeof a);
                fr_result_label(&r, &r.items[j], b, sizeof b);
                bool same =
                    strcmp(fr_plan_line(&r.items[i].plan, 0, line_a, sizeof line_a),
                           fr_plan_line(&r.items[j].plan, 0, line_b, sizeof line_b)) == 0 &&
                    strcmp(r.items[i].varied, r.items[j].varied) == 0;
                FR_TRUE(same == (strcmp(a, b) == 0), "%s; %s; %s; %s", a, b, line_a, line_b);
                differ += !same;
            }
        fr_results_free(&r);
    }
    assert_true(differ > ROUNDS);
}

/* A short word of a plan's line is explained where some line has it, and nowhere else. */
static void short_words_are_explained(void **state) {
    static const char *const words[] = {"CB", "FE", "SC"};
    uint64_t dice = 88172645463325252u;
    int with = 0, without = 0;
    (void)state;
    for (int n = 0; n < 60; n++) {
        struct fr_results r;
        struct fr_picture p;
        read_generated(&dice, &r);
        fr_picture_begin(&p, 800, 600);
        fr_results_footer(&r, &p, false);
        for (int k = 0; k < 3; k++) {
            char stated[8], explained[8], line[FR_PLAN_LINE];
            bool any = false;
            snprintf(stated, sizeof stated, ", %s", words[k]);
            snprintf(explained, sizeof explained, "%s: ", words[k]);
            for (size_t i = 0; i < r.count; i++)
                any =
                    any || strstr(fr_plan_line(&r.items[i].plan, 0, line, sizeof line), stated);
            FR_TRUE(any == (strstr(fr_text_get(&p.note), explained) != NULL), "%s: \"%s\"",
                    words[k], fr_text_get(&p.note));
            *(any ? &with : &without) += 1;
        }
        fr_text_free(&p.title);
        fr_text_free(&p.note);
        fr_text_free(&p.footer);
        fr_text_free(&p.script);
        fr_results_free(&r);
    }
    FR_TRUE(with > 20 && without > 20, "%d, %d", with, without);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_labels_for_equal_plans),
                                       cmocka_unit_test(short_words_are_explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
