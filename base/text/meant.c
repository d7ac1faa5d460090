#include "base/text/meant.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const struct alias {
    const char *theirs, *ours, *hint;
} aliases[] = {
#define FR_ALIAS(theirs, ours, hint) {theirs, ours, hint},
#include "base/text/alias_rows.h"
#undef FR_ALIAS
};
enum { N_ALIASES = sizeof aliases / sizeof *aliases, SQUASHED = 64, PIECES = 16, PIECE = 24 };

bool fr_alias_row(int i, const char **theirs, const char **ours, const char **hint) {
    if (i < 0 || i >= N_ALIASES) return false;
    *theirs = aliases[i].theirs;
    *ours = aliases[i].ours;
    *hint = aliases[i].hint;
    return true;
}

/* Letters and digits alone, in small letters; empty where they do not fit. */
static void squash(const char *word, char out[SQUASHED]) {
    size_t n = 0;
    for (; *word && n + 1 < SQUASHED; word++)
        if (isalnum((unsigned char)*word)) out[n++] = (char)tolower((unsigned char)*word);
    out[*word ? 0 : n] = '\0';
}

/* ---- pieces ------------------------------------------------------------------------------------- */

/* "Llama-3.1-70B" is llama 3.1 70 b: runs of letters and numbers. */
struct pieces {
    int n;
    char text[PIECES][PIECE];
    bool glued[PIECES]; /* nothing stands between it and the one before */
};

static bool is_digit(char c) { return isdigit((unsigned char)c) != 0; }

static size_t piece_length(const char *at) {
    size_t n = 0;
    if (!is_digit(*at)) {
        while (isalpha((unsigned char)at[n])) n++;
        return n;
    }
    while (is_digit(at[n]) || (at[n] == '.' && is_digit(at[n + 1]))) n++;
    return n;
}

static void cut(const char *word, struct pieces *p) {
    bool glued = false;
    *p = (struct pieces){0};
    while (*word && p->n < PIECES) {
        size_t length = piece_length(word);
        if (length == 0) {
            glued = false;
            word++;
            continue;
        }
        for (size_t i = 0; i < length && i + 1 < PIECE; i++)
            p->text[p->n][i] = (char)tolower((unsigned char)word[i]);
        p->glued[p->n] = glued && p->n > 0;
        p->n++;
        glued = true;
        word += length;
    }
}

/* Vendors, forms of a card and tunings of a model: they choose nothing among the presets. */
static const char *const noise[] = {
    "hf",     "instruct", "chat", "base",     "meta",    "nvidia", "amd",
    "google", "openai",   "sxm",  "instinct", "gpu",     "gpus",   "node",
    "nodes",  "cluster",  "hgx",  "model",    "geforce", "it",     NULL};

static void drop(struct pieces *p, int at, int n) {
    for (int i = at; i + n < p->n; i++) {
        memcpy(p->text[i], p->text[i + n], PIECE);
        p->glued[i] = p->glued[i + n];
    }
    p->n -= n;
    if (at < p->n) p->glued[at] = false;
}

/* Forms that the presets are not of: with one of them a name is another, and near. */
static const char *const forms[] = {"pcie", "nvl", "ultra",   "super",
                                    "mini", "hbm", "distill", NULL};

/* "SXM5", "80GB", "v0.1", "x8" of "H100x8": how many of the pieces at @p at change nothing. */
static int idle_pieces(const struct pieces *p, int at) {
    bool next = at + 1 < p->n && p->glued[at + 1];
    if (is_digit(p->text[at][0]) && next && strcmp(p->text[at + 1], "gb") == 0) return 2;
    if (strcmp(p->text[at], "v") == 0 && next && strncmp(p->text[at + 1], "0", 1) == 0)
        return 2;
    if (strcmp(p->text[at], "hbm") == 0) return next ? 2 : 1;
    if (fr_place_in(noise, p->text[at]) < 0) return 0;
    return strcmp(p->text[at], "sxm") == 0 && next ? 2 : 1;
}

