/** @file
 *  What all HTML pages share: one file that fetches nothing, in which a script of ours, named by its
 *  hash, sorts and filters tables, and no other script runs. */
#ifndef FR_ANSWER_PAGE_PAGE_H
#define FR_ANSWER_PAGE_PAGE_H

#include "base/json.h"
#include "plots/figure.h"

/** The head, and a heading of @p title. */
void fr_page_begin(const char *title, struct fr_text *html);
void fr_page_end(struct fr_text *html);

/** What a page was to show and does not: for whoever asked for the page. */
struct fr_page_gaps {
    int count;
    struct fr_text said; /**< "what it shows: why it is left out; ..." */
};
void fr_page_gaps_free(struct fr_page_gaps *gaps);
/** A part of the page, @p what, is left out for @p why: said on the page, and in @p gaps. */
void fr_page_gap(const char *what, const struct fr_error *why, struct fr_text *html,
                 struct fr_page_gaps *gaps);

/** Figure @p figure of @p root inline, at most one column of the page wide.  Nothing where the
 *  document has nothing for it (FR_ERR_INPUT, FR_ERR_USAGE); a gap where it cannot be drawn. */
void fr_page_figure(const struct fr_figure *figure, const struct fr_json *root,
                    struct fr_text *html, struct fr_page_gaps *gaps);
/** A picture that is already drawn, as SVG. */
void fr_page_svg(const char *svg, size_t length, const char *about, struct fr_text *html);

#endif
