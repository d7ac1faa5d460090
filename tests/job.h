/** @file
 *  A job from presets and changes, for tests. */
#ifndef FR_TESTS_JOB_H
#define FR_TESTS_JOB_H

#include <string.h>

#include "models/job/job.h"
#include "tests/cmocka.h"

/** Load; the test fails with the message when it cannot.  @p sets ends with NULL.  A plan of a preset
 *  starts from what was usual in 2019: what is worked out by hand names each key. */
static inline void fr_test_job(const char *cluster, const char *model, const char *const *sets,
                               struct fr_job *job) {
    const char *all[64] = {"model.defaults=2019"};
    struct fr_job_names names = {.cluster = cluster, .model = model, .sets = all};
    struct fr_error err = {0};
    names.n_sets = model && !strchr(model, '/');
    for (int i = 0; sets && sets[i]; i++) {
        assert_true(names.n_sets < 64);
        all[names.n_sets++] = sets[i];
    }
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
