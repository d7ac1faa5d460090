/* forerun compare --runtime A --runtime B: what it prints, and that every number of it is that of the other verbs. */
#include <jansson.h>

#include "tests/app/command.h"

#define PAIR "--runtime nemo-24.03 --runtime megatron-bridge-26.04 "
#define PLAN "--cluster dgx-h100 --model mixtral-8x7b --set tp=1 --set dp=8 --set ep=8 "

static void tables(void **state) {
    (void)state;
    fr_test_expect("forerun compare " PAIR PLAN "--set cluster.device.memory=0B --all", 0,
                   "iteration     tokens/s     energy     memory       gain\n", NULL);
    fr_test_expect("forerun compare " PAIR PLAN "--set cluster.device.memory=0B --all", 0,
                   "from nemo-24.03 to megatron-bridge-26.04, one fact after the other in this "
                   "order\n",
                   NULL);
    fr_test_expect("forerun compare " PAIR "--cluster dgx-h100 --cluster dgx-h200 --model "
                   "llama-3-8b --ranks 8 --set tp=8 --tokens 1T --all",
                   0, "cluster    dgx-h200", NULL);
}

static void refused(void **state) {
    static const char *const rows[][2] = {
        {"--cluster dgx-h100", "--model"},
        {PLAN "--vary micro_batch=1,2", "--vary is of a search"},
        {PLAN "--ranks 16 --vary runtime=papers-2019", "runtime"},
        {PLAN "--set runtime=papers-2019", "runtime"},
        {PLAN "--runtime - --cluster -", "only one input can come from standard input"},
        {PLAN "--runtime nemo-24.3", "nemo-24.03"},
        {PLAN "samples.jsonl", "beside --runtime"},
        {"--plan {\"tp\":2,\"dp\":3} --ranks 8 --cluster dgx-h100 --model llama-3-8b",
         "has 6 ranks"},
        {"--plan {\"tp\":3} --ranks 8 --cluster dgx-h100 --model llama-3-8b",
         "cannot be divided"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[500];
        snprintf(line, sizeof line, "forerun compare " PAIR "%s", rows[i][0]);
        struct output o = fr_test_run(line);
        FR_TRUE((o.exit_code == 2 || o.exit_code == 3) && strstr(o.err, rows[i][1]) && !*o.out,
                "%s: %d, %s", line, o.exit_code, o.err);
        fr_test_output_free(&o);
    }
}

static double number(const json_t *object, const char *key) {
    const json_t *member = json_object_get(object, key);
    if (!json_is_number(member)) fail_msg("no number %s", key);
    return json_number_value(member);
}

static json_t *document(const char *line) {
    struct output o = fr_test_run(line);
    json_t *root = json_loads(o.out, 0, NULL);
    if (!root) fail_msg("%s: %s", line, o.err);
    fr_test_output_free(&o);
    return root;
}

/* The outcome of a row is the document that predict prints, except for the facts of the run. */
static void one_plan_one_price(void **state) {
    static const char *const runtimes[] = {"nemo-24.03", "megatron-bridge-26.04"};
    (void)state;
    json_t *root = document("forerun compare " PAIR PLAN "--json");
    json_t *rows =
        json_object_get(json_array_get(json_object_get(root, "comparisons"), 0), "rows");
    assert_int_equal(json_array_size(rows), 2);
    for (size_t i = 0; i < 2; i++) {
        char line[400];
        snprintf(line, sizeof line, "forerun predict " PLAN "--set runtime=%s --json",
                 runtimes[i]);
        json_t *alone = document(line), *row = json_array_get(rows, i);
        json_object_del(alone, "memory_moments"); /* of predict alone */
        FR_TRUE(json_equal(alone, json_object_get(row, "outcome")), "%s", line);
        assert_true(number(alone, "iteration_time_s") == number(row, "time_s"));
        json_decref(alone);
    }
    const json_t *facts = json_object_get(json_array_get(rows, 1), "facts");
    double at_s = number(json_array_get(rows, 0), "time_s");
    for (size_t i = 0; i < json_array_size(facts); i++) {
        const json_t *fact = json_array_get(facts, i);
        assert_true(number(fact, "before_s") == at_s);
        at_s = number(fact, "after_s");
        assert_true(number(fact, "worth_s") == number(fact, "before_s") - at_s);
    }
    assert_true(at_s == number(json_array_get(rows, 1), "time_s"));
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(refused),
                                       cmocka_unit_test(one_plan_one_price)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
