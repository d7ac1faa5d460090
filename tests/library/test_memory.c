/* Every allocation of every question fails in turn: what comes back is FORERUN_NO_MEMORY or, where the
 * allocation was not needed, the undisturbed answer; nothing is leaked, and the program goes on. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "include/forerun.h"
#include "tests/cmocka.h"
#include "tests/failing.h"

#ifdef FR_FAILING
/* ---- questions -------------------------------------------------------------------------------- */

static char samples[64];

static forerun_status about(const char *cluster, const char *model, const char *const *sets,
                            forerun_job **job, forerun_error *error) {
    return forerun_load(cluster, model, NULL, sets, job, error);
}

static forerun_status ask_predict(forerun_result **result, forerun_error *error) {
    static const char *const sets[] = {
        "tp=4", "ep=4", "dp=4", "micro_batch=1", "global_batch=64", NULL};
    forerun_job *job = NULL;
    forerun_status status = about("dgx-h100", "mixtral-8x7b", sets, &job, error);
    if (!status) status = forerun_set(job, "model.sequence=2048", error);
    if (!status) status = forerun_explain(job, result, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_grids(forerun_result **result, forerun_error *error) {
    static const char *const sets[] = {"method=grid", "dp=512", "layer_tp=best", NULL};
    forerun_job *job = NULL;
    forerun_status status = about("cori-knl", "alexnet", sets, &job, error);
    if (!status) status = forerun_predict(job, result, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_search(forerun_result **result, forerun_error *error) {
    static const char *const vary[] = {"model.width=1024,2048", "method=phantom,grid",
                                       "ghost=2,4", "layer_tp=best,uniform", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = NULL;
    forerun_status status = about("frontier", "ffn-16384", NULL, &job, error);
    o.ranks = "8,16";
    o.vary = vary;
    o.top = 0;
    o.threads = 2;
    if (!status) status = forerun_search(job, &o, result, error);
    forerun_job_free(job);
    return status;
}

/* Pieces enough for threads: what fails in one of them is a failure of the call. */
static forerun_status ask_threads(forerun_result **result, forerun_error *error) {
    static const char *const sets[] = {"global_batch=64", NULL};
    static const char *const vary[] = {"tp=1..8*2", "pp=1..8*2", "micro_batch=1,2,4",
                                       "recompute=none,selective,full", NULL};
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = NULL;
    forerun_status status = about("dgx-h100", "llama-3-8b", sets, &job, error);
    o.ranks = "64";
    o.vary = vary;
    o.threads = 4;
    o.top = 1;
    if (!status) status = forerun_search(job, &o, result, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_recipe(forerun_result **result, forerun_error *error) {
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    forerun_job *job = NULL;
    forerun_status status = about("frontier", "ffn-16384", NULL, &job, error);
    o.ranks = "8";
    o.explain = 1;
    o.threads = 1;
    if (!status) status = forerun_search(job, &o, result, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_simulate(forerun_result **result, forerun_error *error) {
    static const char *const sets[] = {"pp=4", "global_batch=16", NULL};
    static const char stages[] = "{\"kind\": \"stages\", \"forward\": \"1 ms\", \"backward\": "
                                 "\"2 ms\", \"message\": \"1 MB\"}";
    forerun_simulate_options o = FORERUN_SIMULATE_DEFAULTS;
    forerun_job *job = NULL;
    forerun_status status = about("frontier", stages, sets, &job, error);
    o.network = "shared";
    o.trace = "chrome";
    if (!status) status = forerun_simulate(job, &o, result, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_place(forerun_result **result, forerun_error *error) {
    static const char *const sets[] = {"method=subgraph", "tp=4", "dp=2", "global_batch=8",
                                       NULL};
    forerun_place_options o = FORERUN_PLACE_DEFAULTS;
    forerun_job *job = NULL;
    forerun_status status = about("lassen", "t5-large-mod", sets, &job, error);
    o.launcher = "rankfile";
    if (!status) status = forerun_place(job, &o, result, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_infeasible(forerun_result **result, forerun_error *error) {
    static const char *const sets[] = {"dp=3", NULL};
    forerun_job *job = NULL;
    forerun_status status = about("frontier", "ffn-16384", sets, &job, error);
    if (!status) status = forerun_predict(job, result, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_wrongly(forerun_result **result, forerun_error *error) {
    static const char *const sets[] = {"method=phantomm", NULL};
    forerun_job *job = NULL;
    (void)result;
    forerun_status status = about("frontier", "ffn-16384", sets, &job, error);
    forerun_job_free(job);
    return status;
}

static forerun_status ask_fit(forerun_result **result, forerun_error *error) {
    const char *const paths[] = {samples, NULL};
    return forerun_fit(paths, NULL, result, error);
}

/* ---- each of them, with each allocation failing ------------------------------------------------- */

struct question {
    const char *name;
    forerun_status (*ask)(forerun_result **result, forerun_error *error);
    int times;   /**< allocations that are tried; 0: each */
    bool leaves; /**< GSL forgets blocks of its own where one of its allocations fails */
};

struct answer {
    forerun_status status;
    forerun_error error;
    char *json; /**< or NULL: none */
    long made, leaked;
};

static struct answer answered(const struct question *q, long nth) {
    forerun_result *result = NULL;
    struct answer a = {.json = NULL};
    long before = atomic_load(&n_live);
    failing_begin(nth);
    a.status = q->ask(&result, &a.error);
    a.made = failing_end();
    if (result) {
        const char *json = forerun_json(result), *elapsed = strstr(json, "\"elapsed_s\": ");
        size_t head = elapsed ? (size_t)(elapsed - json) : strlen(json);
        size_t tail = elapsed ? strcspn(elapsed, "\n") : 0;
        a.json = malloc(strlen(json) + 1);
        assert_non_null(a.json);
        memcpy(a.json, json, head);
        strcpy(a.json + head, json + head + tail);
    }
    forerun_result_free(result);
    a.leaked = atomic_load(&n_live) - before - (a.json != NULL);
    return a;
}

static bool as_undisturbed(const struct answer *a, const struct answer *whole) {
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
    if (!refused && !as_undisturbed(&a, whole))
        fail_msg("%s, allocation %ld of %ld: status %d \"%s\"%s", q->name, nth, whole->made,
                 (int)a.status, a.error.message, a.json ? ", and another answer" : "");
    if (a.leaked && !q->leaves)
        fail_msg("%s, allocation %ld of %ld: %ld blocks are left", q->name, nth, whole->made,
                 a.leaked);
    counts[refused]++;
    free(a.json);
}

static void torture(const struct question *q) {
    struct answer first = answered(q, 0), whole = answered(q, 0);
    long counts[2] = {0}, step = q->times && whole.made > q->times ? whole.made / q->times : 1;
    assert_true(whole.made > 10);
    if (whole.leaked) fail_msg("%s: %ld blocks are left", q->name, whole.leaked);
    for (long nth = 1; nth <= whole.made; nth += step) try_one(q, &whole, nth, counts);
    print_message("%s: %ld allocations, %ld refused, %ld not needed\n", q->name, whole.made,
                  counts[1], counts[0]);
    assert_true(counts[1] > 0);
    free(first.json);
    free(whole.json);
}

static void every_question(void **state) {
    static const struct question questions[] = {
        {"a wrong key", ask_wrongly, 0, false}, {"predict", ask_predict, 400, false},
        {"grids", ask_grids, 400, false},       {"infeasible", ask_infeasible, 400, false},
        {"search", ask_search, 300, false},     {"threads", ask_threads, 60, false},
        {"recipe", ask_recipe, 100, false},     {"simulate", ask_simulate, 400, false},
        {"place", ask_place, 200, false},       {"fit", ask_fit, 40, true}};
    char line[256];
    (void)state;
    snprintf(samples, sizeof samples, "/tmp/forerun-memory-%ld.jsonl", (long)getpid());
    snprintf(line, sizeof line, "%s/tests/golden/in/samples.sh >%s", FR_SOURCE_DIR, samples);
    fr_litter_add(samples);
    assert_int_equal(system(line), 0);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) torture(&questions[i]);
    unlink(samples);
}
#else
static void every_question(void **state) {
    (void)state;
    skip(); /* the sanitizer's allocator is not ours to replace */
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_question)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
