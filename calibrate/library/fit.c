#include "calibrate/judge/fit.h"

#include <math.h>
#include <string.h>

#include "library/call.h"
#include "library/options.h"
#include "library/result.h"
#include "models/job/preset.h"

static fr_status read_options(const forerun_fit_options *o, struct fr_fit_options *out,
                              struct fr_error *err) {
    int form = 0;
    bool busy = o->busy_W != -1, idle = o->idle_W != -1;
    FR_TRY(fr_options_choice("form", o->form, fr_fit_form_names, &form, err));
    *out = (struct fr_fit_options){.form = (fr_fit_form)form,
                                   .name = o->name,
                                   .series = o->series,
                                   .busy_W = o->busy_W,
                                   .idle_W = o->idle_W};
    if (busy != idle) return fr_fail(err, FR_ERR_USAGE, "busy_W", "and idle_W belong together");
    if (busy && !(isfinite(o->busy_W) && isfinite(o->idle_W)))
        return fr_fail(err, FR_ERR_USAGE, "busy_W", "is no power");
    return busy ? fr_fit_options_check_power(out, err) : FR_OK;
}

static fr_status refuse_input(const char *what, struct fr_error *err) {
    return fr_fail(err, FR_ERR_USAGE, what,
                   "\"-\" is standard input, which is the program's; name a file");
}

/* How many there are. */
static fr_status count(const char *const *samples, int *n, struct fr_error *err) {
    for (*n = 0; samples && samples[*n]; ++*n)
        if (strcmp(samples[*n], "-") == 0) return refuse_input("samples", err);
    return *n > 0 ? FR_OK : fr_fail(err, FR_ERR_USAGE, "samples", "are none");
}

static fr_status fit_with(const char *const *samples, int n,
                          const struct fr_fit_options *options, forerun_result *result,
                          struct fr_error *err) {
    struct fr_fitted f = {.result = {.n_missing = 0}};
    fr_call_wait(); /* GSL's error handler is one for the whole process, and each fit puts its own in place */
    fr_status status = fr_fitted_make(samples, n, options, &f, err);
    fr_call_go_on();
    if (status == FR_OK) status = fr_fitted_cluster(&f, "cluster", &result->text, err);
    if (status == FR_OK) fr_fit_json(&result->json, &f.samples, &f.result);
    fr_fitted_free(&f);
    return status;
}

static fr_status fit(const char *const *samples, const forerun_fit_options *given,
                     forerun_result *result, struct fr_error *err) {
    forerun_fit_options o = FORERUN_FIT_DEFAULTS;
    struct fr_fit_options options;
    struct fr_json_document *base = NULL;
    int n = 0;
    FR_TRY(count(samples, &n, err));
    FR_TRY(fr_options_take(&o, sizeof o, given, "FORERUN_FIT_DEFAULTS", err));
    FR_TRY(read_options(&o, &options, err));
    if (o.base && strcmp(o.base, "-") == 0) return refuse_input("base", err);
    if (o.base) FR_TRY(fr_preset_or_file_read("cluster", o.base, &base, err));
    options.base = base;
    fr_status status = fit_with(samples, n, &options, result, err);
    fr_json_free(base);
    return status;
}

forerun_status forerun_fit(const char *const *samples, const forerun_fit_options *options,
                           forerun_result **result, forerun_error *error) {
    struct fr_call call;
    fr_call_begin(&call);
    forerun_result *made = fr_result_new();
    fr_status status = made ? fit(samples, options, made, &call.err) : (fr_status)FR_ERR_NOMEM;
    return fr_call_answer(&call, status, made, result, error);
}
