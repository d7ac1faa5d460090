/* Bad input of every function is an error with a sentence, and never a crash. */
#include "library/include/forerun.h"
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
    refused(forerun_set(job, text, &error), &error, FORERUN_INPUT, "is no key");
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

static void what_cannot_be_searched(void **state) {
    static const char *const bad_vary[] = {"ghots=2", NULL}, *const no_vary[] = {"tp", NULL},
                             *const empty[] = {"tp=", NULL},
                             *const twice[] = {"tp=1", "tp=2", NULL};
    const forerun_search_options standard = FORERUN_SEARCH_DEFAULTS;
    forerun_search_options o = standard;
    forerun_job *job = loaded(NULL), *alone = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    assert_int_equal(forerun_load("frontier", NULL, NULL, NULL, &alone, NULL), FORERUN_OK);
#define REFUSED(member, value, expected, word)                                                 \
    do {                                                                                       \
        o = standard;                                                                          \
        o.ranks = "8";                                                                         \
        o.member = value;                                                                      \
        refused(forerun_search(job, &o, &result, &error), &error, expected, word);             \
        assert_null(result);                                                                   \
    } while (0)
    REFUSED(ranks, NULL, FORERUN_USAGE, "ranks: is NULL");
    REFUSED(ranks, "", FORERUN_USAGE, "ranks");
    REFUSED(ranks, "8..", FORERUN_USAGE, "ranks");
    REFUSED(ranks, "0", FORERUN_USAGE, "ranks");
    REFUSED(ranks, "1..1000000000000", FORERUN_USAGE, "ranks");
    REFUSED(vary, bad_vary, FORERUN_USAGE, "did you mean \"ghost\"?");
    REFUSED(vary, no_vary, FORERUN_USAGE, "KEY=RANGE");
    REFUSED(vary, empty, FORERUN_USAGE, "vary");
    REFUSED(vary, twice, FORERUN_USAGE, "varied twice");
    REFUSED(objective, "money", FORERUN_USAGE, "time, energy, edp");
    REFUSED(objective, NULL, FORERUN_USAGE, "objective");
    REFUSED(top, -1, FORERUN_USAGE, "top");
    REFUSED(memory_limit_B, -1, FORERUN_USAGE, "memory_limit_B");
    REFUSED(memory_limit_B, NAN, FORERUN_USAGE, "memory_limit_B");
    REFUSED(max_lossy, 2, FORERUN_USAGE, "max_lossy");
    REFUSED(max_lossy, NAN, FORERUN_USAGE, "max_lossy");
    REFUSED(threads, 1000, FORERUN_USAGE, "threads");
    REFUSED(size, 0, FORERUN_USAGE, "FORERUN_SEARCH_DEFAULTS");
    REFUSED(size, SIZE_MAX, FORERUN_USAGE, "FORERUN_SEARCH_DEFAULTS");
#undef REFUSED
    refused(forerun_search(job, NULL, &result, &error), &error, FORERUN_USAGE, "ranks");
    o = standard;
    o.ranks = "8";
    refused(forerun_search(NULL, &o, &result, &error), &error, FORERUN_USAGE, "job");
    refused(forerun_search(alone, &o, &result, &error), &error, FORERUN_USAGE, "a model");
    refused(forerun_search(job, &o, NULL, &error), &error, FORERUN_USAGE, "result");
    forerun_job_free(job);
    forerun_job_free(alone);
}

/* A caller of an older header says less, one of a newer header may say nothing more. */
static void options_of_other_versions(void **state) {
    struct {
        forerun_simulate_options o;
        int64_t later[4];
    } newer = {{.size = sizeof newer, .network = "isolated"}, {0}};
    forerun_simulate_options older = {.size = offsetof(forerun_simulate_options, trace),
                                      .network = "isolated",
                                      .trace = "no such format, and not read"};
    forerun_job *job = loaded(NULL);
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    assert_int_equal(forerun_simulate(job, &newer.o, &result, &error), FORERUN_OK);
    forerun_result_free(result);
    assert_int_equal(forerun_simulate(job, &older, &result, &error), FORERUN_OK);
    forerun_result_free(result);
    newer.later[2] = 1;
    refused(forerun_simulate(job, &newer.o, &result, &error), &error, FORERUN_USAGE, "too old");
    forerun_job_free(job);
}

