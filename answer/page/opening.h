/** @file
 *  How does a page open?  With the question that the command answers, and three sentences of answer: what, at what cost,
 *  how sure and what would change it. */
#ifndef FR_ANSWER_PAGE_OPENING_H
#define FR_ANSWER_PAGE_OPENING_H

#include "answer/page/page.h"

/** The question as a title: "Which plan trains llama-3-70b fastest on 512 GPUs of dgx-h100?". */
void fr_page_question(const struct fr_json *root, const char *kind, struct fr_text *out);

/** The answer.  A kind without sentences of its own gets the number of its rows. */
void fr_page_answer(struct fr_page *page, const struct fr_json *root, const char *kind);

#endif
