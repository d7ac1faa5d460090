/* How surely plans fit, as a user meets it: in texts, documents, pages, and by --fit. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/app/command.h"

#define SMALL                                                                                  \
    "--cluster dgx-h100 --model llama-3-8b --ranks 8 --set global_batch=64 --vary tp=1,2,4,8 " \
    "--vary pp=1,2,4,8 --vary micro_batch=1,2 "

static double number_at(const struct fr_json *object, const char *key) {
    double number = fr_json_number_at(object, key);
    FR_TRUE(number == number, "no %s", key);
    return number;
}

/* The best plan of --json with @p more options. */
static void best_of(const char *more, double *fits, double *time_s) {
    char line[1024];
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    snprintf(line, sizeof line, "forerun search " SMALL "--json %s", more);
    struct output o = fr_test_run(line);
    if (fr_json_parse(o.out, strlen(o.out), "search", &document, &err) != FR_OK)
        fail_msg("%s: %s", line, err.detail);
    struct fr_json root = fr_json_root(document), best = fr_json_member(&root, "best");
    *fits = number_at(&best, "fits");
    *time_s = number_at(&best, "iteration_time_s");
    fr_json_free(document);
    fr_test_output_free(&o);
}

/* A device of each size: what is best is as sure as asked, and certainty costs time or nothing. */
static void levels(void **state) {
    (void)state;
    for (int size_GB = 32; size_GB <= 112; size_GB += 20) {
        static const double least[] = {0.05, 0.5, 0.95, 0.999};
        static const char *const words[] = {"any", "50%", "0.95", "0.999"};
        double before_s = 0;
        for (int i = 0; i < 4; i++) {
            char more[128];
            double fits, time_s;
            snprintf(more, sizeof more,
                     "--set cluster.device.memory=%dGB --per-iteration --fit %s", size_GB,
                     words[i]);
            best_of(more, &fits, &time_s);
            FR_TRUE(fits >= least[i] - 1e-12 && time_s >= before_s, "%d GB, %s: %g, %g s",
                    size_GB, words[i], fits, time_s);
            before_s = time_s;
        }
    }
}

static void is_stated(void **state) {
    (void)state;
    fr_test_expect("forerun search " SMALL " --all", 0, "fits with", NULL);
    fr_test_expect("forerun search " SMALL "--set cluster.device.memory=28GB --all", 4,
                   "no plan fits with 95 %; the surest:", NULL);
    fr_test_expect("forerun search " SMALL "--set cluster.device.memory=28GB --json", 4,
                   "\"surest\"", NULL);
    fr_test_expect("forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --all", 0,
                   "shown by the device", NULL);
    fr_test_expect("forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --all", 0,
                   "fits with over 99.9 %", NULL);
    fr_test_expect("forerun predict --cluster dgx-h100 --model llama-3-70b --set tp=2 --all", 4,
                   "fit with under 0.1 %", NULL);
    fr_test_expect("forerun predict --cluster dgx-h100 --model llama-3-8b --set tp=8 --set "
                   "cluster.device.memory=0B --all",
                   0, "needs", NULL);
    fr_test_expect("forerun predict --cluster tpu-v5p --model llama-3-8b --set tp=8 --all", 0,
                   "fits with over 99.9 %", NULL);
}

static void levels_are_checked(void **state) {
    static const char *const wrong[] = {"0", "1", "1.5", "-0.1", "some", "95"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[256];
        snprintf(line, sizeof line, "forerun search " SMALL "--fit %s", wrong[i]);
        fr_test_expect(line, 2, NULL, "--fit");
    }
}

/* Memory of runs stands beside what counts as theirs. */
static void runs_are_counted_as_they_say(void **state) {
    static const char runs[] =
        "id,model,ranks,plan.tp,plan.micro_batch,measured_s,measured_memory_B,"
        "measured_memory_at\n"
        "a,llama-3-8b,8,8,1,90,24e9,allocated\nb,llama-3-8b,8,8,1,90,24e9,reserved\n"
        "c,llama-3-8b,8,8,1,90,24e9,device\n";
    static const char *const keys[] = {"memory_peak_B", "memory_reserved_B", "memory_shown_B"};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_file_write("/tmp/forerun_counted.csv", runs, sizeof runs - 1, NULL),
                     FR_OK);
    struct output o =
        fr_test_run("forerun score --cluster dgx-h100 --runs /tmp/forerun_counted.csv --json");
    if (fr_json_parse(o.out, strlen(o.out), "score", &document, &err) != FR_OK)
        fail_msg("%s", err.detail);
    struct fr_json root = fr_json_root(document), rows = fr_json_member(&root, "rows");
    double before_B = 0;
    for (int i = 0; i < 3; i++) {
        struct fr_json row = fr_json_element(&rows, i);
        double memory_B = number_at(&row, "memory_B");
        assert_true(memory_B == number_at(&row, keys[i]) && memory_B > before_B);
        assert_true(number_at(&row, "memory_low_B") < memory_B &&
                    memory_B < number_at(&row, "memory_high_B"));
        assert_true(number_at(&row, "fits") > 0.99);
        before_B = memory_B;
    }
    fr_json_free(document);
    fr_test_output_free(&o);
    remove("/tmp/forerun_counted.csv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(is_stated),
        cmocka_unit_test(levels_are_checked),
        cmocka_unit_test(runs_are_counted_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
