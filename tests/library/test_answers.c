/* Searches, simulations, explanations and placements are those of the program, byte for byte; a search
 * but for the time it took. */
#include <ctype.h>

#include "library/include/forerun.h"
#include "tests/app/command.h"

static void without_elapsed(char *text) {
    char *at = strstr(text, "\"elapsed_s\": ");
    if (at) memset(at + 13, ' ', strcspn(at + 13, ",\n"));
    for (char *from = text, *to = text; (*to = *from) != '\0'; from++)
        if (*from != ' ' || from == text || from[-1] != ' ') to++;
}

/* @p line of the program prints what @p result holds, and ends with the code @p status. */
static void equal(const char *line, forerun_status status, const forerun_result *result) {
    struct output o = fr_test_run(line);
    char *own = strdup(forerun_json(result));
    assert_non_null(own);
    without_elapsed(o.out);
    without_elapsed(own);
    if ((int)status != o.exit_code || strcmp(own, o.out) != 0)
        fail_msg("%s: status %d, exit code %d\n%.3000s\nwant\n%.3000s", line, (int)status,
                 o.exit_code, own, o.out);
    assert_true(strlen(own) > 100);
    free(own);
    fr_test_output_free(&o);
}

static forerun_job *load(const char *cluster, const char *model, const char *const *sets) {
    forerun_job *job = NULL;
    forerun_error error;
    if (forerun_load(cluster, model, NULL, sets, &job, &error)) fail_msg("%s", error.message);
    return job;
}

