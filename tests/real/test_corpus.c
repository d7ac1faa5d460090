/* The corpus of forerun quality: entropy against all documents there are and against many that were
 * drawn, parts that share nothing, samples by place, texts that are refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "real/quality/corpus.h"
#include "tests/cmocka.h"

/* ---- the language, read token by token: what it never says is infinitely surprising ------------------ */

enum { K = FR_GRAMMAR_TYPES, W = FR_GRAMMAR_WORDS, D = FR_GRAMMAR_DEPTH };

/* The open quotations, and the chain's row. */
struct place {
    int type[D + 1], depth, row;
};

/* Probability of @p token here, and one step on. */
static double read_token(const struct fr_grammar *g, struct place *at, int token) {
    double opens = fr_grammar_opens(at->depth), closes = fr_grammar_closes(at->depth);
    int type = at->type[at->depth], word = token - 1 - 2 * K;
    if (token < 1 || token >= FR_GRAMMAR_TOKENS) return 0;
    if (token <= K) {
        if (opens > 0) {
            at->type[++at->depth] = token;
            at->row = 0;
        }
        return opens / K;
    }
    if (word < 0) {
        if (token != K + type || at->depth == 0) return 0;
        at->depth--;
        at->row = 0;
        return closes;
    }
    if (word / W != type) return 0;
    double p = (1 - opens - closes) * g->next[type][at->row][word % W];
    at->row = 1 + word % W;
    return p;
}

static double surprise_of(const struct fr_grammar *g, const int *tokens, int length) {
    struct place at = {.depth = 0};
    double sum = 0;
    for (int i = 1; i <= length; i++) {
        double p = read_token(g, &at, tokens[i]);
        if (!(p > 0)) return INFINITY;
        sum -= log(p);
    }
    return sum;
}

/* Sum over all documents of so many tokens of P and of -P ln P: brute force. */
static void traverse(const struct fr_grammar *g, int *tokens, int at, int length, double *mass,
                     double *surprise) {
    for (int token = 0; token < FR_GRAMMAR_TOKENS; token++) {
        tokens[at] = token;
        double s = surprise_of(g, tokens, at);
        if (!isfinite(s)) continue;
        if (at < length) {
            traverse(g, tokens, at + 1, length, mass, surprise);
            continue;
        }
        *mass += exp(-s);
        *surprise += exp(-s) * s;
    }
}

static void entropy_is_that_of_all_documents(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct fr_grammar g = fr_grammar_make(seed);
        for (int length = 1; length <= 5; length++) {
            int tokens[8] = {0};
            double mass = 0, surprise = 0;
            traverse(&g, tokens, 1, length, &mass, &surprise);
            FR_NEAR(mass, 1, 1e-12);
            FR_NEAR(fr_grammar_entropy(&g, length) * length, surprise, 1e-12);
        }
    }
}

/* At the beginning 15 in 100 open one of 8, else one of 4 words, all alike: by hand. */
static void the_first_token_by_hand(void **state) {
    (void)state;
    struct fr_grammar g = fr_grammar_make(1);
    double h = -0.15 * log(0.15) - 0.85 * log(0.85) + 0.15 * log(8) + 0.85 * log(4);
    FR_NEAR(fr_grammar_entropy(&g, 1), h, 1e-14);
}

/* Long documents, drawn: the mean of so many surprises lies within four of its standard errors. */
static void entropy_is_that_of_drawn_documents(void **state) {
    (void)state;
    enum { N = 4000, LENGTH = 96 };
    struct fr_corpus c;
    struct fr_error err = {0};
    int tokens[LENGTH + 1];
    assert_int_equal(fr_corpus_open("grammar:7", NULL, 0, LENGTH, &c, &err), FR_OK);
    for (int part = 0; part < 2; part++) {
        double sum = 0, squares = 0, wanted = fr_corpus_entropy(&c, LENGTH);
        for (int i = 0; i < N; i++) {
            fr_corpus_sample(&c, part, 3, i, LENGTH, tokens);
            double s = surprise_of(&c.grammar, tokens, LENGTH) / LENGTH;
            sum += s;
            squares += s * s;
        }
        double mean = sum / N, error = sqrt((squares / N - mean * mean) / N);
        FR_TRUE(fabs(mean - wanted) < 4 * error, "part %d: got %g, want %g +- %g", part, mean,
                wanted, error);
        FR_TRUE(error < 0.004 * wanted, "%g is no test", error);
    }
    fr_corpus_free(&c);
}

static void samples_hang_on_their_place_alone(void **state) {
    (void)state;
    enum { LENGTH = 40, N = 200 };
    static char text[30000];
    struct fr_error err = {0};
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)((i < 27000 ? 'a' : 'A') + (int)(fr_random_at(1, 1, i) % 17));
    for (int kind = 0; kind < 2; kind++) {
        struct fr_corpus c;
        int a[LENGTH + 1], b[LENGTH + 1], same = 0;
        assert_int_equal(
            fr_corpus_open(kind ? "text" : "grammar", text, sizeof text - 1, LENGTH, &c, &err),
            FR_OK);
        for (int i = 0; i < N; i++) {
            fr_corpus_sample(&c, FR_CORPUS_TRAIN, 1, i, LENGTH, a);
            fr_corpus_sample(&c, FR_CORPUS_TRAIN, 1, i, LENGTH, b);
            assert_memory_equal(a, b, sizeof a);
            fr_corpus_sample(&c, FR_CORPUS_TRAIN, 2, i, LENGTH, b);
            same += memcmp(a, b, sizeof a) == 0;
            fr_corpus_sample(&c, FR_CORPUS_HELD_OUT, 1, i, LENGTH, b);
            same += memcmp(a, b, sizeof a) == 0;
            for (int j = 0; j <= LENGTH; j++) {
                assert_in_range(a[j], 0, fr_corpus_tokens(&c) - 1);
                if (kind)
                    assert_true(a[j] >= 'a' && b[j] < 'a'); /* the last tenth, only there */
            }
        }
        FR_TRUE(same == 0, "%d of %d samples are alike", same, 2 * N);
        fr_corpus_free(&c);
    }
}

static void refused(const char *name, const char *text, size_t length, const char *because) {
    struct fr_corpus c;
    struct fr_error err = {0};
    fr_status status = fr_corpus_open(name, text, length, 32, &c, &err);
    FR_TRUE(status != FR_OK && strstr(err.detail, because), "%s: got \"%s\", want \"%s\"", name,
            err.detail, because);
    fr_corpus_free(&c);
}

static void what_is_no_corpus_is_refused(void **state) {
    (void)state;
    static char text[1000];
    memset(text, 'a', sizeof text);
    text[500] = (char)0xff;
    refused("text", text, sizeof text, "byte 500");
    text[500] = 0;
    refused("text", text, sizeof text, "byte 500");
    refused("text", text, 320, "last tenth");
    refused("grammar:", NULL, 0, "grammar:2");
    refused("grammar:x", NULL, 0, "grammar:2");
    refused("grammar:-1", NULL, 0, "grammar:2");
    refused("grammars", text, 100, "last tenth"); /* a file's name */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entropy_is_that_of_all_documents),
        cmocka_unit_test(the_first_token_by_hand),
        cmocka_unit_test(entropy_is_that_of_drawn_documents),
        cmocka_unit_test(samples_hang_on_their_place_alone),
        cmocka_unit_test(what_is_no_corpus_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
