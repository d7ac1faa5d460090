/** @file
 *  Contents of every page: head, style, scripts, a licence.  cmake/page.cmake compiles them in. */
#ifndef FR_ANSWER_PAGE_ASSETS_H
#define FR_ANSWER_PAGE_ASSETS_H

#include <stddef.h>

struct fr_page_asset {
    const char *text;
    size_t length; /**< 0: not there when Forerun was built */
    unsigned char sha256[32];
};

extern const struct fr_page_asset
    fr_page_head; /**< head.html, with @style@, @title@ and @scripts@ to fill in */
extern const struct fr_page_asset fr_page_style, fr_page_script; /**< page.css, page.js */
extern const struct fr_page_asset fr_page_chart;   /**< Chart.js; draws live figures */
extern const struct fr_page_asset fr_page_licence; /**< of Chart.js */

#endif
