/** @file
 *  --page FILE: the answer of any verb that has --json as one HTML page, beside what it prints.
 *
 *  A verb that is asked for a page (fr_app_paged) makes its document as --json would print it, and gives it to
 *  fr_app_answer with its text. */
#ifndef FR_APP_PAGE_PAGE_H
#define FR_APP_PAGE_PAGE_H

#include "app/options.h"
#include "base/json.h"

bool fr_app_paged(const struct fr_args *args);

/** Print @p text (fr_app_print) and write the page of the document @p json where one is asked for; both texts are
 *  freed.  With --page - the page alone is printed.
 *  @return as fr_app_print; FR_ERR_EXTERNAL where the page was written, but lacks a figure */
fr_status fr_app_answer(const struct fr_args *args, struct fr_text *text, struct fr_text *json,
                        struct fr_error *err);

/** Write the page of a document @p root to @p out; of a fit with its verdict.  @return likewise */
fr_status fr_app_page_write(const struct fr_json *root, const char *out, struct fr_error *err);

struct fr_page;
/** Write a page that is made, or say what it lacks. */
fr_status fr_app_page_put(const struct fr_page *page, const char *out, struct fr_error *err);

#endif