static void a_search(void **state) {
    static const char *const vary[] = {"method=tensor,phantom", "ghost=2,4,6,16", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = load("frontier", "ffn-16384", NULL);
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    o.ranks = "8,16,32,64,128,256";
    o.vary = vary;
    o.objective = "energy";
    forerun_status status = forerun_search(job, &o, &result, &error);
    equal("forerun search --json --cluster frontier --model ffn-16384 --ranks "
          "8,16,32,64,128,256 --vary method=tensor,phantom --vary ghost=2,4,6,16 --objective "
          "energy",
          status, result);
    assert_int_equal(forerun_count(result), 10);
    for (size_t i = 1; i < 10; i++)
        assert_true(forerun_outcome_at(result, i)->total_energy_J >=
                    forerun_outcome_at(result, i - 1)->total_energy_J);
    forerun_result_free(result);
    forerun_job_free(job);
}

/* Models and clusters are varied too; a plan that was found is a plan that can be asked about. */
static void a_search_of_inputs(void **state) {
    static const char *const vary[] = {"model.sequence=2048,4096", "tp=1..8*2", NULL};
    static const char *const sets[] = {"global_batch=64", NULL};
    static const char *const longer[] = {"model.sequence=4096", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = load("a100-hdr", "gpt-2.5b", sets), *best = NULL;
    forerun_result *result = NULL, *again = NULL;
    forerun_error error;
    (void)state;
    o.ranks = "16";
    o.vary = vary;
    o.top = 0;
    forerun_status status = forerun_search(job, &o, &result, &error);
    equal("forerun search --json --cluster a100-hdr --model gpt-2.5b --set global_batch=64 "
          "--ranks 16 --vary model.sequence=2048,4096 --vary tp=1..8*2 --top 0",
          status, result);
    const forerun_outcome *found = forerun_outcome_at(result, 0);
    for (size_t i = 0; i < forerun_count(result) && !strstr(found->plan, "4096");)
        found = forerun_outcome_at(result, ++i);
    assert_non_null(found);
    assert_int_equal(
        forerun_load("a100-hdr", "gpt-2.5b", found->plan_json, longer, &best, &error),
        FORERUN_OK);
    assert_int_equal(forerun_predict(best, &again, &error), FORERUN_OK);
    assert_true(forerun_outcome_at(again, 0)->time_s == found->time_s);
    forerun_result_free(result);
    forerun_result_free(again);
    forerun_job_free(job);
    forerun_job_free(best);
}

static void odds_are_the_documents(void **state) {
    static const char *const vary[] = {"tp=1..8*2", "pp=1,2", NULL};
    static const char *const sets[] = {"global_batch=128", "micro_batch=1", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = load("dgx-h100", "llama-3-8b", sets);
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    o.ranks = "32";
    o.vary = vary;
    o.explain = 1;
    o.threads = 3;
    forerun_status status = forerun_search(job, &o, &result, &error);
    equal("forerun search --json --cluster dgx-h100 --model llama-3-8b --set global_batch=128 "
          "--set micro_batch=1 --ranks 32 --vary tp=1..8*2 --vary pp=1,2 --explain --threads 1",
          status, result);
    const char *at = strstr(forerun_json(result), "\"probability_best\": ");
    const forerun_outcome *best = forerun_outcome_at(result, 0);
    assert_non_null(at);
    assert_true(strtod(at + strlen("\"probability_best\": "), NULL) == best->probability_best);
    assert_true(best->low_s < best->time_s && best->time_s < best->high_s);
    forerun_result_free(result);
    forerun_job_free(job);
}

static void nothing_feasible(void **state) {
    static const char *const sets[] = {"global_batch=128", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = load("dgx-h100", "llama-3-70b", sets);
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    o.ranks = "8";
    o.memory_limit_B = 1e9;
    forerun_status status = forerun_search(job, &o, &result, &error);
    equal("forerun search --json --cluster dgx-h100 --model llama-3-70b --set "
          "global_batch=128 --ranks 8 --memory-limit 1GB",
          status, result);
    assert_int_equal(status, FORERUN_INFEASIBLE);
    assert_int_equal(forerun_count(result), 0);
    assert_non_null(strstr(error.message, "GB"));
    forerun_result_free(result);
    forerun_job_free(job);
}

static void a_simulation(void **state) {
    static const char *const sets[] = {
        "tp=4", "pp=2", "dp=2", "micro_batch=8", "global_batch=32", NULL};
    forerun_simulate_options o = FORERUN_SIMULATE_DEFAULTS;
    forerun_job *job = load("a100-hdr", "gpt-2.5b", sets);
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    o.network = "shared";
    o.trace = "chrome";
    forerun_status status = forerun_simulate(job, &o, &result, &error);
    equal("forerun simulate --json --cluster a100-hdr --model gpt-2.5b --set tp=4 --set pp=2 "
          "--set dp=2 --set micro_batch=8 --set global_batch=32 --network shared",
          status, result);
    assert_true(forerun_outcome_at(result, 0)->time_s > 0);
    assert_true(isnan(forerun_outcome_at(result, 0)->low_s)); /* none is stated */
    assert_non_null(strstr(forerun_text(result), "\"traceEvents\""));
    forerun_result_free(result);
    status = forerun_explain(job, &result, &error);
    equal("forerun predict --json --explain --cluster a100-hdr --model gpt-2.5b --set tp=4 "
          "--set pp=2 --set dp=2 --set micro_batch=8 --set global_batch=32",
          status, result);
    assert_string_equal(forerun_text(result), "");
    forerun_result_free(result);
    forerun_job_free(job);
}

static void a_placement(void **state) {
    static const char *const sets[] = {"tp=8", "pp=4", "dp=4", NULL};
    forerun_place_options o = FORERUN_PLACE_DEFAULTS;
    forerun_job *job = load("a100-hdr", "gpt-8.3b", sets), *alone = load("lassen", NULL, NULL);
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    o.launcher = "slurm";
    forerun_status status = forerun_place(job, &o, &result, &error);
    equal("forerun place --json --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 "
          "--set dp=4",
          status, result);
    struct output lines =
        fr_test_run("forerun place --emit slurm --cluster a100-hdr --model gpt-8.3b --set tp=8 "
                    "--set pp=4 --set dp=4");
    assert_string_equal(forerun_text(result), lines.out);
    fr_test_output_free(&lines);
    forerun_result_free(result);
    forerun_job_free(job);
    o = (forerun_place_options)FORERUN_PLACE_DEFAULTS;
    o.ranks = 64;
    o.ways = 8;
    o.ranks_per_node = 2;
    status = forerun_place(alone, &o, &result, &error);
    equal("forerun place --json --cluster lassen --ranks 64 --ways 8 --ranks-per-node 2",
          status, result);
    forerun_result_free(result);
    o.ranks_per_node = 0; /* what was seated before has shrunk nothing of the job */
    status = forerun_place(alone, &o, &result, &error);
    equal("forerun place --json --cluster lassen --ranks 64 --ways 8", status, result);
    forerun_result_free(result);
    forerun_job_free(alone);
}

static void a_fit(void **state) {
    char folder[] = "/tmp/forerun-fit-XXXXXX", samples[64], cluster[64], line[512];
    const char *const paths[] = {samples, NULL};
    forerun_result *result = NULL, *predicted = NULL;
    forerun_job *job = NULL;
    forerun_error error;
    char *file = NULL;
    size_t length = 0;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(samples, sizeof samples, "%s/samples.jsonl", folder);
    snprintf(cluster, sizeof cluster, "%s/cluster.json", folder);
    snprintf(line, sizeof line, "%s/tests/golden/in/samples.sh >%s", FR_SOURCE_DIR, samples);
    assert_int_equal(system(line), 0);
    forerun_status status = forerun_fit(paths, NULL, &result, &error);
    snprintf(line, sizeof line, "forerun fit %s --json --out %s", samples, cluster);
    equal(line, status, result);
    assert_int_equal(fr_file_read(cluster, FR_FILE_MAX_B, &file, &length, NULL), FR_OK);
    assert_string_equal(forerun_text(result), file);
    assert_int_equal(forerun_load(forerun_text(result),
                                  "{\"kind\": \"ffn\", \"width\": 1024, \"layers\": 4, "
                                  "\"global_batch\": 64, \"dtype\": \"fp32\"}",
                                  NULL, NULL, &job, &error),
                     FORERUN_OK);
    assert_int_equal(forerun_predict(job, &predicted, &error), FORERUN_OK);
    assert_true(forerun_outcome_at(predicted, 0)->time_s > 0);
    snprintf(line, sizeof line, "rm -rf %s", folder);
    assert_int_equal(system(line), 0);
    free(file);
    forerun_result_free(result);
    forerun_result_free(predicted);
    forerun_job_free(job);
}

/* Nothing varied: the recipe of the program, of exact methods or of all. */
static void a_recipe(void **state) {
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = load("frontier", "ffn-16384", NULL);
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    o.ranks = "16";
    forerun_status status = forerun_search(job, &o, &result, &error);
    equal("forerun search --json --cluster frontier --model ffn-16384 --ranks 16", status,
          result);
    forerun_result_free(result);
    o.max_lossy = 0.5;
    status = forerun_search(job, &o, &result, &error);
    equal("forerun search --json --cluster frontier --model ffn-16384 --ranks 16 --max-lossy "
          "0.5",
          status, result);
    forerun_result_free(result);
    forerun_job_free(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_search),
                                       cmocka_unit_test(a_search_of_inputs),
                                       cmocka_unit_test(odds_are_the_documents),
                                       cmocka_unit_test(nothing_feasible),
                                       cmocka_unit_test(a_simulation),
                                       cmocka_unit_test(a_placement),
                                       cmocka_unit_test(a_fit),
                                       cmocka_unit_test(a_recipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
