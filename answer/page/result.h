/** @file
 *  Any result of a command as a page: the question and its answer, live figures, what a training costs, every list as a
 *  table that sorts and filters, and an appendix of keys. */
#ifndef FR_ANSWER_PAGE_RESULT_H
#define FR_ANSWER_PAGE_RESULT_H

#include "answer/page/page.h"

enum { FR_RESULT_KIND = 32 };
/** "search" of the schema "forerun/search/1"; "" where it is none of ours.  @return @p kind */
const char *fr_result_kind(const struct fr_json *root, char kind[FR_RESULT_KIND]);

/** A page of one result, from head to end, with the question as its title. */
void fr_result_page(struct fr_page *page, const struct fr_json *root);

/** The same without head and end, for a page of several. */
void fr_result_sections(struct fr_page *page, const struct fr_json *root);

#endif
