/** @file
 *  Any result of a command as sections of a page: its pictures, its numbers in words of the field, a
 *  table of every list, which sorts and filters. */
#ifndef FR_ANSWER_PAGE_RESULT_H
#define FR_ANSWER_PAGE_RESULT_H

#include "base/json.h"

struct fr_page_gaps;

/** Append @p root, whose schema is "forerun/<kind>/1"; pictures that it lacks are added to @p gaps. */
void fr_result_html(const struct fr_json *root, struct fr_text *html,
                    struct fr_page_gaps *gaps);

#endif
