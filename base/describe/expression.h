/** @file
 *  Expressions of descriptions: what a reader of published runs or a study says of its numbers.
 *
 *      time * 1e-3                         + - * / ^, and numbers as C writes them
 *      'full' if recompute has 'full' else 'none'     without `else` none where the condition fails
 *      gain[0] > gain[1] and not slow      == != < <= > >= and or not; words that are no
 *                                             numbers compare by their letters
 *      title has 'gpt3 175b'               letter case, blanks and punctuation aside
 *      "{hidden} x {layers}, {t:%.3g} s"   a template: values in braces, with a format or as they are
 *      f(x, ways=4)                        functions, of whoever asks, and those below
 *
 *      sqrt cbrt hypot log log2 exp floor ceil abs mod min max finite
 *      left(x, n), word(x, n)              the first n letters of x, its n-th word
 *      first(a, b)                         the first that is not none
 *      pick(x, 'a', 1, 'b', 2, else)       the value behind the word that equals x
 *      match(x, 'a', 1, 'b', 2, else)      the value behind the first word that x contains
 *      number(x), positive(x), whole(x)    the number that x begins with, else none: "250k" is 250000;
 *                                             whole: from 1 on, as text
 *
 *  A value is a number, a text, or none; none is not true, nor is 0 or "". */
#ifndef FR_BASE_DESCRIBE_EXPRESSION_H
#define FR_BASE_DESCRIBE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { FR_TERM_TEXT_MAX = 512, FR_TERM_NAME_MAX = 64, FR_TERM_ARGUMENTS_MAX = 32 };

struct fr_term {
    enum { FR_TERM_NONE, FR_TERM_NUMBER, FR_TERM_TEXT } kind;
    double number;
    char text[FR_TERM_TEXT_MAX]; /**< cut where it is longer */
};

struct fr_term_argument {
    char name[FR_TERM_NAME_MAX]; /**< "" where it has none */
    struct fr_term value;
};

/** The meaning of names and functions.  Both fill @p out, and return FR_ERR_UNSUPPORTED for
 *  one that is not theirs. */
struct fr_meaning {
    fr_status (*name)(void *context, const char *name, struct fr_term *out,
                      struct fr_error *err);
    fr_status (*call)(void *context, const char *name, const struct fr_term_argument *arguments,
                      int n, struct fr_term *out, struct fr_error *err);
    void *context;
};

/** The value of @p text.  @return FR_OK; FR_ERR_INPUT with what is wrong; what a name or a call failed with. */
fr_status fr_expression(const char *text, const struct fr_meaning *scope, struct fr_term *out,
                        struct fr_error *err);
/** @p text with what stands in braces replaced. */
fr_status fr_template(const char *text, const struct fr_meaning *scope, char *out,
                      size_t capacity, struct fr_error *err);

struct fr_term fr_term_number(double number);
struct fr_term fr_term_text(const char *text);
/** NaN where it is none, or a text that does not begin with a number. */
double fr_term_as_number(const struct fr_term *value);
bool fr_term_is_true(const struct fr_term *value);

/** The number at the start of @p text ("250k (early)" is 250000).  @return false where there is none. */
bool fr_leading_number(const char *text, double *number);
/** Does @p text hold @p word, letter case, blanks and punctuation aside? */
bool fr_text_mentions(const char *text, const char *word);

#endif
