/** @file
 *  The cases of a job: a file of JSON lines, what is to be run one a line.
 *
 *      {"kind": "case", "id": 0, "app": "phantom", "ranks": 2, "model": "{...}", "plan": "{...}",
 *       "group": "...", "label": "..."}
 *
 *  model and plan are the texts of a model and a plan file.  Lines of other kinds, and cases for
 *  other rank counts, are passed over: one file may hold the cases of several jobs and what
 *  they measured.
 */
#ifndef FR_REAL_APPS_CASE_H
#define FR_REAL_APPS_CASE_H

#include "base/text.h"
#include "real/apps/app.h"

struct fr_real_item {
    int64_t id;
    char group[96]; /**< of configurations among which one is chosen */
    int block;      /**< index of the first item of its group */
    const struct fr_real_app *app;
    struct fr_workload workload;
    struct fr_plan plan;
    struct fr_plan_lists lists;
    struct fr_real_case run;
};

/** Read the texts "model" and "plan" of a line of file @p name into @p item, whose lists, plan and
 *  workload are freed by the caller, also on error. */
fr_status fr_real_item_inputs(const struct fr_json *root, const char *name,
                              struct fr_real_item *item, struct fr_error *err);

struct fr_real_cases {
    struct fr_real_item *items;
    int n;
};

/** Read the cases for @p n_ranks (0: for any, each checked for its own) of @p text (of file @p name), each checked by its program.
 *  @return FR_OK, FR_ERR_INPUT with file and line, FR_ERR_NOMEM.  Free with fr_real_cases_free,
 *          also on error. */
fr_status fr_real_cases_read(const char *text, const char *name, int n_ranks, uint64_t seed,
                             struct fr_real_cases *cases, struct fr_error *err);

/** Ask the program of every case of @p text whether it can run it; append to @p lines one of kind
 *  "refused" for each that it cannot:
 *      {"kind": "refused", "id": 0, "why": "..."}
 *  Cases that such a line of @p text names are passed over, here and by fr_real_cases_read.
 *  @return FR_OK, FR_ERR_INPUT for lines that are none, FR_ERR_NOMEM. */
fr_status fr_real_cases_refused(const char *text, const char *name, struct fr_text *lines,
                                struct fr_error *err);
void fr_real_cases_free(struct fr_real_cases *cases);

#endif
