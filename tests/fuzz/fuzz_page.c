/* Any JSON is the fit of a calibration, and then its page has no mark-up of its names and no script but its
 * own, or is refused with a place; likewise as any result. */
#include "answer/page/page.h"
#include "answer/page/result.h"
#include "calibrate/judge/calibration_page.h"
#include "tests/fuzz/fuzz.h"

/* The page's own pictures stand in it; no name makes one. */
static bool own_pictures(const char *html) {
    static const char own[] = "<img alt=\"", data[] = "\" src=\"data:image/svg+xml;base64,";
    for (const char *at = html; (at = strstr(at, "<img")) != NULL; at++) {
        const char *tag = at - 1; /* of the figure that it is the picture of */
        while (tag > html && *tag != '<') tag--;
        if (strncmp(tag, "<figure", 7) != 0 || at[-1] != '>') return false;
        if (strncmp(at, own, strlen(own)) != 0) return false;
        const char *alt = at + strlen(own);
        if (strncmp(alt + strcspn(alt, "\""), data, strlen(data)) != 0) return false;
    }
    return true;
}

FR_FUZZ_TEXT(text, size) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    struct fr_checks checks = {0};
    struct fr_page page = {.gaps = 0}, sections = {.gaps = 0};
    if (fr_json_parse(text, size, "fuzz", &document, &err) != FR_OK) return;
    struct fr_json root = fr_json_root(document);
    if (fr_calibration_check(&root, &checks, &err) == FR_OK) {
        fr_calibration_page(&page, &root, &checks);
        const char *html = fr_text_get(&page.html);
        int scripts = 0;
        for (const char *at = html; (at = strstr(at, "<script")); at++) scripts++;
        FR_FUZZ_REQUIRE(strstr(html, "</html>"));
        FR_FUZZ_REQUIRE(scripts == (page.live ? 2 : 1));
        FR_FUZZ_REQUIRE(!strstr(html, ">nan<"));
        FR_FUZZ_REQUIRE(own_pictures(html));
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_result_sections(&sections, &root);
    FR_FUZZ_REQUIRE(!strstr(fr_text_get(&sections.html), "<script"));
    fr_page_free(&page);
    fr_page_free(&sections);
    fr_json_free(document);
}
