/* Any text is a corpus whose samples are tokens of it, or is refused; so is any name of a grammar. */
#include "real/quality/corpus.h"
#include "tests/fuzz/fuzz.h"

enum { SEQUENCE = 8 };

static void learn(const struct fr_corpus *corpus) {
    int tokens[SEQUENCE + 1], n = fr_corpus_tokens(corpus);
    for (int64_t sample = 0; sample < 3; sample++)
        for (int part = FR_CORPUS_TRAIN; part <= FR_CORPUS_HELD_OUT; part++) {
            fr_corpus_sample(corpus, part, 7, fr_corpus_first(part) + sample, SEQUENCE, tokens);
            for (int i = 0; i <= SEQUENCE; i++)
                FR_FUZZ_REQUIRE(tokens[i] >= 0 && tokens[i] < n);
        }
    (void)fr_corpus_digest(corpus);
}

static void open_as(const char *name, const char *text, size_t size) {
    struct fr_corpus corpus = {.text = NULL};
    struct fr_error err = {0};
    if (fr_corpus_open(name, text, size, SEQUENCE, &corpus, &err) != FR_OK)
        FR_FUZZ_REQUIRE(err.detail[0]); /* its place is the name, which may be empty */
    else if (!corpus.is_regression)
        learn(&corpus);
    fr_corpus_free(&corpus);
}

FR_FUZZ_TEXT(text, size) {
    open_as("text", text, size);
    open_as(text, "", 0);
}
