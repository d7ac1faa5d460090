/* Bad input of every function is an error with a sentence, and never a crash. */
#include "include/forerun.h"
#include "tests/cmocka.h"

/* The status, and a word in the message. */
static void refused(forerun_status got, const forerun_error *error, forerun_status want,
                    const char *word) {
    if (got != want || error->status != want || !strstr(error->message, word))
        fail_msg("status %d and \"%s\"; want %d and \"%s\"", (int)got, error->message,
                 (int)want, word);
}

static forerun_job *loaded(const char *const *sets) {
    forerun_job *job = NULL;
    forerun_error error;
    if (forerun_load("frontier", "ffn-16384", NULL, sets, &job, &error))
        fail_msg("%s", error.message);
    return job;
}

static void what_cannot_be_loaded(void **state) {
    static const struct {
        const char *cluster, *model, *plan, *set;
        forerun_status status;
        const char *word;
    } bad[] = {
        {NULL, "ffn-16384", NULL, NULL, FORERUN_USAGE, "cluster: is NULL"},
        {"frontir", "ffn-16384", NULL, NULL, FORERUN_INPUT, "did you mean \"frontier\"?"},
        {"frontier", "no-such-model", NULL, NULL, FORERUN_INPUT, "no-such-model"},
        {"", "ffn-16384", NULL, NULL, FORERUN_INPUT, ""},
        {"-", "ffn-16384", NULL, NULL, FORERUN_USAGE, "standard input"},
        {"frontier", "ffn-16384", "-", NULL, FORERUN_USAGE, "standard input"},
        {"/", "ffn-16384", NULL, NULL, FORERUN_INPUT, "directory"},
        {"/no/such/file.json", "ffn-16384", NULL, NULL, FORERUN_INPUT, "no/such"},
        {"{", "ffn-16384", NULL, NULL, FORERUN_INPUT, "cluster: line 1"},
        {"{}", "ffn-16384", NULL, NULL, FORERUN_INPUT, "cluster#/levels"},
        {"frontier", " {\"kind\": \"ffn\"}", NULL, NULL, FORERUN_INPUT, "model#/"},
        {"frontier", "ffn-16384", "{\"tp\": \"eight\"}", NULL, FORERUN_INPUT, "plan#/tp"},
        {"frontier", "ffn-16384", "{\"tq\": 8}", NULL, FORERUN_INPUT, "did you mean \"tp\"?"},
        {"frontier", "ffn-16384", NULL, "tp", FORERUN_USAGE, "KEY=VALUE"},
        {"frontier", "ffn-16384", NULL, "", FORERUN_USAGE, "KEY=VALUE"},
        {"frontier", "ffn-16384", NULL, "=", FORERUN_USAGE, "KEY=VALUE"},
        {"frontier", "ffn-16384", NULL, "tp=0", FORERUN_INPUT, "expected"},
        {"frontier", "ffn-16384", NULL, "tp=1e999", FORERUN_INPUT, "plan#/tp"},
        {"frontier", "ffn-16384", NULL, "model.layers.x=4", FORERUN_USAGE, "layers.x"},
        {"frontier", "ffn-16384", NULL, "cluster.device.launch=5", FORERUN_INPUT, "unit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *sets[] = {bad[i].set, NULL};
        forerun_job *job = (forerun_job *)state; /* what was there is not left */
        forerun_error error;
        forerun_status status =
            forerun_load(bad[i].cluster, bad[i].model, bad[i].plan, sets, &job, &error);
        refused(status, &error, bad[i].status, bad[i].word);
        assert_null(job);
        assert_int_equal(
            forerun_load(bad[i].cluster, bad[i].model, bad[i].plan, sets, NULL, NULL),
            bad[i].status);
    }
    forerun_error error;
    refused(forerun_load("frontier", "ffn-16384", NULL, NULL, NULL, &error), &error,
            FORERUN_USAGE, "job: is NULL");
}

/* A line of 100,000 characters is no path, key or value. */
static void what_is_long(void **state) {
    enum { LONG = 100000 };
    static char text[LONG + 1];
    forerun_job *job = NULL;
    forerun_error error;
    (void)state;
    memset(text, 'a', LONG);
    refused(forerun_load(text, "ffn-16384", NULL, NULL, &job, &error), &error, FORERUN_INPUT,
            "aaa");
    memset(text, '{', LONG);
    refused(forerun_load("frontier", text, NULL, NULL, &job, &error), &error, FORERUN_INPUT,
            "nested deeper");
    memset(text, '=', LONG);
    text[0] = 'a';
    job = loaded(NULL);
    refused(forerun_set(job, text, &error), &error, FORERUN_INPUT, "unknown key");
    memset(text, 'a', LONG);
    refused(forerun_set(job, text, &error), &error, FORERUN_USAGE, "KEY=VALUE");
    forerun_job_free(job);
}

static void what_cannot_be_set(void **state) {
    forerun_error error;
    forerun_job *job = loaded(NULL);
    (void)state;
    refused(forerun_set(NULL, "tp=8", &error), &error, FORERUN_USAGE, "job: is NULL");
    refused(forerun_set(job, NULL, &error), &error, FORERUN_USAGE, "key_value: is NULL");
    refused(forerun_set(job, "ghots=4", &error), &error, FORERUN_INPUT, "did you mean");
    refused(forerun_set(job, "method=dense", &error), &error, FORERUN_INPUT, "phantom");
    assert_int_equal(forerun_set(job, "method=dense", NULL), FORERUN_INPUT);
    forerun_job_free(job);
    forerun_job_free(NULL);
}

static void what_cannot_be_predicted(void **state) {
    forerun_error error;
    forerun_job *job = NULL, *alone = NULL;
    forerun_result *result = NULL;
    static const char *const mesh[] = {"dp=3", NULL}; /* the batch does not divide so */
    (void)state;
    refused(forerun_predict(NULL, &result, &error), &error, FORERUN_USAGE, "job: is NULL");
    assert_null(result);
    assert_int_equal(forerun_load("frontier", NULL, NULL, NULL, &alone, &error), FORERUN_OK);
    refused(forerun_predict(alone, &result, &error), &error, FORERUN_USAGE, "without a model");
    job = loaded(mesh);
    refused(forerun_predict(job, &result, &error), &error, FORERUN_INFEASIBLE, "");
    assert_non_null(result);
    assert_true(strlen(error.message) > 10);
    assert_non_null(strstr(forerun_json(result), "\"feasible\": false"));
    assert_int_equal(forerun_outcome_at(result, 0)->feasible, 0);
    forerun_result_free(result);
    forerun_job_free(job);
    job = loaded(NULL);
    refused(forerun_predict(job, NULL, &error), &error, FORERUN_USAGE, "result: is NULL");
    forerun_job_free(job);
    forerun_job_free(alone);
}

static void results_that_are_none(void **state) {
    (void)state;
    assert_string_equal(forerun_json(NULL), "");
    assert_int_equal(forerun_count(NULL), 0);
    assert_null(forerun_outcome_at(NULL, 0));
    forerun_result_free(NULL);
}

static void the_version_is_the_headers(void **state) {
    char version[32];
    (void)state;
    snprintf(version, sizeof version, "%d.%d.%d", FORERUN_VERSION_MAJOR, FORERUN_VERSION_MINOR,
             FORERUN_VERSION_PATCH);
    assert_string_equal(forerun_version(), version);
    assert_string_equal(FORERUN_VERSION, version);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_loaded), cmocka_unit_test(what_is_long),
        cmocka_unit_test(what_cannot_be_set),    cmocka_unit_test(what_cannot_be_predicted),
        cmocka_unit_test(results_that_are_none), cmocka_unit_test(the_version_is_the_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
