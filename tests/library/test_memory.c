/* Every allocation of every question fails in turn (a sample of them, unless "all" is said).  FORERUN_NO_MEMORY comes back,
 * or the same answer where the allocation was not needed.  Nothing is leaked, and the program goes on. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "library/include/forerun.h"
#include "tests/cmocka.h"
#include "tests/failing.h"

#ifdef FR_FAILING
/* ---- questions -------------------------------------------------------------------------------- */

#define IN FR_SOURCE_DIR "/tests/golden/in/"
#define EXAMPLE_CLUSTER                                                                        \
    "{\"name\": \"two\", \"device\": {\"name\": \"d\", \"memory\": \"64 GB\", "                \
    "\"memory_bandwidth\": "                                                                   \
    "\"2 TB/s\", \"gemm\": {\"fp32\": {\"peak\": \"30 TFLOP/s\"}}}, \"levels\": [{\"name\": "  \
    "\"node\", "                                                                               \
    "\"ranks\": 8, \"latency\": \"2 us\", \"bandwidth\": \"20 GB/s\"}]}"

static char samples[64], few[64], other[64];

/* The question, and its job. */
struct question {
    const char *name;
    forerun_status (*ask)(const struct question *q, forerun_job *job, forerun_result **result,
                          forerun_error *error);
    int times; /**< allocations that are tried in a day's run; 0: each */
    const char *cluster, *model, *plan;
    const char *sets[12];
    const char *option, *second; /**< of the question, as its function takes it */
    bool leaves;  /**< GSL forgets blocks of its own where one of its allocations fails */
    bool refused; /**< it has no answer but a status and a sentence */
};

static forerun_status predict(const struct question *q, forerun_job *job,
                              forerun_result **result, forerun_error *error) {
    forerun_status status = q->option ? forerun_set(job, q->option, error) : FORERUN_OK;
    return status ? status : forerun_predict(job, result, error);
}

static forerun_status explain(const struct question *q, forerun_job *job,
                              forerun_result **result, forerun_error *error) {
    (void)q;
    return forerun_explain(job, result, error);
}

/* option: what ranks;  second: objective. */
static forerun_status recipe(const struct question *q, forerun_job *job,
                             forerun_result **result, forerun_error *error) {
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    o.ranks = q->option;
    if (q->second) o.objective = q->second;
    o.explain = 1;
    o.threads = 1;
    return forerun_search(job, &o, result, error);
}

