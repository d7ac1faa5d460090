/* The library says what the program prints, byte for byte and number for number. */
#include "library/include/forerun.h"
#include "tests/app/command.h"

static const struct {
    const char *cluster, *model, *sets[8];
} cases[] = {
    {"frontier", "ffn-16384", {"method=phantom", "tp=8", "ghost=16"}},
    {"a100-hdr", "gpt-2.5b", {"tp=4", "pp=2", "dp=2", "micro_batch=8", "global_batch=32"}},
    {"dgx-h100", "mixtral-8x7b", {"tp=4", "dp=4", "ep=4", "micro_batch=1", "global_batch=64"}},
    {"cori-knl", "alexnet", {"method=grid", "dp=512", "layer_tp=best"}},
    {"frontier", "ffn-16384", {"method=grid", "tp=8", "global_batch=64", "layer_tp=[8]"}},
    {"lassen", "t5-large-mod", {"method=subgraph", "tp=4", "dp=2", "global_batch=8"}},
    {"dgx-h100", "llama-3-70b", {"tp=1", "global_batch=128", "cluster.device.memory=8GB"}},
};

static struct output program(int i) {
    char line[1024];
    int n = snprintf(line, sizeof line, "forerun predict --json --cluster %s --model %s",
                     cases[i].cluster, cases[i].model);
    for (int k = 0; cases[i].sets[k]; k++)
        n += snprintf(line + n, sizeof line - (size_t)n, " --set %s", cases[i].sets[k]);
    return fr_test_run(line);
}

static void bytes_are_the_programs(void **state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        forerun_job *job = NULL;
        forerun_result *result = NULL;
        forerun_error error;
        struct output o = program(i);
        assert_int_equal(
            forerun_load(cases[i].cluster, cases[i].model, NULL, cases[i].sets, &job, &error),
            FORERUN_OK);
        forerun_status status = forerun_predict(job, &result, &error);
        assert_int_equal((int)status, o.exit_code);
        assert_string_equal(forerun_json(result), o.out);
        fr_test_output_free(&o);
        forerun_result_free(result);
        forerun_job_free(job);
    }
}

/* Members of the struct are those of the document. */
static void numbers_are_the_documents(void **state) {
    (void)state;
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    char line[64];
    assert_int_equal(forerun_load("a100-hdr", "gpt-2.5b", NULL, cases[1].sets, &job, &error),
                     FORERUN_OK);
    assert_int_equal(forerun_predict(job, &result, &error), FORERUN_OK);
    assert_int_equal(forerun_count(result), 1);
    const forerun_outcome *o = forerun_outcome_at(result, 0);
    const struct {
        const char *key;
        double value;
    } members[] = {{"iteration_time_s", o->time_s},
                   {"iteration_time_low_s", o->low_s},
                   {"iteration_time_high_s", o->high_s},
                   {"peak", o->memory_B},
                   {"parameters", o->parameters},
                   {"bubble", o->bubble_s},
                   {"dp_comm", o->dp_comm_s}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        snprintf(line, sizeof line, "\"%s\": ", members[i].key);
        const char *at = strstr(forerun_json(result), line);
        assert_non_null(at);
        assert_true(strtod(at + strlen(line), NULL) == members[i].value);
    }
    double parts = o->compute_s + o->launch_s + o->fixed_s + o->tp_comm_s + o->cp_comm_s +
                   o->ep_comm_s + o->pp_comm_s + o->dp_comm_s + o->embedding_comm_s +
                   o->redistribution_s + o->compression_s + o->bubble_s;
    FR_NEAR(parts, o->time_s, 1e-12);
    assert_true(o->low_s < o->time_s && o->time_s < o->high_s);
    assert_null(forerun_outcome_at(result, 1));
    snprintf(line, sizeof line, "\"runtime\": \"%s\"", o->runtime);
    assert_non_null(strstr(forerun_json(result), line));
    forerun_result_free(result);
    forerun_job_free(job);
}

