/* Threads ask one job and jobs of their own at once, and get what one alone gets. */
#include <pthread.h>
#include <stdlib.h>

#include "library/include/forerun.h"
#include "tests/cmocka.h"

enum { THREADS = 4, TIMES = 12, QUESTIONS = 4 };

static forerun_job *shared;
static char *alone[QUESTIONS];

static char *copy(forerun_result *result) {
    char *text = strdup(forerun_json(result));
    char *at = text ? strstr(text, "\"elapsed_s\": ") : NULL;
    if (at) memmove(at, at + strcspn(at, "\n"), strlen(at + strcspn(at, "\n")) + 1);
    forerun_result_free(result);
    return text;
}

/* Question @p i is answered with this. */
static char *ask(const forerun_job *job, int i) {
    static const char *const vary[] = {"tp=1,2,4,8", NULL};
    static const char *const words[] = {"--cluster=a100-hdr", "--op=all_gather", "--ranks=16",
                                        NULL};
    forerun_result *result = NULL;
    forerun_search_options o = FORERUN_SEARCH_DEFAULTS;
    o.ranks = "16";
    o.vary = vary;
    o.threads = 2;
    if (i == 0) forerun_predict(job, &result, NULL);
    if (i == 1) forerun_search(job, &o, &result, NULL);
    if (i == 2) forerun_simulate(job, NULL, &result, NULL);
    if (i == 3) forerun_collective(words, &result, NULL);
    return copy(result);
}

static forerun_job *load(void) {
    static const char *const sets[] = {
        "tp=4", "pp=2", "dp=2", "micro_batch=8", "global_batch=32", NULL};
    forerun_job *job = NULL;
    forerun_load("a100-hdr", "gpt-2.5b", NULL, sets, &job, NULL);
    return job;
}

static void *work(void *argument) {
    long wrong = 0, number = (long)(intptr_t)argument;
    for (int k = 0; k < TIMES; k++) {
        forerun_job *own = k % 2 ? load() : NULL;
        int question = (int)((number + k) % QUESTIONS);
        char *text = ask(own ? own : shared, question);
        wrong += !text || strcmp(text, alone[question]) != 0;
        free(text);
        forerun_job_free(own);
        forerun_error error;
        forerun_job *none = NULL;
        wrong += forerun_load("frontir", NULL, NULL, NULL, &none, &error) != FORERUN_INPUT;
    }
    return (void *)(intptr_t)wrong;
}

static void threads(void **state) {
    pthread_t thread[THREADS];
    (void)state;
    shared = load();
    assert_non_null(shared);
    for (int i = 0; i < QUESTIONS; i++) {
        alone[i] = ask(shared, i);
        assert_true(alone[i] && strlen(alone[i]) > 100);
    }
    for (long i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(thread[i], &wrong);
        assert_int_equal((intptr_t)wrong, 0);
    }
    for (int i = 0; i < QUESTIONS; i++) free(alone[i]);
    forerun_job_free(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
