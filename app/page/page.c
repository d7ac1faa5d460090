#include "app/page/page.h"

#include <string.h>

#include "answer/page/result.h"
#include "app/load.h"
#include "base/file.h"
#include "calibrate/judge/calibration_page.h"

bool fr_app_paged(const struct fr_args *args) { return args && fr_args_get(args, "page"); }

/* A page with gaps is written at once, since a command that fails leaves its other outputs as they were; then the command
 * fails for the gaps. */
fr_status fr_app_page_put(const struct fr_page *page, const char *out, struct fr_error *err) {
    if (page->html.failed || page->lost.failed)
        return fr_fail(err, FR_ERR_NOMEM, out, "out of memory");
    if (!page->gaps)
        return fr_file_write_last(out, fr_text_get(&page->html), page->html.length, err);
    FR_TRY(fr_file_write(out, fr_text_get(&page->html), page->html.length, err));
    return fr_fail(err, FR_ERR_EXTERNAL, out, "lacks %d part%s, as it says there: %s",
                   page->gaps, page->gaps == 1 ? "" : "s", fr_text_get(&page->lost));
}

fr_status fr_app_page_write(const struct fr_json *root, const char *out, struct fr_error *err) {
    struct fr_page page = {.gaps = 0};
    char kind[FR_RESULT_KIND];
    if (strcmp(fr_result_kind(root, kind), "fit") == 0) {
        struct fr_checks checks = {0};
        FR_TRY(fr_calibration_check(root, &checks, err));
        fr_calibration_page(&page, root, &checks);
    } else {
        FR_TRY(fr_check_shown(root, err));
        fr_result_page(&page, root);
    }
    fr_status status = fr_app_page_put(&page, out, err);
    fr_page_free(&page);
    return status;
}

static fr_status write_page(const struct fr_text *json, const char *out, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    if (json->failed) return fr_fail(err, FR_ERR_NOMEM, out, "out of memory");
    FR_TRY(fr_json_parse(fr_text_get(json), json->length, "answer", &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = fr_app_page_write(&root, out, err);
    fr_json_free(document);
    return status;
}

/* The page goes first, since printing may be the command's end: `| head`. */
fr_status fr_app_answer(const struct fr_args *args, struct fr_text *text, struct fr_text *json,
                        struct fr_error *err) {
    const char *out = args ? fr_args_get(args, "page") : NULL;
    fr_status written = out ? write_page(json, out, err) : FR_OK, printed = FR_OK;
    fr_text_free(json);
    bool shown = written == FR_OK || written == FR_ERR_EXTERNAL;
    if (shown && !(out && strcmp(out, "-") == 0))
        printed = fr_app_print(text, written == FR_OK ? err : NULL);
    else
        fr_text_free(text);
    return written == FR_OK ? printed : written;
}
