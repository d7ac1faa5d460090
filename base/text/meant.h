/** @file
 *  Which of the known words did somebody mean who wrote another one?
 *
 *  One matcher for options, keys, values and names of presets.  It asks five questions in this order, and the first
 *  that finds a known word answers:
 *    same   equal but for capitals, separators, a vendor before a slash, and words that change nothing
 *           ("meta-llama/Meta-Llama-3-8B" is llama-3-8b);
 *    alias  a word of other tools for it (alias_rows.h: "--gpus" is --ranks);
 *    part   whole pieces of a known word, in its order ("h100" of dgx-h100, "gpt-175b" of gpt3-175b);
 *    other  the same pieces, but another version ("Llama-3.1-70B" of llama-3-70b);
 *    near   a slip of the pen, by edit distance ("gohst" of ghost). */
#ifndef FR_BASE_TEXT_MEANT_H
#define FR_BASE_TEXT_MEANT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    FR_MEANT_NOTHING,
    FR_MEANT_SAME,
    FR_MEANT_ALIAS,
    FR_MEANT_PART,
    FR_MEANT_OTHER,
    FR_MEANT_NEAR
} fr_meant_how;

enum { FR_MEANT_MOST = 6 };

/** Known words that one word may mean. */
struct fr_meant {
    fr_meant_how how;
    int count; /**< all that are equally likely; more than one only of PART and OTHER */
    const char *known[FR_MEANT_MOST]; /**< the first of them */
    const char *hint;                 /**< of an alias: how it differs; "" otherwise */
};

/** The most likely meaning of @p word among @p known (NULL ends them). */
struct fr_meant fr_meant(const char *word, const char *const *known);

/** "a", "a or b", "a, b or c" of what was found, each in quotes; "..." where there are more.
 *  @return @p out */
const char *fr_meant_list(const struct fr_meant *meant, char *out, size_t capacity);

/** The end of a sentence that refuses @p word: "; did you mean "X"?" with how it differs, else
 *  "; known: a, b, c" of at most a dozen words, else "".  @return @p out */
const char *fr_meant_tail(const char *word, const char *const *known, char *out,
                          size_t capacity);

/** Row @p i of the aliases: one of their words after the other.
 *  @return false past the last row */
bool fr_alias_row(int i, const char **theirs, const char **ours, const char **hint);

#endif
