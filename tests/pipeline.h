/** @file
 *  A job whose plan is made a pipeline, for tests. */
#ifndef FR_TESTS_PIPELINE_H
#define FR_TESTS_PIPELINE_H

#include "models/price/pipeline.h"
#include "tests/job.h"

/** Load, check and make; the test fails where any of it is refused.  @p sets ends with NULL. */
static inline void fr_test_pipeline(const char *cluster, const char *model,
                                    const char *const *sets, struct fr_job *job,
                                    struct fr_pipeline *p) {
    uint32_t extrapolated = 0;
    fr_test_job(cluster, model, sets, job);
    fr_reasons reasons = fr_pipeline_check(job, &job->plan);
    if (reasons)
        fail_msg("%s on %s, %s...: refused, reasons %#llx", model, cluster, sets[0],
                 (unsigned long long)reasons);
    assert_int_equal(fr_pipeline_make(job, &job->plan, p, &extrapolated, NULL), FR_OK);
}

static inline void fr_test_pipeline_free(struct fr_job *job, struct fr_pipeline *p) {
    fr_pipeline_free(p);
    fr_job_free(job);
}

#endif
