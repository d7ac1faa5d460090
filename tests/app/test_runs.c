/* forerun tune and score, as a user meets them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
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
        "forerun predict --cluster /tmp/forerun_tuned.json --model gpt-2.5b --set tp=8 --all",
        0, "iteration time", NULL);
    fr_test_expect("forerun tune --cluster dgx-a100 --runs /tmp/forerun_runs.csv --json", 0,
                   "forerun/tune/1", NULL);
    fr_test_expect(
        "forerun score --cluster /tmp/forerun_tuned.json --runs /tmp/forerun_runs.csv --all", 0,
        "mape", NULL);
    fr_test_expect("forerun score --cluster dgx-a100 --runs /tmp/forerun_runs.csv --by plan.tp "
                   "--json",
                   0, "\"regret_worst\"", NULL);
    remove("/tmp/forerun_runs.csv");
    remove("/tmp/forerun_tuned.json");
}

/* Joules fit the power, beside the time; rows that do not state their meter are reported. */
static void joules_tune_the_power(void **state) {
    static const char metered[] =
        "id,model,model.dtype,ranks,plan.tp,plan.micro_batch,measured_s,measured_J,measured_"
        "at\n"
        "a,gpt-2.5b,bf16,8,8,4,20,64000,device\nb,gpt-2.5b,bf16,8,4,4,16,80000,plug\n"
        "c,gpt-2.5b,bf16,8,2,4,15,70000,\n";
    (void)state;
    assert_int_equal(
        fr_file_write("/tmp/forerun_metered.csv", metered, sizeof metered - 1, NULL), FR_OK);
    fr_test_expect("forerun tune --cluster dgx-h100 --runs /tmp/forerun_metered.csv --out "
                   "/tmp/forerun_metered.json",
                   0, "measured_J of 1 run left out", NULL);
    fr_test_expect("forerun tune --cluster dgx-h100 --runs /tmp/forerun_metered.csv", 0,
                   "1 at device, 1 at plug", NULL);
    fr_test_expect("forerun tune --cluster dgx-h100 --runs /tmp/forerun_metered.csv --hold "
                   "busy,hosts --json",
                   0, "\"held_out_error\"", NULL);
    fr_test_expect(
        "forerun tune --cluster dgx-h100 --runs /tmp/forerun_metered.csv --hold buzy", 2, NULL,
        "did you mean \"busy\"");
    fr_test_expect("forerun predict --cluster /tmp/forerun_metered.json --model gpt-2.5b --set "
                   "model.dtype=bf16 --set tp=8 --all",
                   0, "measured", NULL);
    fr_test_expect("forerun score --cluster /tmp/forerun_metered.json --runs "
                   "/tmp/forerun_metered.csv --all",
                   0, "mean power of these 2 runs", NULL);
    fr_test_expect("forerun score --cluster dgx-h100 --runs /tmp/forerun_metered.csv --json", 0,
                   "\"power_mape\"", NULL);
    fr_test_expect("forerun tune --cluster cori-knl --runs /tmp/forerun_metered.csv --set "
                   "cluster.device.gemm.bf16.peak=400TFLOP/s",
                   0, "states no power", NULL);
    remove("/tmp/forerun_metered.csv");
    remove("/tmp/forerun_metered.json");
}

/* Memory beside ours: a score for each way that it was counted, an interval of what allocators count. */
static void memory_is_scored_by_who_counted_it(void **state) {
    static const char counted[] =
        "id,model,model.dtype,ranks,plan.tp,measured_s,measured_memory_B,measured_memory_at\n"
        "a,gpt-2.5b,bf16,8,8,20,2e10,allocated\nb,gpt-2.5b,bf16,8,4,16,3e10,device\n"
        "c,gpt-2.5b,bf16,8,2,15,,\n";
    (void)state;
    assert_int_equal(
        fr_file_write("/tmp/forerun_counted.csv", counted, sizeof counted - 1, NULL), FR_OK);
    fr_test_expect("forerun score --cluster dgx-h100 --runs /tmp/forerun_counted.csv --all", 0,
                   "theirs as the allocator counted them", NULL);
    fr_test_expect("forerun score --cluster dgx-h100 --runs /tmp/forerun_counted.csv --all", 0,
                   "contexts and communicators too", NULL);
    fr_test_expect("forerun score --cluster dgx-h100 --runs /tmp/forerun_counted.csv --json", 0,
                   "\"measured_memory_at\": \"device\"", NULL);
    remove("/tmp/forerun_counted.csv");
}

/* Runs that were metered lie on the energy/time curve of a search; without a search there is none. */
static void metered_runs_lie_on_the_frontier(void **state) {
    static const char metered[] =
        "model,ranks,measured_s,measured_J\ngpt-2.5b,8,20,64000\ngpt-2.5b,8,22,60000\n";
    static const char search[] =
        "{\"schema\": \"forerun/search/1\", \"max_slowdown\": {\"curve\": {\"plan\": \"a\", "
        "\"points\": [{\"iteration_time_s\": 20, \"iteration_energy_J\": 65000, "
        "\"iteration_energy_low_J\": 60000, \"iteration_energy_high_J\": 70000}]}}}";
    char *picture = NULL;
    size_t length = 0;
    (void)state;
    assert_int_equal(
        fr_file_write("/tmp/forerun_points.csv", metered, sizeof metered - 1, NULL), FR_OK);
    assert_int_equal(fr_file_write("/tmp/forerun_curve.json", search, sizeof search - 1, NULL),
                     FR_OK);
    fr_test_expect("forerun plot frontier /tmp/forerun_curve.json /tmp/forerun_points.csv -o "
                   "/tmp/forerun_curve.svg -f",
                   0, NULL, NULL);
    assert_int_equal(fr_file_read("/tmp/forerun_curve.svg", 1 << 20, &picture, &length, NULL),
                     FR_OK);
    FR_TRUE(strstr(picture, "measured") != NULL, "the picture has no measured points");
    free(picture);
    fr_test_expect("forerun plot frontier /tmp/forerun_points.csv -o /tmp/forerun_curve.svg -f", 2,
                   NULL, "measured runs alone");
    fr_test_expect("forerun plot pareto /tmp/forerun_points.csv -o /tmp/forerun_curve.svg -f", 3,
                   NULL, "is a runs.csv of measured runs; forerun plot takes");
    remove("/tmp/forerun_points.csv");
    remove("/tmp/forerun_curve.json");
    remove("/tmp/forerun_curve.svg");
}