/* The software is an input as the others are. */
static void software_is_named(void **state) {
    (void)state;
    const char *const sets[] = {"runtime=nemo-24.03", "tp=8", NULL};
    forerun_job *job = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    assert_int_equal(forerun_load("dgx-h100", "llama-3-8b", NULL, sets, &job, &error),
                     FORERUN_OK);
    assert_int_equal(forerun_predict(job, &result, &error), FORERUN_OK);
    assert_string_equal(forerun_outcome_at(result, 0)->runtime, "nemo-24.03");
    forerun_result_free(result);
    assert_int_equal(forerun_set(job, "runtime=papers-2019", &error), FORERUN_OK);
    assert_int_equal(forerun_predict(job, &result, &error), FORERUN_OK);
    assert_string_equal(forerun_outcome_at(result, 0)->runtime, "papers-2019");
    assert_int_equal(forerun_set(job, "runtime=-", &error), FORERUN_USAGE);
    assert_int_equal(forerun_set(job, "runtime=nemo-24.04", &error), FORERUN_INPUT);
    assert_non_null(strstr(error.message, "nemo-24.03"));
    forerun_result_free(result);
    forerun_job_free(job);
}

/* A plan that was answered can be loaded again, and so can whole inputs as texts. */
static void a_plan_goes_round(void **state) {
    (void)state;
    forerun_job *job = NULL, *again = NULL;
    forerun_result *result = NULL, *second = NULL;
    forerun_error error;
    assert_int_equal(forerun_load("a100-hdr", "gpt-2.5b", NULL, cases[1].sets, &job, &error),
                     FORERUN_OK);
    assert_int_equal(forerun_predict(job, &result, &error), FORERUN_OK);
    const forerun_outcome *o = forerun_outcome_at(result, 0);
    assert_int_equal(forerun_load("a100-hdr", "gpt-2.5b", o->plan_json, NULL, &again, &error),
                     FORERUN_OK);
    assert_int_equal(forerun_predict(again, &second, &error), FORERUN_OK);
    assert_string_equal(forerun_json(result), forerun_json(second));
    forerun_result_free(result);
    forerun_result_free(second);
    forerun_job_free(job);
    forerun_job_free(again);
}

static double time_of(forerun_job *job) {
    forerun_result *result = NULL;
    assert_int_equal(forerun_predict(job, &result, NULL), FORERUN_OK);
    double time_s = forerun_outcome_at(result, 0)->time_s;
    forerun_result_free(result);
    return time_s;
}

/* The last value of a key holds; a refused one changes nothing. */
static void sets_follow_each_other(void **state) {
    (void)state;
    forerun_job *job = NULL;
    forerun_error error;
    assert_int_equal(forerun_load("frontier", "ffn-16384", NULL, cases[0].sets, &job, &error),
                     FORERUN_OK);
    double first_s = time_of(job);
    assert_int_equal(forerun_set(job, "ghost=64", &error), FORERUN_OK);
    double wider_s = time_of(job);
    assert_true(wider_s > first_s);
    assert_int_equal(forerun_set(job, "ghost=many", &error), FORERUN_INPUT);
    assert_non_null(strstr(error.message, "ghost"));
    assert_true(time_of(job) == wider_s);
    assert_int_equal(forerun_set(job, "model.layers=4", &error), FORERUN_OK);
    assert_int_equal(forerun_set(job, "model.layers=2", &error), FORERUN_OK);
    assert_int_equal(forerun_set(job, "ghost=16", &error), FORERUN_OK);
    assert_int_equal(forerun_set(job, "cluster.device.memory=2 GB", &error), FORERUN_OK);
    assert_true(time_of(job) == first_s); /* ffn-16384 has two layers */
    forerun_job_free(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(software_is_named), cmocka_unit_test(bytes_are_the_programs),
        cmocka_unit_test(numbers_are_the_documents), cmocka_unit_test(a_plan_goes_round),
        cmocka_unit_test(sets_follow_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
