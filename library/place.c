#include "answer/placement/place.h"

#include "library/job.h"
#include "library/options.h"
#include "library/result.h"

static fr_status in_range(const char *name, int64_t value, struct fr_error *err) {
    return value >= 0 && value <= FR_RANK_MAP_MAX
               ? FR_OK
               : fr_fail(err, FR_ERR_USAGE, name, "must lie between 0 and %d", FR_RANK_MAP_MAX);
}

static fr_status read_options(const forerun_job *job, const forerun_place_options *o,
                              struct fr_place_ask *ask, int *launcher, struct fr_error *err) {
    FR_TRY(in_range("ranks", o->ranks, err));
    FR_TRY(in_range("ways", o->ways, err));
    FR_TRY(in_range("ranks_per_node", o->ranks_per_node, err));
    if (o->launcher)
        FR_TRY(fr_options_choice("launcher", o->launcher, fr_place_launchers, launcher, err));
    *ask = (struct fr_place_ask){.ranks = o->ranks,
                                 .ways = o->ways,
                                 .ranks_per_node = o->ranks_per_node,
                                 .with_model = job->model != NULL,
                                 .placement = o->placement};
    return FR_OK;
}

static fr_status place(const forerun_job *job, const forerun_place_options *given,
                       struct fr_placing *q, forerun_result *result, struct fr_error *err) {
    forerun_place_options o = FORERUN_PLACE_DEFAULTS;
    struct fr_place_ask ask;
    int launcher = -1;
    if (!job) return fr_fail(err, FR_ERR_USAGE, "job", "is NULL; forerun_load makes one");
    FR_TRY(fr_options_take(&o, sizeof o, given, "FORERUN_PLACE_DEFAULTS", err));
    FR_TRY(read_options(job, &o, &ask, &launcher, err));
    struct fr_job copy = fr_library_copy(job); /* whose levels may shrink */
    fr_status status = fr_place(&copy, &ask, q, err);
    if (status != FR_OK) return status;
    fr_place_json(&result->json, q);
    if (launcher >= 0) fr_place_lines(&result->text, q, (fr_place_launcher)launcher);
    return FR_OK;
}

forerun_status forerun_place(const forerun_job *job, const forerun_place_options *options,
                             forerun_result **result, forerun_error *error) {
    struct fr_call call;
    struct fr_placing q = {0};
    fr_call_begin(&call);
    forerun_result *made = fr_result_new();
    fr_status status =
        made ? place(job, options, &q, made, &call.err) : (fr_status)FR_ERR_NOMEM;
    fr_placing_free(&q);
    return fr_call_answer(&call, status, made, result, error);
}