static void drop_idle(struct pieces *p) {
    bool times = p->n > 2 && strcmp(p->text[p->n - 2], "x") == 0 &&
                 is_digit(p->text[p->n - 1][0]) && p->glued[p->n - 1] &&
                 is_digit(p->text[p->n - 3][0]);
    if (times) p->n -= 2;
    for (int i = 0; i < p->n;) {
        int n = p->glued[i] ? 0 : idle_pieces(p, i);
        if (n > 0 && n < p->n)
            drop(p, i, n);
        else
            i++;
    }
}

static bool equal(const struct pieces *a, const struct pieces *b) {
    for (int i = 0; i < a->n && a->n == b->n; i++)
        if (strcmp(a->text[i], b->text[i]) != 0) return false;
    return a->n == b->n;
}

/* May a run of the word begin at piece @p at of the known one?  "h100" not inside "gh100", "7b" not inside "8x7b". */
static bool may_begin(const struct pieces *known, int at) {
    return !known->glued[at] ||
           (is_digit(known->text[at][0]) && strlen(known->text[at - 1]) >= 3);
}

/* Are all pieces of the word among those of the known one, in order?  Glued pieces stay
 * together, except a long word and its number ("llama3"). */
static bool is_part(const struct pieces *word, const struct pieces *known) {
    int at = -1;
    for (int i = 0; i < word->n; i++) {
        bool tied =
            word->glued[i] && (!is_digit(word->text[i][0]) || strlen(word->text[i - 1]) < 3);
        int found = at + 1;
        while (found < known->n &&
               (strcmp(word->text[i], known->text[found]) != 0 ||
                !(tied || (i > 0 && found == at + 1) || may_begin(known, found))))
            found++;
        if (found == known->n) return false;
        if (tied && (found != at + 1 || !known->glued[found])) return false;
        at = found;
    }
    return word->n > 0;
}

/* "3.1" is a 3. */
static void drop_versions(struct pieces *p) {
    for (int i = p->n; i-- > 0;)
        if (p->n > 1 && fr_place_in(forms, p->text[i]) >= 0) drop(p, i, 1);
    for (int i = 0; i < p->n; i++) {
        char *dot = strchr(p->text[i], '.');
        bool unit = i + 1 < p->n && p->glued[i + 1]; /* of "9.2b" the number stays */
        if (dot && !unit) *dot = '\0';
    }
}

/* ---- the five questions -------------------------------------------------------------------------- */

static void add(struct fr_meant *meant, fr_meant_how how, const char *known) {
    meant->how = how;
    if (meant->count < FR_MEANT_MOST) meant->known[meant->count] = known;
    meant->count++;
}

/* Behind the dashes, the vendor and a count: "h100" of "nvidia/8xh100". */
static const char *bare(const char *word) {
    const char *slash = strrchr(word, '/');
    word += strspn(word, "-");
    if (slash && slash[1]) word = slash + 1;
    size_t digits = strspn(word, "0123456789");
    bool times = digits > 0 && (word[digits] == 'x' || word[digits] == 'X') &&
                 isalpha((unsigned char)word[digits + 1]);
    return times ? word + digits + 1 : word;
}

static void find_same(const char *word, const char *const *known, struct fr_meant *meant) {
    char own[SQUASHED], other[SQUASHED];
    squash(word, own);
    for (int i = 0; *own && known[i] && meant->count == 0; i++) {
        squash(known[i], other);
        if (strcmp(own, other) == 0) add(meant, FR_MEANT_SAME, known[i]);
    }
}

static bool lists(const char *theirs, const char *word) {
    size_t length = strlen(word);
    for (const char *at = theirs; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0) return true;
    return false;
}

/* "--ranks" as an option is called, "model.sequence" also inside a model. */
static const char *known_as(const char *ours, const char *const *known) {
    const char *dot = strrchr(ours, '.'), *name = ours + strspn(ours, "-");
    int whole = fr_place_in(known, ours), plain = fr_place_in(known, name);
    if (whole >= 0) return known[whole];
    if (plain >= 0) return known[plain];
    int last = dot ? fr_place_in(known, dot + 1) : -1;
    return last >= 0 ? known[last] : NULL;
}

