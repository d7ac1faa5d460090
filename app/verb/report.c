/* A calibration as one page: what was measured, how the forms do, and whether to trust it. */
#include <stdio.h>
#include <string.h>

#include "answer/fit.h"
#include "app/load.h"
#include "app/page/calibration.h"
#include "app/verb.h"
#include "base/file.h"

static const struct fr_option options[] = {
    {"output", "FILE", "page to write (default: none)", 'o'},
    {"series", "TEXT", "of several series fit those that have TEXT in their name", 0},
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* One document of forerun fit --json is taken as it is; samples are fitted first. */
static fr_status load(const struct fr_args *args, struct fr_json_document **document,
                      struct fr_error *err) {
    struct fr_fit_options fitting = {
        .busy_W = -1, .idle_W = -1, .series = fr_args_get(args, "series")};
    struct fr_fitted fitted;
    struct fr_text text = {0};
    const char *path = args->word[0];
    size_t length = strlen(path);
    if (args->n_words == 1 && length > 5 && strcmp(path + length - 5, ".json") == 0)
        return fr_json_read(path, document, err);
    fr_status status = fr_fitted_make(args->word, args->n_words, &fitting, &fitted, err);
    if (status == FR_OK) {
        fr_fit_json(&text, &fitted.samples, &fitted.result);
        status = text.failed
                     ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory")
                     : fr_json_parse(fr_text_get(&text), text.length, "fit", document, err);
    }
    fr_text_free(&text);
    fr_fitted_free(&fitted);
    return status;
}

static void write_json(struct fr_text *text, const struct fr_json *root,
                       const struct fr_checks *checks) {
    static const char *const copied[] = {"provenance", "sources",       "operations",
                                         "series",     "gemm_left_out", NULL};
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/report/1");
    fr_json_add_string(&w, "verdict", fr_verdict_names[fr_calibration_verdict(checks)]);
    fr_json_add_array(&w, "checks");
    for (int i = 0; i < checks->count; i++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "subject", checks->item[i].subject);
        fr_json_add_string(&w, "verdict", fr_verdict_names[checks->item[i].verdict]);
        fr_json_add_string(&w, "reason", checks->item[i].reason);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    for (int i = 0; copied[i]; i++) {
        struct fr_json member = fr_json_member(root, copied[i]);
        fr_json_key(&w, copied[i]);
        fr_json_put_copy(&w, &member);
    }
    fr_json_end_object(&w);
}

static fr_status report(const struct fr_args *args, struct fr_json_document **document,
                        struct fr_error *err) {
    const char *out = fr_args_get(args, "output");
    struct fr_checks checks = {0};
    struct fr_text html = {0}, text = {0};
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "nothing to report on: give samples, or the JSON of forerun fit");
    if (out) FR_TRY(fr_file_check_writable(out, err));
    FR_TRY(load(args, document, err));
    struct fr_json root = fr_json_root(*document);
    FR_TRY(fr_calibration_check(&root, &checks, err));
    if (out) {
        fr_calibration_html(&root, &checks, &html);
        fr_status status = html.failed
                               ? fr_fail(err, FR_ERR_NOMEM, out, "out of memory")
                               : fr_file_write_last(out, fr_text_get(&html), html.length, err);
        fr_text_free(&html);
        if (status != FR_OK || strcmp(out, "-") == 0) return status;
    }
    if (fr_args_has(args, "json"))
        write_json(&text, &root, &checks);
    else
        for (int i = 0; i < checks.count; i++)
            fr_text_addf(&text, "%s  %-28s %s\n", fr_verdict_names[checks.item[i].verdict],
                         checks.item[i].subject, checks.item[i].reason);
    return fr_app_print(&text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    fr_status status = report(args, &document, err);
    fr_json_free(document);
    return status;
}

static const struct fr_output outputs[] = {{"output", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_report = {
    .name = "report",
    .summary = "a calibration as one HTML page: figures, every point, verdicts",
    .usage = "SAMPLES...|FIT.json [-o report.html] [--json]",
    .details = "Provenance, pinning, every point with its interval and outliers, segments, "
               "residuals of "
               "all forms on what\n"
               "they were fitted to and on what was held out, the domain of validity, and "
               "PASS, WARN or "
               "FAIL with reasons.\n"
               "The page is one file that fetches nothing.\n",
    .options = options,
    .outputs = outputs,
    .run = run,
};
