/* Any JSON is the fit of a calibration, and then its page has no mark-up of its names and no script but its
 * own, or is refused with a place; likewise as any result. */
#include "answer/page/page.h"
#include "answer/page/result.h"
#include "calibrate/judge/calibration_page.h"
#include "tests/fuzz/fuzz.h"

/* The page's own pictures stand in it; no name makes one. */
static bool own_pictures(const char *html) {
    static const char own[] = "<figure><img alt=\"",
                      data[] = "\" src=\"data:image/svg+xml;base64,";
    for (const char *at = html; (at = strstr(at, "<img")) != NULL; at++) {
        const char *begins = at - strlen("<figure>");
        if (begins < html || strncmp(begins, own, strlen(own)) != 0) return false;
        const char *alt = begins + strlen(own);
        if (strncmp(alt + strcspn(alt, "\""), data, strlen(data)) != 0) return false;
    }
    return true;
}

FR_FUZZ_TEXT(text, size) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    struct fr_checks checks = {0};
    struct fr_page_gaps gaps = {0};
    struct fr_text html = {0};
    if (fr_json_parse(text, size, "fuzz", &document, &err) != FR_OK) return;
    struct fr_json root = fr_json_root(document);
    if (fr_calibration_check(&root, &checks, &err) == FR_OK) {
        fr_calibration_html(&root, &checks, &html, &gaps);
        FR_FUZZ_REQUIRE(strstr(fr_text_get(&html), "</html>"));
        const char *own = strstr(fr_text_get(&html), "<script");
        FR_FUZZ_REQUIRE(!own || !strstr(own + 1, "<script"));
        FR_FUZZ_REQUIRE(!strstr(fr_text_get(&html), ">nan<"));
        FR_FUZZ_REQUIRE(own_pictures(fr_text_get(&html)));
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    html.length = 0;
    fr_result_html(&root, &html, &gaps);
    FR_FUZZ_REQUIRE(!strstr(fr_text_get(&html), "<script"));
    fr_text_free(&html);
    fr_page_gaps_free(&gaps);
    fr_json_free(document);
}