static void what_cannot_be_simulated_or_placed(void **state) {
    static const char *const rank_map[] = {"placement=file:/no/such/file", NULL};
    forerun_simulate_options s = FORERUN_SIMULATE_DEFAULTS;
    forerun_place_options p = FORERUN_PLACE_DEFAULTS;
    forerun_job *job = loaded(NULL), *alone = NULL, *none = NULL;
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    s.network = "simgrid";
    refused(forerun_simulate(job, &s, &result, &error), &error, FORERUN_USAGE,
            "does not start");
    s.network = "wires";
    refused(forerun_simulate(job, &s, &result, &error), &error, FORERUN_USAGE, "none of");
    s = (forerun_simulate_options)FORERUN_SIMULATE_DEFAULTS;
    s.trace = "movie";
    refused(forerun_simulate(job, &s, &result, &error), &error, FORERUN_USAGE, "chrome");
    refused(forerun_simulate(NULL, NULL, &result, &error), &error, FORERUN_USAGE, "job");
    refused(forerun_place(NULL, NULL, &result, &error), &error, FORERUN_USAGE, "job");
    assert_int_equal(forerun_load("lassen", NULL, NULL, NULL, &alone, NULL), FORERUN_OK);
    refused(forerun_place(alone, NULL, &result, &error), &error, FORERUN_USAGE, "ways");
    p.ranks = 16;
    p.ways = 5;
    refused(forerun_place(alone, &p, &result, &error), &error, FORERUN_USAGE,
            "does not divide");
    p.ways = -4;
    refused(forerun_place(alone, &p, &result, &error), &error, FORERUN_USAGE, "ways");
    p.ways = 4;
    p.placement = "anywhere";
    refused(forerun_place(alone, &p, &result, &error), &error, FORERUN_INPUT, "placement");
    p.placement = NULL;
    p.launcher = "ssh";
    refused(forerun_place(alone, &p, &result, &error), &error, FORERUN_USAGE, "slurm");
    p.launcher = NULL;
    p.ranks_per_node = 1000;
    refused(forerun_place(alone, &p, &result, &error), &error, FORERUN_INPUT, "ranks_per_node");
    assert_null(result);
    assert_int_equal(forerun_load("lassen", NULL, NULL, rank_map, &none, &error),
                     FORERUN_INPUT);
    forerun_job_free(alone);
    forerun_job_free(job);
}

static void what_cannot_be_fitted(void **state) {
    static const char *const none[] = {NULL}, *const input[] = {"-", NULL},
                             *const missing[] = {"/no/such/samples.jsonl", NULL},
                             *const folder[] = {"/", NULL},
                             *const text[] = {FR_SOURCE_DIR "/README.md", NULL},
                             *const empty[] = {"/dev/null", NULL};
    forerun_fit_options o = FORERUN_FIT_DEFAULTS;
    forerun_result *result = NULL;
    forerun_error error;
    (void)state;
    refused(forerun_fit(NULL, NULL, &result, &error), &error, FORERUN_USAGE, "samples");
    refused(forerun_fit(none, NULL, &result, &error), &error, FORERUN_USAGE, "samples");
    refused(forerun_fit(input, NULL, &result, &error), &error, FORERUN_USAGE, "standard input");
    refused(forerun_fit(missing, NULL, &result, &error), &error, FORERUN_INPUT, "no/such");
    refused(forerun_fit(folder, NULL, &result, &error), &error, FORERUN_INPUT, "directory");
    refused(forerun_fit(text, NULL, &result, &error), &error, FORERUN_INPUT, "line 1");
    refused(forerun_fit(empty, NULL, &result, &error), &error, FORERUN_INPUT, "");
    o.form = "straight";
    refused(forerun_fit(text, &o, &result, &error), &error, FORERUN_USAGE, "similarity");
    o = (forerun_fit_options)FORERUN_FIT_DEFAULTS;
    o.busy_W = 10;
    refused(forerun_fit(text, &o, &result, &error), &error, FORERUN_USAGE, "belong together");
    o.idle_W = 20;
    refused(forerun_fit(text, &o, &result, &error), &error, FORERUN_USAGE, "draws no more");
    o.idle_W = NAN;
    refused(forerun_fit(text, &o, &result, &error), &error, FORERUN_USAGE, "no power");
    o = (forerun_fit_options)FORERUN_FIT_DEFAULTS;
    o.base = "frontir";
    refused(forerun_fit(text, &o, &result, &error), &error, FORERUN_INPUT, "did you mean");
    assert_null(result);
}

static void results_that_are_none(void **state) {
    (void)state;
    assert_string_equal(forerun_json(NULL), "");
    assert_string_equal(forerun_text(NULL), "");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_loaded),
                                       cmocka_unit_test(what_is_long),
                                       cmocka_unit_test(what_cannot_be_set),
                                       cmocka_unit_test(what_cannot_be_predicted),
                                       cmocka_unit_test(what_cannot_be_searched),
                                       cmocka_unit_test(options_of_other_versions),
                                       cmocka_unit_test(what_cannot_be_simulated_or_placed),
                                       cmocka_unit_test(what_cannot_be_fitted),
                                       cmocka_unit_test(results_that_are_none),
                                       cmocka_unit_test(the_version_is_the_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
