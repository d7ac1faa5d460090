/** @file
 *  What does a key of a result mean?  Keys are shown as words; their meaning appears on hover and in the appendix.
 *
 *  A meaning comes from the table that has the key: facts of an outcome, keys of a plan, or answer/page/word_list.h. */
#ifndef FR_ANSWER_PAGE_WORDS_H
#define FR_ANSWER_PAGE_WORDS_H

#include "answer/page/page.h"

enum { FR_PAGE_PATH = 160 };

/** "iteration_time_s" in words, "iteration time". */
void fr_page_words(const char *key, struct fr_text *out);

/** The meaning of the key at @p path ("outcome.plan.tp", "breakdown_s.compute") appended to @p out as plain text.
 *  @return false where no table has it */
bool fr_page_meaning(const char *path, struct fr_text *out);

/** The key in words, with its meaning on hover where it has one; @p key of a path alone where its object is known from
 *  what stands around it. */
void fr_page_put_words_of(const char *key, const char *path, struct fr_text *html);
void fr_page_put_words(const char *path, struct fr_text *html);

/** The appendix: every key of @p root that has a meaning, once. */
void fr_page_appendix(struct fr_page *page, const struct fr_json *root);

#endif
