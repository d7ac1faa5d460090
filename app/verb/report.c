/* A calibration as one page: what was measured, how the forms do, and whether to trust it; or results
 * of other commands as one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/page/opening.h"
#include "answer/page/page.h"
#include "answer/page/result.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/verb.h"
#include "base/file.h"
#include "base/text/version.h"
#include "base/text/wrap.h"
#include "calibrate/judge/check.h"
#include "calibrate/judge/fit.h"
#include "models/job/answer_schema.h"
#include "models/job/file_kind.h"

static const struct fr_option options[] = {
    {"output", "FILE", "page to write (default: none)", 'o'},
    {"series", "TEXT", "of several series fit those that have TEXT in their name", 0},
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

/* The content of standard input decides, since it has no name; it can be read again. */
static bool is_result_on_standard(void) {
    char *data = NULL;
    size_t length = 0;
    if (fr_file_read("-", FR_FILE_MAX_B, &data, &length, NULL) != FR_OK) return false;
    fr_file_kind kind = fr_file_kind_of_text(data, length);
    free(data);
    return kind == FR_FILE_FIT || kind == FR_FILE_OUTCOME || kind == FR_FILE_SEARCH ||
           kind == FR_FILE_ANSWER;
}

/* Results of commands, JSON each: a page of their own. */
static bool are_results(const struct fr_args *args) {
    for (int i = 0; i < args->n_words; i++) {
        const char *dot = strrchr(args->word[i], '.');
        if (strcmp(args->word[i], "-") == 0 && is_result_on_standard()) continue;
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

/* The page to write: -o and --page are one here. */
static fr_status output_of(const struct fr_args *args, const char **out, struct fr_error *err) {
    const char *page = fr_args_get(args, "page");
    *out = fr_args_get(args, "output");
    if (*out && page)
        return fr_fail(err, FR_ERR_USAGE, "--page", "is the same as --output: give one");
    if (!*out) *out = page;
    return FR_OK;
}

static fr_status read_result(const char *path, struct fr_json_document **document,
                             struct fr_error *err) {
    FR_TRY(fr_json_read(path, document, err));
    struct fr_json root = fr_json_root(*document);
    FR_TRY(fr_answer_schema_check(&root, err));
    return fr_check_shown(&root, err);
}

/* One of several on a page, under its file's name and its question. */
static fr_status add_result(const char *path, struct fr_page *page, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    const char *slash = strrchr(path, '/');
    fr_status status = read_result(path, &document, err);
    if (status == FR_OK) {
        struct fr_json root = fr_json_root(document);
        struct fr_text question = {0};
        char kind[FR_RESULT_KIND];
        fr_page_question(&root, fr_result_kind(&root, kind), &question);
        fr_html_addf(&page->html, "{h2 %s}\n{p.note %s, %s, forerun %s}\n",
                     fr_text_get(&question), slash ? slash + 1 : path,
                     fr_json_text_at(&root, "schema"), fr_version);
        fr_text_free(&question);
        fr_result_sections(page, &root);
    }
    fr_json_free(document);
    return status;
}

static fr_status report_one(const char *path, const char *out, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    fr_status status = read_result(path, &document, err);
    if (status == FR_OK) {
        struct fr_json root = fr_json_root(document);
        status = fr_app_page_write(&root, out, err);
    }
    fr_json_free(document);
    return status;
}

static fr_status report_results(const struct fr_args *args, const char *out,
                                struct fr_error *err) {
    struct fr_page page = {.gaps = 0};
    fr_status status = FR_OK;
    if (fr_args_has(args, "json"))
        return fr_fail(err, FR_ERR_USAGE, "--json",
                       "is of a calibration; these are JSON already");
    if (!out)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "--output is required, e.g. --output report.html");
    if (args->n_words == 1) return report_one(args->word[0], out, err);
    fr_page_begin(&page, "Results");
    for (int i = 0; i < args->n_words && status == FR_OK; i++)
        status = add_result(args->word[i], &page, err);
    fr_page_end(&page);
    if (status == FR_OK) status = fr_app_page_put(&page, out, err);
    fr_page_free(&page);
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
                        struct fr_error *err) {
    const char *out = NULL;
    struct fr_checks checks = {0};
    struct fr_text text = {0};
    struct fr_error gaps = {.status = FR_OK};
    if (args->n_words == 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "nothing to report on: give samples, or the JSON of forerun fit");
    FR_TRY(output_of(args, &out, err));
    if (out) FR_TRY(fr_file_check_writable(out, err));
    FR_TRY(load(args, document, err));
    struct fr_json root = fr_json_root(*document);
    bool fitted = strcmp(fr_json_text_at(&root, "schema"), "forerun/fit/1") == 0;
    if (are_results(args) && (args->n_words > 1 || !fitted))
        return report_results(args, out, err);
    FR_TRY(fr_calibration_check(&root, &checks, err));
    if (out) {
        fr_status status = fr_app_page_write(&root, out, &gaps);
        bool lacks = status == FR_ERR_EXTERNAL;
        if (status != FR_OK && (!lacks || strcmp(out, "-") == 0)) {
            *err = gaps;
            return status;
        }
        if (strcmp(out, "-") == 0) return FR_OK;
    }
    if (fr_args_has(args, "json"))
        write_json(&text, &root, &checks);
    else
        print_checks(&checks, &text);
    FR_TRY(fr_app_print(&text, err));
    if (gaps.status != FR_OK) *err = gaps;
    return gaps.status;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    fr_status status = report(args, &document, err);
    fr_json_free(document);
    return status;
}

/* Samples and a fit have one; other results are documents already. */
static bool document(const struct fr_args *args) {
    if (!are_results(args)) return true;
    return args->n_words == 1 && fr_file_kind_of(args->word[0]) == FR_FILE_FIT;
}

static const struct fr_output outputs[] = {{"output", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_report = {
    .name = "report",
    .summary = "a calibration, or any result, as one HTML page: answer, live figures, tables",
    .usage = "SAMPLES...|FIT.json [-o report.html] [--json]\n"
             "       forerun report RESULT.json... -o report.html",
    .details =
        "A calibration: PASS, WARN or FAIL with reasons, every point with its interval and\n"
        "outliers, residuals of all forms on fitted and on held-out points, and the range of\n"
        "validity. Results (the JSON of predict, search, simulate, validate, score,\n"
        "reproduce, ...): the question and its answer, figures that show a plan on hover,\n"
        "sliders for tokens and prices, and tables that sort and filter. Verbs write the same\n"
        "page with --page FILE. The page is one file that fetches nothing. Without scripts it\n"
        "still shows all. A figure that cannot be drawn is named there and on stderr, and the\n"
        "exit code is 1.\n",
    .options = options,
    .outputs = outputs,
    .asks = true,
    .document = document,
    .run = run,
};
