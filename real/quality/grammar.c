#include "real/quality/grammar.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "trust/numbers/random_at.h"

enum { K = FR_GRAMMAR_TYPES, W = FR_GRAMMAR_WORDS, D = FR_GRAMMAR_DEPTH };
enum { STREAM_ORDER = 90 };

double fr_grammar_opens(int d) { return d < D ? 0.15 : 0; }
double fr_grammar_closes(int d) { return d > 0 ? 0.2 : 0; }

/* ---- the language ---------------------------------------------------------------------------- */

/* 1/2, 1/4, ..., the last one twice, in an order drawn by Fisher and Yates. */
static void fill_row(uint64_t seed, uint64_t at, double row[W]) {
    int order[W];
    double share = 0.5;
    for (int i = 0; i < W; i++) order[i] = i;
    for (int i = W - 1; i > 0; i--) {
        int j =
            (int)(fr_random_at(seed, STREAM_ORDER, at * W + (uint64_t)i) % (uint64_t)(i + 1));
        int other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
    for (int i = 0; i < W; i++) {
        row[order[i]] = share;
        if (i < W - 2) share /= 2;
    }
}

struct fr_grammar fr_grammar_make(uint64_t seed) {
    struct fr_grammar g;
    for (int type = 0; type <= K; type++) {
        for (int w = 0; w < W; w++) g.next[type][0][w] = 1.0 / W;
        for (int row = 1; row <= W; row++)
            fill_row(seed, (uint64_t)(type * (W + 1) + row), g.next[type][row]);
    }
    return g;
}

/* ---- documents ------------------------------------------------------------------------------- */

/* Where a reader is: the open quotations, and the chain's row. */
struct place {
    int type[D + 1], depth, row; /* type[0] = 0 */
};

static void open_quotation(struct place *at, int type) {
    at->type[++at->depth] = type;
    at->row = 0;
}

static int next_token(const struct fr_grammar *g, struct place *at, double u) {
    double opens = fr_grammar_opens(at->depth), closes = fr_grammar_closes(at->depth);
    int type = at->type[at->depth], w = 0;
    if (u < opens) {
        int opened = 1 + (int)(u / opens * K);
        if (opened > K) opened = K;
        open_quotation(at, opened);
        return opened;
    }
    u -= opens;
    if (u < closes) {
        at->depth--;
        at->row = 0;
        return K + type;
    }
    u = (u - closes) / (1 - opens - closes);
    while (w < W - 1 && u >= g->next[type][at->row][w]) u -= g->next[type][at->row][w++];
    at->row = 1 + w;
    return 1 + 2 * K + type * W + w;
}

void fr_grammar_write(const struct fr_grammar *g, uint64_t seed, uint64_t stream,
                      uint64_t document, int length, int *tokens) {
    struct place at = {.depth = 0};
    tokens[0] = 0;
    for (int i = 1; i <= length; i++)
        tokens[i] =
            next_token(g, &at, fr_uniform_at(seed, stream, document << 20 | (uint64_t)i));
}

/* Probability of @p token here, and one step on. */
static double read_token(const struct fr_grammar *g, struct place *at, int token) {
    double opens = fr_grammar_opens(at->depth), closes = fr_grammar_closes(at->depth);
    int type = at->type[at->depth], word = token - 1 - 2 * K;
    if (token < 1 || token >= FR_GRAMMAR_TOKENS) return 0;
    if (token <= K) {
        if (opens > 0) open_quotation(at, token);
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

double fr_grammar_surprise(const struct fr_grammar *g, const int *tokens, int length) {
    struct place at = {.depth = 0};
    double sum = 0;
    for (int i = 1; i <= length; i++) {
        double p = read_token(g, &at, tokens[i]);
        if (!(p > 0)) return INFINITY;
        sum -= log(p);
    }
    return sum;
}

/* ---- entropy --------------------------------------------------------------------------------- */

static double part(double p) { return p > 0 ? -p * log(p) : 0; }

/* Where chains stand after r words: share of each row, of every type. */
struct chains {
    double at[K + 1][1 + W];
};

static struct chains chains_begin(void) {
    struct chains c = {{{0}}};
    for (int type = 0; type <= K; type++) c.at[type][0] = 1;
    return c;
}

static struct chains chains_step(const struct fr_grammar *g, const struct chains *from) {
    struct chains to = {{{0}}};
    for (int type = 0; type <= K; type++)
        for (int row = 0; row <= W; row++)
            for (int w = 0; w < W; w++)
                to.at[type][1 + w] += from->at[type][row] * g->next[type][row][w];
    return to;
}

/* h: of the next word, at depth 0 or in the mean over types. */
static double chains_entropy(const struct fr_grammar *g, const struct chains *c, bool quoted) {
    int first = quoted ? 1 : 0, last = quoted ? K : 0;
    double sum = 0;
    for (int type = first; type <= last; type++)
        for (int row = 0; row <= W; row++)
            for (int w = 0; w < W; w++) sum += c->at[type][row] * part(g->next[type][row][w]);
    return sum / (last - first + 1);
}

/* P(d, r) at a place.  Rows of a chain forget where they began: r counts up to the last, which
 * stands for all that are larger. */
enum { R = 128 };
struct depths {
    double p[R][D + 1], h[2][R]; /* h outside of and within quotations */
};

static void depths_begin(const struct fr_grammar *g, struct depths *at) {
    struct chains chains = chains_begin();
    *at = (struct depths){.p = {{1}}};
    for (int r = 0; r < R; r++) {
        for (int quoted = 0; quoted < 2; quoted++)
            at->h[quoted][r] = chains_entropy(g, &chains, quoted == 1);
        chains = chains_step(g, &chains);
    }
}

static double depths_entropy(const struct depths *at) {
    double sum = 0;
    for (int r = 0; r < R; r++)
        for (int d = 0; d <= D; d++) {
            double opens = fr_grammar_opens(d), closes = fr_grammar_closes(d);
            double word = 1 - opens - closes;
            sum += at->p[r][d] * (part(opens) + part(closes) + part(word) + opens * log(K) +
                                  word * at->h[d > 0][r]);
        }
    return sum;
}

static void depths_step(struct depths *at) {
    double bracket[D + 1] = {0}, last[D + 1];
    memcpy(last, at->p[R - 1], sizeof last);
    for (int r = R - 1; r >= 0; r--)
        for (int d = 0; d <= D; d++) {
            double p = at->p[r][d], word = 1 - fr_grammar_opens(d) - fr_grammar_closes(d);
            if (d < D) bracket[d + 1] += p * fr_grammar_opens(d);
            if (d > 0) bracket[d - 1] += p * fr_grammar_closes(d);
            if (r < R - 1) at->p[r + 1][d] = word * p;
        }
    for (int d = 0; d <= D; d++)
        at->p[R - 1][d] += last[d] * (1 - fr_grammar_opens(d) - fr_grammar_closes(d));
    memcpy(at->p[0], bracket, sizeof bracket);
}

double fr_grammar_entropy(const struct fr_grammar *g, int length) {
    struct depths at;
    double sum = 0;
    depths_begin(g, &at);
    for (int t = 0; t < length; t++) {
        sum += depths_entropy(&at);
        depths_step(&at);
    }
    return sum / length;
}
