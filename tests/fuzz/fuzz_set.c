/* Any words of --set, one a line, change a job that is then priced, or are refused: what is priced is
 * finite, and its report is a document. */
#include <math.h>

#include "answer/outcome/report.h"
#include "models/job/job.h"
#include "tests/fuzz/fuzz.h"

enum { SETS_MAX = 8 };

static void price(const struct fr_job *job) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 2};
    struct fr_json_document *back = NULL;
    struct fr_outcome out;
    fr_cost(job, &job->plan, &out);
    if (out.reasons == 0) FR_FUZZ_REQUIRE(isfinite(out.time_s) && out.time_s >= 0);
    fr_report_json(&w, job, &out);
    FR_FUZZ_REQUIRE(fr_json_parse(fr_text_get(&text), text.length, "report", &back, NULL) ==
                    FR_OK);
    fr_json_free(back);
    fr_text_free(&text);
}

FR_FUZZ_TEXT(text, size) {
    static const char *const models[] = {"gpt-2.5b", "mixtral-8x7b", "ffn-4096", "alexnet"};
    const char *sets[SETS_MAX];
    char *rest = NULL;
    struct fr_job_names names = {
        .cluster = size % 2 ? "dgx-h100" : "frontier", .model = models[size % 4], .sets = sets};
    struct fr_job job;
    struct fr_error err = {0};
    if (strstr(text, "file:") || strstr(text, "schedule") || strstr(text, "iterations"))
        return; /* names of files are not tried */
    for (char *at = strtok_r(text, "\n", &rest); at && names.n_sets < SETS_MAX;
         at = strtok_r(NULL, "\n", &rest))
        sets[names.n_sets++] = at;
    if (fr_job_load(&names, &job, &err) == FR_OK)
        price(&job);
    else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_job_free(&job);
}
