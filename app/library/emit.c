#include <math.h>

#include "answer/predict/predict.h"
#include "app/emit.h"
#include "base/file/collect.h"
#include "library/job.h"
#include "library/result.h"

/* The script is the text, and its document the JSON. */
static fr_status write(const struct fr_job *job, const struct fr_outcome *out,
                       const struct fr_app_emit *to, forerun_result *result,
                       struct fr_error *err) {
    struct fr_collected beside = {
        .out = {0}}; /* notes of both are alike: the first's are kept */
    struct fr_collected *outer = fr_collect(&beside);
    fr_status status = FR_OK; /* a job script alone has no document */
    if (to->to) status = fr_app_emit(to, job, &out, 1, true, &result->json, err);
    result->notes = beside.notes;
    beside = (struct fr_collected){.out = {0}};
    if (status == FR_OK) status = fr_app_emit(to, job, &out, 1, false, &result->text, err);
    fr_text_free(&beside.notes);
    fr_collect(outer);
    return status;
}

static fr_status emit(const forerun_job *job, const char *framework, forerun_result *result,
                      struct fr_error *err) {
    static const struct fr_option option = FR_OPTION_EMIT;
    struct fr_args args = {.option = {&option}, .value = {framework}, .n_options = 1};
    struct fr_app_emit to;
    struct fr_outcome out;
    FR_TRY(fr_library_needs_model(job, err));
    if (!framework) return fr_fail(err, FR_ERR_USAGE, "framework", "is NULL");
    FR_TRY(fr_app_emit_read(&args, &to, err));
    struct fr_job copy = fr_library_copy(job);
    fr_status status = fr_predict(&copy, FR_ENGINE_CLOSED, &out, err);
    if (status == FR_OK && isfinite(out.time_s)) status = write(&copy, &out, &to, result, err);
    if (status == FR_OK) status = fr_result_add(result, &copy, &out, err);
    if (status == FR_OK && out.reasons) status = fr_result_infeasible(&copy, &out, err);
    fr_library_forget(&copy);
    return status;
}

forerun_status forerun_emit(const forerun_job *job, const char *framework,
                            forerun_result **result, forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    forerun_result *made = fr_result_new();
    fr_status status = made ? emit(job, framework, made, &call.err) : (fr_status)FR_ERR_NOMEM;
    return fr_call_answer(&call, status, made, result, error);
}