/* A run's log and its node's power log make one row, completed on the line. */
static void power_logs_are_a_run(void **state) {
    static const char run[] =
        ":::MLLOG {\"time_ms\": 0, \"key\": \"global_batch_size\", \"value\": 64}\n"
        ":::MLLOG {\"time_ms\": 0, \"key\": \"run_start\", \"value\": null}\n"
        ":::MLLOG {\"time_ms\": 100000, \"key\": \"run_stop\", \"value\": null, "
        "\"metadata\": {\"samples_count\": 640}}\n";
    static const char node[] =
        ":::MLLOG {\"time_ms\": 50000, \"key\": \"power_reading\", \"value\": 7000}\n";
    (void)state;
    assert_int_equal(fr_file_write("/tmp/forerun_mllog.txt", run, sizeof run - 1, NULL), FR_OK);
    assert_int_equal(fr_file_write("/tmp/forerun_node_0.txt", node, sizeof node - 1, NULL),
                     FR_OK);
    fr_test_expect("forerun import mlperf-power /tmp/forerun_mllog.txt /tmp/forerun_node_0.txt "
                   "/tmp/forerun_node_0.txt --column model=gpt-2.5b --column ranks=16",
                   0, "64,10,140000,plug,gpt-2.5b,16", "2 nodes, 7000.0 W each");
    fr_test_expect("forerun import mlperf-power /tmp/forerun_mllog.txt", 2, NULL,
                   "power log of each node");
    fr_test_expect("forerun import mlperf-power /tmp/forerun_mllog.txt /tmp/forerun_mllog.txt "
                   "--column model=gpt-2.5b",
                   3, NULL, "none of its 0 readings");
    fr_test_expect("forerun import mlperf-power /tmp/forerun_mllog.txt /tmp/forerun_node_0.txt "
                   "--column model",
                   2, NULL, "KEY=VALUE");
    remove("/tmp/forerun_mllog.txt");
    remove("/tmp/forerun_node_0.txt");
}

/* A file that import writes, import reads: a second pass changes no byte, and the scores are the same. */
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
                   "--set tp=8 --explain --all",
                   0, "what would change it", NULL);
    fr_test_expect("forerun predict --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--set tp=8 --json",
                   0, "\"iteration_time_high_s\"", NULL);
    fr_test_expect("forerun search --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--ranks 8 --vary tp=1,2,4,8 --json",
                   0, "\"probability_best\"", NULL);
    fr_test_expect("forerun search --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--ranks 8 --vary tp=1,2,4,8 --explain --all",
                   0, "why the next ones lose", NULL);
    fr_test_expect("forerun search --cluster dgx-a100 --model gpt-2.5b --set model.dtype=fp16 "
                   "--ranks 8 --vary tp=1,2,4,8 --explain --json",
                   0, "\"overtakes_if\"", NULL);
}

/* The distance of the next ones is reported in the quantity that the search minimised: the ratio of the outcomes' own
 * keys. */
static void the_next_lose_in_what_was_ranked(void **state) {
    static const struct {
        const char *objective, *key;
    } rows[] = {{"total-time", "total_time_s"},
                {"total-energy", "total_energy_J"},
                {"time --per-iteration", "iteration_time_s"},
                {"energy --per-iteration", "iteration_energy_J"}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char command[300];
        snprintf(command, sizeof command,
                 "forerun search --cluster frontier --model ffn-16384 --ranks 64 --vary "
                 "method=tensor,phantom,grid --vary ghost=4,16 --explain --json --objective %s",
                 rows[k].objective);
        struct output o = fr_test_run(command);
        struct fr_json_document *document = NULL;
        struct fr_error err = {.status = FR_OK};
        if (fr_json_parse(o.out, strlen(o.out), "search", &document, &err) != FR_OK)
            fail_msg("%s: %s", o.err, err.detail);
        struct fr_json root = fr_json_root(document), top = fr_json_member(&root, "top"),
                       best = fr_json_element(&top, 0), why = fr_json_member(&root, "explain"),
                       misses = fr_json_member(&why, "near_misses");
        assert_true(fr_json_array_length(&misses) > 0);
        for (int64_t i = 0; i < fr_json_array_length(&misses); i++) {
            struct fr_json other = fr_json_element(&top, i + 1),
                           miss = fr_json_element(&misses, i);
            FR_NEAR(1 + fr_json_number_at(&miss, "behind"),
                    fr_json_number_at(&other, rows[k].key) /
                        fr_json_number_at(&best, rows[k].key),
                    1e-12);
        }
        fr_json_free(document);
        fr_test_output_free(&o);
    }
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
        cmocka_unit_test(memory_is_scored_by_who_counted_it),
        cmocka_unit_test(joules_tune_the_power),
        cmocka_unit_test(metered_runs_lie_on_the_frontier),
        cmocka_unit_test(power_logs_are_a_run),
        cmocka_unit_test(imported_runs_are_runs),
        cmocka_unit_test(answers_say_how_sure_they_are),
        cmocka_unit_test(the_next_lose_in_what_was_ranked),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
