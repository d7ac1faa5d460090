/** @file
 *  What a search's page says of its choice in sentences, where the document says it: what is expected of the best once it
 *  runs, what trying some answers gains, and how it stands beside plans of the user's. */
#ifndef FR_ANSWER_PAGE_CHOICE_H
#define FR_ANSWER_PAGE_CHOICE_H

#include "base/json.h"

void fr_page_choice(const struct fr_json *root, struct fr_text *html);

#endif
