#include "real/quality/corpus.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/random.h"

enum { STREAM_TRAIN = 91, STREAM_HELD_OUT = 92, STREAM_OFFSET = 93 };
static const char grammar_name[] = "grammar";

fr_status fr_corpus_grammar(const char *name, bool *is, uint64_t *language,
                            struct fr_error *err) {
    size_t length = sizeof grammar_name - 1;
    char *end = NULL;
    *is = false;
    *language = 1;
    if (strncmp(name, grammar_name, length) != 0) return FR_OK;
    *is = name[length] == 0 || name[length] == ':';
    if (name[length] != ':') return FR_OK;
    const char *digits = name + length + 1;
    errno = 0;
    *language = strtoull(digits, &end, 10);
    if (*digits >= '0' && *digits <= '9' && *end == 0 && errno == 0) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, "--corpus",
                   "\"%.40s\" names no seed of the language; write e.g. grammar:2", name);
}

bool fr_corpus_is_regression(const char *name) { return strcmp(name, "regression") == 0; }

/* ---- texts ----------------------------------------------------------------------------------- */

static fr_status check_text(const char *name, const char *text, size_t length, int sequence,
                            struct fr_error *err) {
    size_t held_out = length / 10;
    for (size_t at = 0; at < length;) {
        int bytes = text[at] ? fr_utf8_character(text + at, NULL) : 0;
        if (bytes == 0)
            return fr_fail(err, FR_ERR_INPUT, name, "is no UTF-8 text: byte %zu", at);
        at += (size_t)bytes;
    }
    if (held_out <= (size_t)sequence)
        return fr_fail(
            err, FR_ERR_INPUT, name,
            "holds %zu bytes; its last tenth, which is held out, must be longer than "
            "a sample of %d",
            length, sequence);
    return FR_OK;
}

fr_status fr_corpus_open(const char *name, const char *text, size_t length, int sequence,
                         struct fr_corpus *corpus, struct fr_error *err) {
    bool grammar = false;
    *corpus = (struct fr_corpus){.is_regression = fr_corpus_is_regression(name)};
    if (corpus->is_regression) return FR_OK;
    FR_TRY(fr_corpus_grammar(name, &grammar, &corpus->language, err));
    corpus->is_text = !grammar;
    if (grammar) {
        corpus->grammar = fr_grammar_make(corpus->language);
        return FR_OK;
    }
    FR_TRY(check_text(name, text, length, sequence, err));
    corpus->text = fr_malloc(length, 1);
    if (!corpus->text) return fr_fail(err, FR_ERR_NOMEM, name, "%zu bytes", length);
    memcpy(corpus->text, text, length);
    corpus->length = length;
    corpus->held_out = length / 10;
    return FR_OK;
}

fr_status fr_corpus_read(const char *name, int sequence, struct fr_corpus *corpus,
                         struct fr_error *err) {
    bool grammar = false;
    uint64_t language = 0;
    char *text = NULL;
    size_t length = 0;
    *corpus = (struct fr_corpus){0};
    FR_TRY(fr_corpus_grammar(name, &grammar, &language, err));
    if (!grammar && !fr_corpus_is_regression(name))
        FR_TRY(fr_file_read(name, FR_FILE_MAX_B, &text, &length, err));
    fr_status status = fr_corpus_open(name, text, length, sequence, corpus, err);
    free(text);
    return status;
}

void fr_corpus_free(struct fr_corpus *corpus) {
    free(corpus->text);
    *corpus = (struct fr_corpus){0};
}

/* ---- samples --------------------------------------------------------------------------------- */

int fr_corpus_tokens(const struct fr_corpus *corpus) {
    return corpus->is_text ? 256 : FR_GRAMMAR_TOKENS;
}

static void sample_text(const struct fr_corpus *c, int part, uint64_t seed, int64_t sample,
                        int sequence, int *tokens) {
    size_t window = (size_t)sequence + 1, train = c->length - c->held_out;
    size_t places = (part == FR_CORPUS_TRAIN ? train : c->held_out) - window + 1;
    size_t at = part == FR_CORPUS_TRAIN
                    ? fr_random_at(seed, STREAM_OFFSET, (uint64_t)sample) % places
                    : train + (size_t)sample * (size_t)sequence % places;
    for (size_t i = 0; i < window; i++) tokens[i] = c->text[at + i];
}

void fr_corpus_sample(const struct fr_corpus *c, int part, uint64_t seed, int64_t sample,
                      int sequence, int *tokens) {
    if (c->is_text)
        sample_text(c, part, seed, sample, sequence, tokens);
    else if (part == FR_CORPUS_TRAIN)
        fr_grammar_write(&c->grammar, seed, STREAM_TRAIN, (uint64_t)sample, sequence, tokens);
    else
        fr_grammar_write(&c->grammar, c->language, STREAM_HELD_OUT, (uint64_t)sample, sequence,
                         tokens);
}

double fr_corpus_entropy(const struct fr_corpus *corpus, int sequence) {
    return corpus->is_text || corpus->is_regression
               ? NAN
               : fr_grammar_entropy(&corpus->grammar, sequence);
}

/* Digest of the text, or of the grammar's seed. */
uint64_t fr_corpus_digest(const struct fr_corpus *corpus) {
    if (!corpus->is_text) return corpus->language;
    /* Whole in a double, as JSON has it. */
    return fr_digest_bytes(FR_DIGEST_START, corpus->text, corpus->length) >> 12;
}
