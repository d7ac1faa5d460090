/** @file
 *  Samples of tokens from a corpus, to learn from.  A corpus has two parts that share nothing:
 *  one to train on and one that is held out.
 *
 *  `grammar` (or `grammar:SEED`) is a language of our own whose entropy is known
 *  (grammar.h): every sample is a new document, the parts are of different random streams.  Any
 *  other name is a file of UTF-8 text, read byte by byte: its last tenth is held out, the samples to
 *  train on begin anywhere in the rest, those held out follow one another.
 *
 *  `regression` has no tokens.  Feed-forward networks learn it: y = relu(W relu(x)) with x and
 *  W normal, of the training's seed (real/apps/ffn.h).  The samples held out lie half way
 *  along an endless row of them.
 */
#ifndef FR_REAL_QUALITY_CORPUS_H
#define FR_REAL_QUALITY_CORPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "real/quality/grammar.h"

enum { FR_CORPUS_TRAIN, FR_CORPUS_HELD_OUT };
#define FR_CORPUS_SAMPLES ((int64_t)1 << 40) /* of a regression */

struct fr_corpus {
    bool is_regression; /**< then nothing below */
    bool is_text;
    uint64_t language; /**< seed of the grammar */
    struct fr_grammar grammar;
    unsigned char *text; /**< length bytes, of which the last held_out are */
    size_t length, held_out;
};

/** Is it a name of the grammar, and of which seed?  FR_ERR_USAGE for "grammar:" and no number. */
fr_status fr_corpus_grammar(const char *name, bool *is, uint64_t *language,
                            struct fr_error *err);

bool fr_corpus_is_regression(const char *name);
/** The first sample of a part of a regression. */
static inline int64_t fr_corpus_first(int part) {
    return part == FR_CORPUS_TRAIN ? 0 : FR_CORPUS_SAMPLES / 2;
}

/** The corpus called @p name, whose text, where it is one, is already read: @p text of @p length
 *  bytes, copied.  Free with fr_corpus_free, also on error.
 *  @return FR_OK; FR_ERR_INPUT for a text that is no UTF-8, has a NUL, or is too short for samples
 *          of @p sequence tokens; FR_ERR_USAGE; FR_ERR_NOMEM. */
fr_status fr_corpus_open(const char *name, const char *text, size_t length, int sequence,
                         struct fr_corpus *corpus, struct fr_error *err);
/** The same, reading the file. */
fr_status fr_corpus_read(const char *name, int sequence, struct fr_corpus *corpus,
                         struct fr_error *err);
void fr_corpus_free(struct fr_corpus *corpus);

/** Different tokens: what a model's vocabulary must hold. */
int fr_corpus_tokens(const struct fr_corpus *corpus);

/** Tokens 0..sequence of sample @p sample >= 0 of a part; to train on they hang on @p seed. */
void fr_corpus_sample(const struct fr_corpus *corpus, int part, uint64_t seed, int64_t sample,
                      int sequence, int *tokens);

/** Entropy of a token in the mean [nat]: no training gets below.  NaN where it is not known. */
double fr_corpus_entropy(const struct fr_corpus *corpus, int sequence);

/** A number that tells one corpus from another. */
uint64_t fr_corpus_digest(const struct fr_corpus *corpus);

#endif
