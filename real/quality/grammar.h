/** @file
 *  A language whose entropy is known: nested quotations.  The next token depends on a token
 *  far back, and no run can be better than the entropy.
 *
 *  A document begins with a token of its own.  Then, at depth d of D, each token
 *      opens a quotation      with probability o(d), of one of K types, all alike      o(D) = 0
 *      closes the innermost   with probability c(d), the token of its type             c(0) = 0
 *      else is a word         of the innermost quotation's type, by that type's Markov chain
 *  A chain begins anew behind a bracket.  Types have words of their own, so a word shows its
 *  type.  Behind a closing bracket, however, the type is that of the quotation around.  Its
 *  opening bracket and words stand before all that was closed.  Depths move independently of
 *  types: given the depth the type is uniform.  The expected surprise of the token at place t
 *  is a sum over depths and over r, the words since the last bracket,
 *      H_t = sum P_t(d, r) [ H(o, c, 1-o-c) + o ln K + (1-o-c) h(d, r) ]
 *  with h the mean over types of the entropy of the row that the chain stands at after r words.
 *
 *  Tokens: 0 begins; 1..K open; K+1..2K close; then the words of each type, those outside of any
 *  quotation (type 0) first.
 */
#ifndef FR_REAL_QUALITY_GRAMMAR_H
#define FR_REAL_QUALITY_GRAMMAR_H

#include <stdint.h>

enum {
    FR_GRAMMAR_TYPES = 8, /**< K, of quotations */
    FR_GRAMMAR_WORDS = 4, /**< of a type */
    FR_GRAMMAR_DEPTH = 3, /**< D */
    FR_GRAMMAR_TOKENS = 1 + 2 * FR_GRAMMAR_TYPES + (FR_GRAMMAR_TYPES + 1) * FR_GRAMMAR_WORDS
};

/** Chains: of each type, row 0 behind a bracket, then a row behind each word. */
struct fr_grammar {
    double next[FR_GRAMMAR_TYPES + 1][1 + FR_GRAMMAR_WORDS][FR_GRAMMAR_WORDS];
};

/** The language of @p seed: rows 0 are uniform; behind each word another order of 1/2, 1/4, 1/8, ... */
struct fr_grammar fr_grammar_make(uint64_t seed);

/** o and c at depth @p d. */
double fr_grammar_opens(int d);
double fr_grammar_closes(int d);

/** Tokens 0..@p length of document @p document of stream @p stream: the same for whoever asks. */
void fr_grammar_write(const struct fr_grammar *grammar, uint64_t seed, uint64_t stream,
                      uint64_t document, int length, int *tokens);

/** Expectation of the surprise -ln P of a token given what stands before it, in the mean: (H_1 + ... + H_length) / length
 *  [nat]. */
double fr_grammar_entropy(const struct fr_grammar *grammar, int length);

#endif
