/* A calibration as one page: what was measured, how the forms do, and whether to trust it; or results
 * of other commands as one. */
#include <stdio.h>
#include <string.h>

#include "answer/page/page.h"
#include "answer/page/result.h"
#include "app/load.h"
#include "app/verb.h"
#include "base/file.h"
#include "base/text/wrap.h"
#include "calibrate/judge/calibration_page.h"
#include "calibrate/judge/fit.h"
#include "plots/html.h"

static const struct fr_option options[] = {
    {"output", "FILE", "page to write (default: none)", 'o'},
    {"series", "TEXT", "of several series fit those that have TEXT in their name", 0},
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* Results of commands, JSON each: a page of their own. */
static bool are_results(const struct fr_args *args) {
    for (int i = 0; i < args->n_words; i++) {
        const char *dot = strrchr(args->word[i], '.');
        if (!dot || strcmp(dot, ".json") != 0) return false;
    }
    return args->n_words > 0;
}

/* One document of forerun fit --json is taken as it is; samples are fitted first. */
static fr_status load(const struct fr_args *args, struct fr_json_document **document,
                      struct fr_error *err) {
    struct fr_fit_options fitting = {
        .busy_W = -1, .idle_W = -1, .series = fr_args_get(args, "series")};
    struct fr_fitted fitted;
    struct fr_text text = {0};
    const char *path = args->word[0];
    if (are_results(args)) return fr_json_read(path, document, err);
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

static fr_status add_result(const char *path, const struct fr_json *root, struct fr_text *html,
                            struct fr_page_gaps *gaps, struct fr_error *err) {
    const char *schema = fr_json_text_at(root, "schema");
    if (strncmp(schema, "forerun/", 8) != 0)
        return fr_json_fail(root, err,
                            "is no result of forerun: it has no \"schema\" "
                            "\"forerun/...\"");
    FR_TRY(fr_check_shown(root, err));
    const char *slash = strrchr(path, '/');
    fr_html_addf(html, "<h2>%s</h2>\n<p class=note>%s, forerun %s</p>\n",
                 slash ? slash + 1 : path, schema, FR_VERSION);
    fr_result_html(root, html, gaps);
    return FR_OK;
}

/* A page with gaps is written all the same, at once, since a command that fails leaves its outputs as they were;
 * then the command fails for them. */
static fr_status write_page(const char *out, const struct fr_text *html,
                            const struct fr_page_gaps *gaps, struct fr_error *err) {
    if (html->failed || gaps->said.failed)
        return fr_fail(err, FR_ERR_NOMEM, out, "out of memory");
    if (!gaps->count) return fr_file_write_last(out, fr_text_get(html), html->length, err);
    return fr_file_write(out, fr_text_get(html), html->length, err);
}

static fr_status tell_gaps(const char *out, const struct fr_page_gaps *gaps,
                           struct fr_error *err) {
    if (!gaps->count) return FR_OK;
    return fr_fail(err, FR_ERR_EXTERNAL, out, "lacks %d part%s, as it says there: %s",
                   gaps->count, gaps->count == 1 ? "" : "s", fr_text_get(&gaps->said));
}

static fr_status report_results(const struct fr_args *args, struct fr_error *err) {
    const char *out = NULL;
    struct fr_text html = {0};
    struct fr_page_gaps gaps = {0};
    fr_status status = FR_OK;
    if (fr_args_has(args, "json"))
        return fr_fail(err, FR_ERR_USAGE, "--json",
                       "is of a calibration; these are JSON already");
    FR_TRY(fr_args_required(args, "output", &out, err));
    FR_TRY(fr_file_check_writable(out, err));
    fr_page_begin("Results", &html);
    for (int i = 0; i < args->n_words && status == FR_OK; i++) {
        struct fr_json_document *document = NULL;
        status = fr_json_read(args->word[i], &document, err);
        if (status != FR_OK) break;
        struct fr_json root = fr_json_root(document);
        status = add_result(args->word[i], &root, &html, &gaps, err);
        fr_json_free(document);
    }
    fr_page_end(&html);
    if (status == FR_OK) status = write_page(out, &html, &gaps, err);
    if (status == FR_OK) status = tell_gaps(out, &gaps, err);
    fr_page_gaps_free(&gaps);
    fr_text_free(&html);
    return status;
}

static void print_checks(const struct fr_checks *checks, struct fr_text *text) {
    enum { REASON = 25 };
    for (int i = 0; i < checks->count; i++) {
        size_t before = text->length;
        fr_text_addf(text, "%s  %-18s ", fr_verdict_names[checks->item[i].verdict],
                     checks->item[i].subject);
        if (text->length - before > REASON) fr_text_addf(text, "\n%*s", REASON, "");
        fr_wrap_cell(text, REASON, checks->item[i].reason);
    }
}

static fr_status report(const struct fr_args *args, struct fr_json_document **document,
                        struct fr_page_gaps *gaps, struct fr_error *err) {
    const char *out = fr_args_get(args, "output");
    struct fr_checks checks = {0};
    struct fr_text html = {0}, text = {0};
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "nothing to report on: give samples, or the JSON of forerun fit");
    if (out) FR_TRY(fr_file_check_writable(out, err));
    FR_TRY(load(args, document, err));
    struct fr_json root = fr_json_root(*document);
    bool fitted = strcmp(fr_json_text_at(&root, "schema"), "forerun/fit/1") == 0;
    if (are_results(args) && (args->n_words > 1 || !fitted)) return report_results(args, err);
    FR_TRY(fr_calibration_check(&root, &checks, err));
    if (out) {
        fr_calibration_html(&root, &checks, &html, gaps);
        fr_status status = write_page(out, &html, gaps, err);
        fr_text_free(&html);
        if (status != FR_OK || strcmp(out, "-") == 0) return status;
    }
    if (fr_args_has(args, "json"))
        write_json(&text, &root, &checks);
    else
        print_checks(&checks, &text);
    return fr_app_print(&text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_page_gaps gaps = {0};
    fr_status status = report(args, &document, &gaps, err);
    if (status == FR_OK) status = tell_gaps(fr_args_get(args, "output"), &gaps, err);
    fr_page_gaps_free(&gaps);
    fr_json_free(document);
    return status;
}

static const struct fr_output outputs[] = {{"output", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_report = {
    .name = "report",
    .summary = "a calibration, or any result, as one HTML page: figures, tables",
    .usage = "SAMPLES...|FIT.json [-o report.html] [--json]\n"
             "       forerun report RESULT.json... -o report.html",
    .details =
        "A calibration: provenance, every point with its interval and outliers, residuals\n"
        "of all forms on fitted and on held-out points, and PASS, WARN or FAIL with reasons.\n"
        "Results (the JSON of predict, search, simulate, validate, score, reproduce, ...): "
        "what "
        "binds, pictures,\n"
        "and every list as a table that sorts (a click on its head) and filters.\n"
        "The page is one file that fetches nothing; without scripts it still shows all. A "
        "picture that cannot be drawn is "
        "said there and on stderr, and the exit code is 1.\n",
    .options = options,
    .outputs = outputs,
    .run = run,
};