static void find_alias(const char *word, const char *const *known, struct fr_meant *meant) {
    char own[SQUASHED];
    squash(word, own);
    for (int i = 0; *own && i < N_ALIASES && meant->count == 0; i++) {
        const char *ours =
            lists(aliases[i].theirs, own) ? known_as(aliases[i].ours, known) : NULL;
        if (!ours) continue;
        add(meant, FR_MEANT_ALIAS, ours);
        meant->hint = aliases[i].hint;
    }
}

static void find_part(const struct pieces *word, fr_meant_how how, const char *const *known,
                      struct fr_meant *meant) {
    struct pieces other;
    for (int i = 0; known[i]; i++) {
        cut(known[i], &other);
        if (equal(word, &other)) {
            *meant = (struct fr_meant){.hint = ""};
            add(meant, how == FR_MEANT_PART ? FR_MEANT_SAME : how, known[i]);
            return;
        }
        if (is_part(word, &other)) add(meant, how, known[i]);
    }
}

/* The longest known word that is a part of this one: "mixtral-8x7b" of "mixtral-8x7b-long". */
static const char *longest_inside(const struct pieces *word, const char *const *known) {
    const char *longest = NULL;
    struct pieces other;
    for (int i = 0; known[i]; i++) {
        cut(known[i], &other);
        bool longer = strlen(known[i]) > (longest ? strlen(longest) : 2);
        if (longer && is_part(&other, word)) longest = known[i];
    }
    return longest;
}

struct fr_meant fr_meant(const char *word, const char *const *known) {
    struct fr_meant meant = {.hint = ""};
    struct pieces pieces;
    const char *name = bare(word);
    find_same(name, known, &meant);
    if (meant.count == 0) find_alias(name, known, &meant);
    cut(name, &pieces);
    drop_idle(&pieces);
    bool long_enough = pieces.n > 1 || (pieces.n == 1 && strlen(pieces.text[0]) > 2);
    if (meant.count == 0 && long_enough) find_part(&pieces, FR_MEANT_PART, known, &meant);
    drop_versions(&pieces);
    if (meant.count == 0 && long_enough) find_part(&pieces, FR_MEANT_OTHER, known, &meant);
    const char *near = meant.count == 0 ? fr_nearest(name, known) : NULL;
    if (near) add(&meant, FR_MEANT_NEAR, near);
    const char *inside = meant.count == 0 ? longest_inside(&pieces, known) : NULL;
    if (inside) add(&meant, FR_MEANT_OTHER, inside);
    return meant;
}

const char *fr_meant_list(const struct fr_meant *meant, char *out, size_t capacity) {
    size_t used = 0;
    int shown = meant->count < FR_MEANT_MOST ? meant->count : FR_MEANT_MOST;
    *out = '\0';
    for (int i = 0; i < shown; i++)
        fr_line_addf(out, capacity, &used, "%s\"%s\"",
                     i == 0                                    ? ""
                     : i + 1 == shown && shown == meant->count ? " or "
                                                               : ", ",
                     meant->known[i]);
    if (shown < meant->count) fr_line_addf(out, capacity, &used, ", ...");
    return out;
}

const char *fr_meant_tail(const char *word, const char *const *known, char *out,
                          size_t capacity) {
    enum { LISTED_MOST = 14 };
    struct fr_meant meant = fr_meant(word, known);
    char list[256];
    size_t used = 0, n = 0;
    *out = '\0';
    while (known[n]) n++;
    if (meant.count > 0) {
        fr_line_addf(out, capacity, &used, "; did you mean %s?%s%s",
                     fr_meant_list(&meant, list, sizeof list), *meant.hint ? " That is: " : "",
                     meant.hint);
        return out;
    }
    for (size_t i = 0; i < n && n <= LISTED_MOST; i++)
        fr_line_addf(out, capacity, &used, "%s%s", i ? ", " : "; known: ", known[i]);
    return out;
}
