#include "app/fitting.h"

#include <string.h>

#include "app/completeness.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/result.h"
#include "base/file.h"
#include "base/text/wrap.h"
#include "calibrate/fit/brief.h"
#include "calibrate/judge/fit.h"

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

static fr_status print(const struct fr_fitted *fitted, const char *out, const char *samples,
                       fr_fitting_form form, const struct fr_args *args, struct fr_error *err) {
    const struct fr_fit_verdict *judged = &fitted->result.judged;
    struct fr_text text = {0}, page = {0};
    enum { VERDICT = 14 }; /* where its reason begins */
    if (form == FR_FITTING_JSON)
        fr_fit_json(&text, &fitted->samples, &fitted->result);
    else if (form == FR_FITTING_BRIEF)
        fr_fit_brief(&fitted->result, out, samples, &text);
    else {
        fr_fit_print(&fitted->result, &text);
        fr_text_addf(&text, "\nverdict %s%s", judged->verdict, judged->n_reasons ? ": " : "");
        fr_wrap_cell(&text, VERDICT, judged->n_reasons ? judged->reason[0] : "");
        if (out) fr_text_addf(&text, "cluster file: %s\n", out);
    }
    if (fr_app_paged(args)) fr_fit_json(&page, &fitted->samples, &fitted->result);
    return fr_app_answer(args, &text, &page, err);
}

/* Does @p text have all that a cluster file at @p out has?  A file that is no JSON is replaced
 * as any file is. */
static bool is_as_complete(const char *out, const struct fr_text *text, bool ended_early,
                           char *lacks, size_t capacity) {
    struct fr_json_document *then = NULL, *now = NULL;
    bool as_complete = true;
    if (strcmp(out, "-") != 0 && fr_file_holds(out) &&
        fr_json_read(out, &then, NULL) == FR_OK &&
        fr_json_parse(text->data, text->length, out, &now, NULL) == FR_OK) {
        struct fr_json old = fr_json_root(then), new = fr_json_root(now);
        as_complete = fr_cluster_as_complete(&old, &new, ended_early, lacks, capacity);
    }
    fr_json_free(then);
    fr_json_free(now);
    return as_complete;
}

static fr_status write_cluster(const struct fr_fitted *fitted, const char *out,
                               bool ended_early, struct fr_result_file *result,
                               struct fr_error *err) {
    struct fr_text text = {0};
    char lacks[240];
    *result = (struct fr_result_file){.path = out};
    fr_status status = fr_fitted_cluster(fitted, out, &text, err);
    if (status == FR_OK && !is_as_complete(out, &text, ended_early, lacks, sizeof lacks))
        result->lacks = lacks;
    if (status == FR_OK) status = fr_result_write(result, fr_text_get(&text), text.length, err);
    fr_text_free(&text);
    return status;
}

fr_status fr_fitting_run(const char *const *paths, int n_paths, const char *out,
                         bool ended_early, const struct fr_fit_options *options,
                         fr_fitting_form form, const struct fr_args *args,
                         struct fr_error *err) {
    struct fr_fitted fitted = {0};
    struct fr_result_file result = {.path = NULL};
    fr_status status = out ? fr_file_check_writable(out, err) : FR_OK;
    if (status == FR_OK) status = fr_fitted_make(paths, n_paths, options, &fitted, err);
    if (status == FR_OK && out) status = write_cluster(&fitted, out, ended_early, &result, err);
    if ((status == FR_OK || status == FR_ERR_PARTIAL) && !(out && strcmp(out, "-") == 0)) {
        fr_status printed =
            print(&fitted, out ? result.written : NULL, paths[0], form, args, err);
        if (printed != FR_OK) status = printed;
    }
    fr_fitted_free(&fitted);
    return status;
}
