/* forerun tune and score, as a user meets them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/app/command.h"

static const char runs[] =
    "id,model,model.dtype,ranks,plan.tp,plan.micro_batch,measured_s,group\n"
    "a,gpt-2.5b,fp16,8,8,4,20,g\nb,gpt-2.5b,fp16,8,4,4,16,g\n"
    "c,gpt-2.5b,fp16,8,2,4,15,g\n";

static void a_log_tunes_and_scores(void **state) {
    (void)state;
    assert_int_equal(fr_file_write("/tmp/forerun_runs.csv", runs, sizeof runs - 1, NULL),
                     FR_OK);
    fr_test_expect("forerun tune --cluster dgx-a100 --runs /tmp/forerun_runs.csv --out "
                   "/tmp/forerun_tuned.json",
                   0, "3 rows", NULL);
    /* the file written is a cluster file, and names the rows it comes from */
    fr_test_expect(
        "forerun predict --cluster /tmp/forerun_tuned.json --model gpt-2.5b --set tp=8", 0,
        "iteration time", NULL);
    fr_test_expect("forerun tune --cluster dgx-a100 --runs /tmp/forerun_runs.csv --json", 0,
                   "forerun/tune/1", NULL);
    fr_test_expect(
        "forerun score --cluster /tmp/forerun_tuned.json --runs /tmp/forerun_runs.csv", 0,
        "mape", NULL);
    fr_test_expect("forerun score --cluster dgx-a100 --runs /tmp/forerun_runs.csv --by plan.tp "
                   "--json",
                   0, "\"regret_worst\"", NULL);
    remove("/tmp/forerun_runs.csv");
    remove("/tmp/forerun_tuned.json");
}

/* What import writes, import reads: a second pass changes no byte; and the scores are the same. */
static void imported_runs_are_runs(void **state) {
    char *first = NULL, *second = NULL;
    size_t a = 0, b = 0;
    (void)state;
    assert_int_equal(fr_file_write("/tmp/forerun_import.csv", runs, sizeof runs - 1, NULL),
                     FR_OK);
    fr_test_expect("forerun import runs /tmp/forerun_import.csv -o /tmp/forerun_import1.csv", 0,
                   NULL, "3 runs from 1 file");
    fr_test_expect("forerun import runs /tmp/forerun_import1.csv -o /tmp/forerun_import2.csv",
                   0, NULL, "3 runs");
    assert_int_equal(fr_file_read("/tmp/forerun_import1.csv", 1 << 20, &first, &a, NULL),
                     FR_OK);
    assert_int_equal(fr_file_read("/tmp/forerun_import2.csv", 1 << 20, &second, &b, NULL),
                     FR_OK);
    assert_int_equal(a, b);
    assert_string_equal(first, second);
    free(first);
    free(second);
    fr_test_expect("forerun import runs", 2, NULL, "no files given");
    fr_test_expect("forerun import run /tmp/forerun_import.csv", 2, NULL,
                   "did you mean \"runs\"");
    remove("/tmp/forerun_import.csv");
    remove("/tmp/forerun_import1.csv");
    remove("/tmp/forerun_import2.csv");
}

static void answers_say_how_sure_they_are(void **state) {
    (void)state;
    fr_test_expect("forerun predict --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--set tp=8 --explain",
                   0, "what would change it", NULL);
    fr_test_expect("forerun predict --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--set tp=8 --json",
                   0, "\"iteration_time_high_s\"", NULL);
    fr_test_expect("forerun search --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--ranks 8 --vary tp=1,2,4,8 --json",
                   0, "\"probability_best\"", NULL);
    fr_test_expect("forerun search --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--ranks 8 --vary tp=1,2,4,8 --explain",
                   0, "why the next ones lose", NULL);
    fr_test_expect("forerun search --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--ranks 8 --vary tp=1,2,4,8 --explain --json",
                   0, "\"overtakes_if\"", NULL);
}

static void faults_are_told(void **state) {
    (void)state;
    fr_test_expect("forerun tune --cluster dgx-a100", 2, NULL, "--runs is required");
    fr_test_expect("forerun tune --cluster dgx-a100 --runs x.csv --hold fxed", 2, NULL,
                   "did you mean \"fixed\"");
    fr_test_expect("forerun score --cluster dgx-a100 --runs /nowhere.csv", 3, NULL,
                   "cannot be opened");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_tunes_and_scores),
        cmocka_unit_test(imported_runs_are_runs),
        cmocka_unit_test(answers_say_how_sure_they_are),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
