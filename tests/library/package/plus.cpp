// The header from C++: every option's defaults, and a question.
#include <forerun.h>

#include <cstdio>

int main() {
    forerun_search_options search = FORERUN_SEARCH_DEFAULTS;
    forerun_simulate_options simulate = FORERUN_SIMULATE_DEFAULTS;
    forerun_place_options place = FORERUN_PLACE_DEFAULTS;
    const char *const sets[] = {"method=phantom", "tp=8", "ghost=16", nullptr};
    forerun_job *job = nullptr;
    forerun_result *result = nullptr;
    forerun_error error;
    forerun_status status = forerun_load("frontier", "ffn-16384", nullptr, sets, &job, &error);
    if (status == FORERUN_OK) status = forerun_predict(job, &result, &error);
    if (status == FORERUN_OK) std::printf("%g s\n", forerun_outcome_at(result, 0)->time_s);
    forerun_result_free(result);
    forerun_job_free(job);
    return status != FORERUN_OK || search.top != 10 || simulate.messages || place.ranks;
}
