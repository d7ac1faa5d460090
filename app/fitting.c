#include "app/fitting.h"

#include <string.h>

#include "answer/fit.h"
#include "app/load.h"
#include "app/text/wrap.h"
#include "base/file.h"

fr_status fr_fitting_options(const struct fr_args *args, struct fr_fit_options *options,
                             struct fr_error *err) {
    const char *busy = fr_args_get(args, "power-busy"), *idle = fr_args_get(args, "power-idle");
    int form = FR_FIT_BEST;
    *options = (struct fr_fit_options){.busy_W = -1,
                                       .idle_W = -1,
                                       .name = fr_args_get(args, "name"),
                                       .series = fr_args_get(args, "series")};
    FR_TRY(fr_args_choice(args, "form", fr_fit_form_names, &form, err));
    options->form = (fr_fit_form)form;
    if (!busy != !idle)
        return fr_fail(err, FR_ERR_USAGE, "--power-busy",
                       "--power-busy and --power-idle belong together");
    if (!busy) return FR_OK;
    FR_TRY(fr_quantity_parse(busy, FR_QUANTITY_POWER, "--power-busy", &options->busy_W, err));
    FR_TRY(fr_quantity_parse(idle, FR_QUANTITY_POWER, "--power-idle", &options->idle_W, err));
    return fr_fit_options_check_power(options, err);
}

static fr_status print(const struct fr_fitted *fitted, const char *out, bool json,
                       struct fr_error *err) {
    const struct fr_fit_verdict *judged = &fitted->result.judged;
    struct fr_text text = {0};
    enum { VERDICT = 14 }; /* where its reason begins */
    if (json)
        fr_fit_json(&text, &fitted->samples, &fitted->result);
    else {
        fr_fit_print(&fitted->result, &text);
        fr_text_addf(&text, "\nverdict %s%s", judged->verdict, judged->n_reasons ? ": " : "");
        fr_wrap_cell(&text, VERDICT, judged->n_reasons ? judged->reason[0] : "");
        if (out) fr_text_addf(&text, "cluster file: %s\n", out);
    }
    return fr_app_print(&text, err);
}

fr_status fr_fitting_run(const char *const *paths, int n_paths, const char *out,
                         const struct fr_fit_options *options, bool json,
                         struct fr_error *err) {
    struct fr_fitted fitted = {0};
    fr_status status = out ? fr_file_check_writable(out, err) : FR_OK;
    if (status == FR_OK) status = fr_fitted_make(paths, n_paths, options, &fitted, err);
    if (status == FR_OK && out) status = fr_fitted_write(&fitted, out, err);
    if (status == FR_OK && !(out && strcmp(out, "-") == 0))
        status = print(&fitted, out, json, err);
    fr_fitted_free(&fitted);
    return status;
}
