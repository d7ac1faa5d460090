/** @file
 *  The cases of a job: a file of JSON lines, what is to be run one a line.
 *
 *      {"id": 0, "app": "phantom", "model": "{...}", "plan": "{...}"}
 *
 *  model and plan are the texts of a model and a plan file.
 */
#ifndef FR_CALIBRATE_APPS_CASE_H
#define FR_CALIBRATE_APPS_CASE_H

#include "calibrate/apps/app.h"

struct fr_real_item {
    int64_t id;
    const struct fr_real_app *app;
    struct fr_workload workload;
    struct fr_plan plan;
    struct fr_plan_lists lists;
    struct fr_real_case run;
};

struct fr_real_cases {
    struct fr_real_item *items;
    int n;
};

/** Read @p text (of file @p name), every case checked by its program and against @p n_ranks.
 *  @return FR_OK, FR_ERR_INPUT with file and line, FR_ERR_NOMEM.  Free with fr_real_cases_free,
 *          also on error. */
fr_status fr_real_cases_read(const char *text, const char *name, int n_ranks, uint64_t seed,
                             struct fr_real_cases *cases, struct fr_error *err);
void fr_real_cases_free(struct fr_real_cases *cases);

#endif
