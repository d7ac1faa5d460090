/* Any three documents (cluster, model, plan, a NUL between them) are refused with a place, or
 * priced: then every number is finite and not negative, or stands beside a reason. */
#include <math.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "models/plan/iterations.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct fr_outcome *out) {
    if (out->reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) return;
    FR_FUZZ_REQUIRE(out->time_s >= 0 && out->memory_peak_B >= 0 && !(out->parameters < 0));
    FR_FUZZ_REQUIRE(!isnan(out->time_s));
    for (int i = 0; i < FR_PART_COUNT; i++) FR_FUZZ_REQUIRE(out->part_s[i] >= 0);
}

static void price(struct fr_job *job) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 2};
    struct fr_outcome out;
    if (job->plan.layer_tp && job->plan.n_layer_tp != job->workload.n_layers) return;
    fr_cost(job, &job->plan, &out);
    check(&out);
    fr_report_json(&w, job, &out);
    struct fr_json_document *back = NULL; /* a number that is none would not parse */
    FR_FUZZ_REQUIRE(fr_json_parse(fr_text_get(&text), text.length, "report", &back, NULL) ==
                    FR_OK);
    fr_json_free(back);
    fr_text_free(&text);
}

static const char *next(const char *at, const char *end) {
    const char *stop = memchr(at, '\0', (size_t)(end - at));
    return stop && stop < end ? stop + 1 : end;
}

FR_FUZZ_TEXT(text, size) {
    struct fr_job job = {0};
    struct fr_error err = {0};
    const char *end = text + size, *part[3] = {text};
    part[1] = next(part[0], end);
    part[2] = next(part[1], end);
    fr_status status = FR_OK;
    for (int i = 0; i < 3 && status == FR_OK; i++)
        status = fr_json_parse(part[i], strlen(part[i]), "fuzz", &job.documents[i], &err);
    if (status == FR_OK) status = fr_cluster_read(job.documents[0], &job.cluster, &err);
    if (status == FR_OK) status = fr_model_read(job.documents[1], &job.workload, &err);
    if (status == FR_OK) status = fr_plan_read(job.documents[2], &job.plan, &job.lists, &err);
    if (status == FR_OK)
        price(&job);
    else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_job_free(&job);
}
