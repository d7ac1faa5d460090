/** @file
 *  A job from presets and changes, for tests. */
#ifndef FR_TESTS_JOB_H
#define FR_TESTS_JOB_H

#include "models/job/job.h"
#include "tests/cmocka.h"

/** Load; the test fails with the message when it cannot.  @p sets ends with NULL. */
static inline void fr_test_job(const char *cluster, const char *model, const char *const *sets,
                               struct fr_job *job) {
    struct fr_job_names names = {.cluster = cluster, .model = model, .sets = sets};
    struct fr_error err = {0};
    while (sets && sets[names.n_sets]) names.n_sets++;
    if (fr_job_load(&names, job, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
}

/** Load what must be refused; returns the error. */
static inline struct fr_error fr_test_refused(const char *cluster, const char *model,
                                              const char *set) {
    struct fr_job_names names = {.cluster = cluster, .model = model, .sets = &set, .n_sets = 1};
    struct fr_error err = {0};
    struct fr_job job;
    if (fr_job_load(&names, &job, &err) == FR_OK) fail_msg("%s was accepted", set);
    fr_job_free(&job);
    return err;
}

#endif
