/** @file
 *  A growing text, and the nearest known word to a misspelt one.
 *
 *  A fr_text starts zeroed ({0}); appending never fails loudly: when memory runs out the
 *  text keeps what it has and `failed` is set, which the writer checks once at the end.
 */
#ifndef FR_BASE_TEXT_H
#define FR_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct fr_text {
    char *data; /**< NUL-terminated; NULL while nothing was appended */
    size_t length, capacity;
    bool failed;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void fr_text_addf(struct fr_text *text, const char *fmt, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
void fr_text_addv(struct fr_text *text, const char *fmt, va_list ap);
void fr_text_add(struct fr_text *text, const char *bytes, size_t length);
void fr_text_free(struct fr_text *text);

/** The text so far, "" when empty. */
const char *fr_text_get(const struct fr_text *text);

/** Append to a line of fixed capacity: @p used grows by what was written, never past
 *  @p capacity - 1, and what does not fit is cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void fr_line_addf(char *line, size_t capacity, size_t *used, const char *fmt, ...);

/** The entry of @p known (NULL-terminated) that is nearest to @p word by edit distance with transpositions, or NULL
 *  when none is near (more than a third of the word differs). */
const char *fr_nearest(const char *word, const char *const *known);
/** The entry of @p known that @p word most likely means (base/text/meant.h), or NULL. */
const char *fr_suggest(const char *word, const char *const *known);
/** The place of @p name in @p names (NULL ends them), or -1. */
int fr_place_in(const char *const *names, const char *name);

/** The place of NAME of "NAME" or "NAME:ARGUMENT" in @p names (NULL ends them), or -1.  @p
 *  word gets the NAME, cut to its capacity, and @p argument the text behind the colon, or
 *  NULL. */
int fr_named_with_argument(const char *text, const char *const *names, char word[32],
                           const char **argument);

#endif
