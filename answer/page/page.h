/** @file
 *  One HTML page: how does it begin, end, and show a figure?
 *
 *  A page is one file that fetches nothing.  Its Content-Security-Policy names our script and Chart.js by their SHA-256;
 *  no other script runs.  Texts of others reach it through fr_html_addf, which escapes them.  Without scripts a page
 *  still shows all: tables, and figures as pictures. */
#ifndef FR_ANSWER_PAGE_PAGE_H
#define FR_ANSWER_PAGE_PAGE_H

#include "base/json.h"
#include "plots/figure.h"
#include "plots/html.h"

/** A page as it is written; starts zeroed. */
struct fr_page {
    struct fr_text html;
    bool live; /**< it has a live figure, and so needs Chart.js */
    int gaps;  /**< parts that it lacks */
    struct fr_text
        lost; /**< those, for whoever asked: "what it shows: why it is left out; ..." */
};

/** The head, and a heading of @p title. */
void fr_page_begin(struct fr_page *page, const char *title);
/** Scripts and licences. */
void fr_page_end(struct fr_page *page);
void fr_page_free(struct fr_page *page);

/** The page lacks @p what because of @p why: written on it, and noted in page->lost. */
void fr_page_gap(struct fr_page *page, const char *what, const struct fr_error *why);

/** Begin a part that is folded under @p summary until the reader opens it. */
void fr_page_fold(struct fr_page *page, const char *summary);
void fr_page_unfold(struct fr_page *page);

/** Figure @p figure of @p root as a picture, beneath the live figure @p live where that is no "" (answer/page/chart.h):
 *  the picture is for paper and for readers without scripts.  A gap where neither can be drawn.  No figure (NULL), or
 *  nothing in the document for it (FR_ERR_INPUT, FR_ERR_USAGE): the live one alone. */
void fr_page_figure(struct fr_page *page, const struct fr_figure *figure,
                    const struct fr_json *root, const char *live);
/** A picture that is already drawn, as SVG. */
void fr_page_svg(struct fr_page *page, const char *svg, size_t length, const char *about);

#endif