static forerun_status varied(const struct question *q, forerun_job *job,
                             forerun_result **result, forerun_error *error) {
    static const char *const vary[] = {"model.width=1024,2048", "method=phantom,grid",
                                       "ghost=2,4", "layer_tp=best,uniform", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    o.ranks = q->option;
    o.vary = vary;
    o.top = 0;
    o.threads = 2;
    return forerun_search(job, &o, result, error);
}

/* Pieces enough for threads: what fails in one of them is a failure of the call. */
static forerun_status threads(const struct question *q, forerun_job *job,
                              forerun_result **result, forerun_error *error) {
    static const char *const vary[] = {"tp=1..8*2", "pp=1..8*2", "micro_batch=1,2,4",
                                       "recompute=none,selective,full", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    o.ranks = q->option;
    o.vary = vary;
    o.threads = 4;
    o.top = 1;
    o.memory_limit_B = 70e9;
    o.per_iteration = 1;
    return forerun_search(job, &o, result, error);
}

/* option: network;  second: trace, or "messages". */
static forerun_status simulate(const struct question *q, forerun_job *job,
                               forerun_result **result, forerun_error *error) {
    forerun_simulate_options o = FORERUN_SIMULATE_DEFAULTS;
    o.network = q->option;
    o.messages = strcmp(q->second, "messages") == 0;
    o.trace = o.messages ? NULL : q->second;
    return forerun_simulate(job, &o, result, error);
}

/* option: placement;  second: launcher. */
static forerun_status place(const struct question *q, forerun_job *job, forerun_result **result,
                            forerun_error *error) {
    forerun_place_options o = FORERUN_PLACE_DEFAULTS;
    if (!q->model) o.ranks = 16, o.ways = 4;
    o.placement = q->option;
    o.launcher = q->second;
    return forerun_place(job, &o, result, error);
}

/* option: form;  second: series.  A job's cluster is the base. */
static forerun_status fit(const struct question *q, forerun_job *job, forerun_result **result,
                          forerun_error *error) {
    const char *const paths[] = {samples, q->second ? NULL : other, NULL};
    forerun_fit_options o = FORERUN_FIT_DEFAULTS;
    (void)job;
    o.form = q->option;
    o.base = q->plan;
    o.series = q->second;
    o.name = "fitted";
    o.busy_W = 300, o.idle_W = 100;
    return forerun_fit(paths, &o, result, error);
}

static forerun_status fit_few(const struct question *q, forerun_job *job,
                              forerun_result **result, forerun_error *error) {
    const char *const paths[] = {few, NULL};
    (void)q, (void)job;
    return forerun_fit(paths, NULL, result, error);
}

static forerun_status fit_refused(const struct question *q, forerun_job *job,
                                  forerun_result **result, forerun_error *error) {
    const char *const paths[] = {q->option, NULL};
    (void)job;
    return forerun_fit(paths, NULL, result, error);
}

/* option: verb;  sets: its words. */
static forerun_status verb(const struct question *q, forerun_job *job, forerun_result **result,
                           forerun_error *error) {
    (void)job;
    return forerun_ask(q->option, q->sets, result, error);
}

static forerun_status emit(const struct question *q, forerun_job *job, forerun_result **result,
                           forerun_error *error) {
    return forerun_emit(job, q->option, result, error);
}

static forerun_status asked(const struct question *q, forerun_result **result,
                            forerun_error *error) {
    forerun_job *job = NULL;
    forerun_status status =
        q->cluster ? forerun_load(q->cluster, q->model, q->plan, q->sets, &job, error)
                   : FORERUN_OK;
    if (!status) status = q->ask(q, job, result, error);
    forerun_job_free(job);
    return status;
}

#define FITTING_VERB(name, times, ...)                                                         \
    { name " as a verb", verb, times, .option = name, .sets = {__VA_ARGS__}, .leaves = true }
#define VERB(name, times, ...)                                                                 \
    { name " as a verb", verb, times, .option = name, .sets = {__VA_ARGS__}, .leaves = false }

/* Every function of the library, and every kind of input: presets, JSON, paths, a config.json, files that plans
 * name, samples of every kind, and each kind of refusal. */
static const struct question questions[] = {
    {"a wrong key",
     predict,
     40,
     "frontier",
     "ffn-16384",
     NULL,
     {"method=phantomm"},
     .refused = true},
    {"a wrong set",
     predict,
     40,
     "frontier",
     "ffn-16384",
     NULL,
     {"tp=8"},
     "ghots=4",
     .refused = true},
    {"no such file",
     predict,
     40,
     "frontier",
     "/nowhere/model.json",
     NULL,
     {NULL},
     .refused = true},
    {"no model", predict, 40, "frontier", IN "truncated.json", NULL, {NULL}, .refused = true},
    {"no cluster",
     predict,
     40,
     "{\"name\": \"x\", \"levels\": 5}",
     "gpt-2",
     NULL,
     {NULL},
     .refused = true},
    {"predict",
     predict,
     60,
     "dgx-h100",
     "mixtral-8x7b",
     NULL,
     {"tp=4", "ep=4", "dp=4", "micro_batch=1", "global_batch=64"},
     "model.sequence=2048",
     .refused = false},
    {"documents",
     predict,
     60,
     EXAMPLE_CLUSTER,
     IN "mlp.json",
     "{\"tp\": 8}",
     {NULL},
     "dp=1",
     .refused = false},
    {"config.json",
     predict,
     60,
     "dgx-h100",
     IN "hf.json",
     NULL,
     {"dp=4", "tp=2", "micro_batch=1"},
     .refused = false},
    {"an order",
     predict,
     60,
     "frontier",
     IN "stages.json",
     NULL,
     {"pp=4", "global_batch=16", "schedule=" IN "order.json"},
     .refused = false},
    {"grids",
     predict,
     60,
     "cori-knl",
     "alexnet",
     NULL,
     {"method=grid", "dp=512", "layer_tp=best"},
     .refused = false},
    {"infeasible", predict, 60, "frontier", "ffn-16384", NULL, {"dp=3"}, .refused = false},
    {"explain",
     explain,
     60,
     "dgx-h100",
     "mixtral-8x7b",
     NULL,
     {"tp=4", "ep=4", "dp=4", "micro_batch=1", "global_batch=64"},
     .refused = false},
    {"search", varied, 60, "frontier", "ffn-16384", NULL, {NULL}, "8,16", .refused = false},
    {"threads",
     threads,
     30,
     "dgx-h100",
     "llama-3-8b",
     NULL,
     {"global_batch=64"},
     "64",
     .refused = false},
    {"recipe", recipe, 30, "frontier", "ffn-16384", NULL, {NULL}, "8", .refused = false},
    {"recipe of energy",
     recipe,
     10,
     "frontier",
     "ffn-4096",
     NULL,
     {NULL},
     "8",
     "energy",
     .refused = false},
    {"no ranks", recipe, 40, "frontier", "ffn-16384", NULL, {NULL}, "8..4", .refused = true},
    {"chrome",
     simulate,
     60,
     "frontier",
     IN "stages.json",
     NULL,
     {"pp=4", "global_batch=16"},
     "shared",
     "chrome",
     .refused = false},
    {"paje",
     simulate,
     40,
     "frontier",
     IN "stages.json",
     NULL,
     {"pp=4", "global_batch=16"},
     "isolated",
     "paje",
     .refused = false},
    {"csv",
     simulate,
     40,
     "frontier",
     IN "stages.json",
     NULL,
     {"pp=4", "global_batch=16"},
     "isolated",
     "csv",
     .refused = false},
    {"messages",
     simulate,
     40,
     "dgx-h100",
     "ffn-4096",
     NULL,
     {"tp=4"},
     "shared",
     "messages",
     .refused = false},
    {"no network",
     simulate,
     40,
     "frontier",
     "ffn-4096",
     NULL,
     {"tp=4"},
     "none",
     "csv",
     .refused = true},
    {"rankfile",
     place,
     60,
     "lassen",
     "t5-large-mod",
     NULL,
     {"method=subgraph", "tp=4", "dp=2", "global_batch=8"},
     NULL,
     "rankfile",
     .refused = false},
    {"slurm",
     place,
     40,
     "lassen",
     "t5-large-mod",
     NULL,
     {"method=subgraph", "tp=4", "dp=2", "global_batch=8"},
     "optimised",
     "slurm",
     .refused = false},
    {"mesh", place, 40, "lassen", NULL, NULL, {NULL}, "all", "slurm", .refused = false},
    {"no placement",
     place,
     40,
     "lassen",
     NULL,
     NULL,
     {NULL},
     "file:/nowhere",
     NULL,
     .refused = true},
    {"fit", fit, 12, NULL, NULL, "frontier", {NULL}, "best", .leaves = true},
    {"fit log", fit, 12, NULL, NULL, NULL, {NULL}, "log", .leaves = true},
    {"fit segments", fit, 12, NULL, NULL, NULL, {NULL}, "segments", .leaves = true},
    {"fit algorithm", fit, 12, NULL, NULL, NULL, {NULL}, "algorithm", .leaves = true},
    {"fit similarity", fit, 12, NULL, NULL, NULL, {NULL}, "similarity", .leaves = true},
    {"no series", fit, 12, NULL, NULL, NULL, {NULL}, "best", "nothing", .refused = true},
    {"fit few", fit_few, 40, .leaves = true},
    {"no samples", fit_refused, 40, .option = IN "stages.json", .refused = true},
    {"emit",
     emit,
     40,
     "dgx-h100",
     "llama-3-8b",
     NULL,
     {"tp=8"},
     "sbatch,megatron",
     .refused = false},
    VERB("predict", 30, "-c", "dgx-h100", "-m", "llama-3-8b", "-s", "tp=8"),
    VERB("search", 12, "-c", "frontier", "-m", "ffn-16384", "-n", "8", "--vary",
         "method=tensor,phantom"),
    VERB("simulate", 30, "-c", "frontier", "-m", IN "stages.json", "-s", "pp=4", "-s",
         "global_batch=16"),
    VERB("import", 40, "nccl-tests", IN "nccl-tests.txt", "--nodes", "2"),
    FITTING_VERB("report", 12, samples),
    FITTING_VERB("tune", 4, "-c", "dgx-h100", "--runs", IN "runs.csv"),
    VERB("score", 30, "-c", "dgx-h100", "--runs", IN "runs.csv"),
    VERB("place", 40, "-c", "lassen", "--ranks", "16", "--ways", "4"),
    VERB("collective", 40, "-c", "dgx-h100", "--op", "all_reduce", "--ranks", "64"),
    VERB("gemm", 40, "-c", "dgx-h100", "--m", "64", "--n", "64", "--k", "64", "--dtype",
         "bf16"),
    VERB("export", 30, "goal", "-c", "a100-hdr", "-m", "gpt-2", "-s", "tp=2"),
    VERB("compare", 12, "-c", "frontier", "-c", "dgx-h100", "-m", "ffn-16384", "--ranks", "8",
         "--vary", "tp=8"),
    VERB("compare-plans", 30, "{\"tp\": 1}", "{\"tp\": 2}", "-c", "frontier", "-m",
         "ffn-16384"),
    VERB("show", 40, "frontier"),
    VERB("list", 40, "keys"),
    {"wrong words", verb, 40, .option = "gemm", .sets = {"--mm", "4"}, .refused = true}};

/* ---- each of them, with each allocation failing ------------------------------------------------- */

struct answer {
    forerun_status status;
    forerun_error error;
    char *json; /**< with forerun_text behind it; or NULL: none */
    long made, leaked;
};

static struct answer answered(const struct question *q, long nth) {
    forerun_result *result = NULL;
    struct answer a = {.json = NULL};
    long before = atomic_load(&n_live);
    failing_begin(nth);
    a.status = asked(q, &result, &a.error);
    a.made = failing_end();
    if (result) {
        const char *json = forerun_json(result), *elapsed = strstr(json, "\"elapsed_s\": ");
        size_t head = elapsed ? (size_t)(elapsed - json) : strlen(json);
        size_t tail = elapsed ? strcspn(elapsed, "\n") : 0;
        a.json = malloc(strlen(json) + strlen(forerun_text(result)) + 1);
        assert_non_null(a.json);
        memcpy(a.json, json, head);
        strcpy(a.json + head, json + head + tail);
        strcat(a.json, forerun_text(result));
    }
    forerun_result_free(result);
    a.leaked = atomic_load(&n_live) - before - (a.json != NULL);
    return a;
}

static bool as_without_failures(const struct answer *a, const struct answer *whole) {
    return a->status == whole->status &&
           (a->json && whole->json ? strcmp(a->json, whole->json) == 0
                                   : a->json == whole->json) &&
           strcmp(a->error.message, whole->error.message) == 0;
}

static void try_one(const struct question *q, const struct answer *whole, long nth,
                    long counts[2]) {
    struct answer a = answered(q, nth);
    bool refused = a.status == FORERUN_NO_MEMORY && !a.json &&
                   strcmp(a.error.message, "out of memory") == 0;
    if (!refused && !as_without_failures(&a, whole))
        fail_msg("%s, allocation %ld of %ld: status %d \"%s\"%s", q->name, nth, whole->made,
                 (int)a.status, a.error.message, a.json ? ", and another answer" : "");
    if (a.leaked && !q->leaves)
        fail_msg("%s, allocation %ld of %ld: %ld blocks are left", q->name, nth, whole->made,
                 a.leaked);
    counts[refused]++;
    free(a.json);
}

static bool each;        /* of the allocations, and not a day's sample */
static const char *only; /* questions whose names begin so; NULL: all */

static void torture(const struct question *q) {
    struct answer first = answered(q, 0), whole = answered(q, 0);
    long counts[2] = {0},
         step = !each && q->times && whole.made > q->times ? whole.made / q->times : 1;
    if (q->refused != (whole.status != FORERUN_OK && !whole.json))
        fail_msg("%s: status %d \"%s\"", q->name, (int)whole.status, whole.error.message);
    assert_true(whole.made > 3);
    if (whole.leaked) fail_msg("%s: %ld blocks are left", q->name, whole.leaked);
    for (long nth = 1 + (step > 1 ? (long)strlen(q->name) % step : 0); nth <= whole.made;
         nth += step)
        try_one(q, &whole, nth, counts);
    print_message("%s: %ld allocations, %ld refused, %ld not needed\n", q->name, whole.made,
                  counts[1], counts[0]);
    assert_true(counts[1] > 0);
    free(first.json);
    free(whole.json);
}

static void make(const char *path, const char *command) {
    char line[512];
    snprintf(line, sizeof line, "%s >%s", command, path);
    fr_litter_add(path);
    assert_int_equal(system(line), 0);
}

static void every_question(void **state) {
    (void)state;
    snprintf(samples, sizeof samples, "/tmp/forerun-memory-%ld.jsonl", (long)getpid());
    snprintf(few, sizeof few, "/tmp/forerun-memory-few-%ld.jsonl", (long)getpid());
    snprintf(other, sizeof other, "/tmp/forerun-memory-other-%ld.jsonl", (long)getpid());
    make(samples, IN "samples.sh | grep -E 'schema|\"launch\": [01], \"rep\": 0'");
    make(other, IN "samples.sh 1.01 | grep -E 'schema|\"launch\": 0, \"rep\": 0'");
    make(few, IN "samples.sh | grep -E 'schema|(all_red|send_r).*\"launch\": 0, \"rep\": 0'");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (!only || strncmp(questions[i].name, only, strlen(only)) == 0)
            torture(&questions[i]);
    unlink(samples), unlink(few), unlink(other);
}
#else
static void every_question(void **state) {
    (void)state;
    skip(); /* the sanitizer's allocator is not ours to replace */
}
#endif

/* "all": each allocation of each question; a second word: of those whose names begin so. */
int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_question)};
#ifdef FR_FAILING
    each = argc > 1 && strcmp(argv[1], "all") == 0;
    only = argc > 2 ? argv[2] : NULL;
#else
    (void)argc, (void)argv;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
