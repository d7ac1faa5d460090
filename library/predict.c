#include "answer/predict/predict.h"
#include "library/job.h"
#include "library/result.h"

static fr_status predict(const forerun_job *job, bool explain, forerun_result *result,
                         struct fr_error *err) {
    struct fr_outcome out;
    FR_TRY(fr_library_needs_model(job, err));
    struct fr_job copy = fr_library_copy(job);
    fr_status status = fr_predict(&copy, FR_ENGINE_CLOSED, &out, err);
    if (status == FR_OK) {
        fr_predict_json(&result->json, &copy, &out, NULL, explain);
        status = fr_result_add(result, &copy, &out, err);
    }
    if (status == FR_OK && out.reasons) status = fr_result_infeasible(&copy, &out, err);
    fr_library_forget(&copy);
    return status;
}

static forerun_status answer(const forerun_job *job, bool explain, forerun_result **result,
                             forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    forerun_result *made = fr_result_new();
    fr_status status = made ? predict(job, explain, made, &call.err) : (fr_status)FR_ERR_NOMEM;
    return fr_call_answer(&call, status, made, result, error);
}

forerun_status forerun_predict(const forerun_job *job, forerun_result **result,
                               forerun_error *error) {
    return answer(job, false, result, error);
}

forerun_status forerun_explain(const forerun_job *job, forerun_result **result,
                               forerun_error *error) {
    return answer(job, true, result, error);
}
