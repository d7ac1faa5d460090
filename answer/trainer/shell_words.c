/* Variables of a script, whole numbers, and words with their values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/shell_state.h"

/* ---- variables ------------------------------------------------------------------------------- */

int fr_shell_find(const struct fr_shell *s, const char *name, size_t n) {
    for (int i = 0; i < s->n; i++)
        if (strlen(s->item[i].name) == n && strncmp(s->item[i].name, name, n) == 0) return i;
    return -1;
}

const char *fr_shell_value(const struct fr_shell *s, const char *name, size_t n) {
    int i = fr_shell_find(s, name, n);
    return i >= 0 && !s->item[i].open ? s->item[i].value : NULL;
}

/* "$1", "$@": arguments, of which there are none. */
static bool is_argument(const char *value) {
    return value[0] == '$' && (isdigit((unsigned char)value[1]) || strchr("@*#", value[1])) &&
           value[1] && !value[2];
}

void fr_shell_unset(struct fr_shell *s, const char *name, size_t n) {
    const int i = fr_shell_find(s, name, n);
    if (i < 0) return;
    memmove(&s->item[i], &s->item[i + 1], (size_t)(s->n - i - 1) * sizeof s->item[0]);
    s->n--;
}

void fr_shell_set(struct fr_shell *s, const char *name, size_t n, const char *value) {
    char out[WORD], bare[WORD];
    int i = fr_shell_find(s, name, n);
    const bool quoted = *value == '"' || *value == '\'';
    snprintf(bare, sizeof bare, "%s", value + quoted);
    if (quoted) bare[strcspn(bare, "\"'")] = '\0';
    value = bare;
    if (n == 0 || n >= sizeof s->item[0].name ||
        (is_argument(value) && !fr_shell_value(s, value + 1, 1)))
        return;
    fr_shell_expand(s, value, out);
    if (i < 0 && s->n == VARIABLES) return;
    bool open = i >= 0 && fr_shell_running(s) == MAYBE && strcmp(s->item[i].value, out) != 0;
    if (i < 0) i = s->n++;
    snprintf(s->item[i].name, sizeof s->item[i].name, "%.*s", (int)n, name);
    snprintf(s->item[i].value, sizeof s->item[i].value, "%s", out);
    s->item[i].open = open;
}

/* ---- arithmetic: whole numbers, + - * / % and brackets ------------------------------------------ */

struct sum {
    const struct fr_shell *shell;
    const char *at, *end;
    int depth;
    bool known;
};

static void blanks(struct sum *e) {
    while (e->at < e->end && isspace((unsigned char)*e->at)) e->at++;
}

/* Numbers of a plan are far smaller; beyond, a product or a sum of two might not fit. */
static const long long most = 1LL << 50;

static long long bounded(struct sum *e, long long value) {
    e->known &= value > -most && value < most;
    return e->known ? value : 0;
}

static long long added(struct sum *e);

static long long operand(struct sum *e) {
    bool negative = false;
    for (blanks(e); e->at < e->end && *e->at == '-'; blanks(e)) e->at++, negative = !negative;
    if (negative) return -operand(e);
    if (e->at < e->end && *e->at == '(' && e->depth < 20) {
        e->at++, e->depth++;
        long long value = added(e);
        blanks(e);
        e->known &= e->at < e->end && *e->at == ')';
        e->at++;
        return value;
    }
    if (e->at < e->end && *e->at == '$') e->at++;
    const bool braces = e->at < e->end && *e->at == '{';
    e->at += braces;
    size_t n = 0;
    while (e->at + n < e->end && fr_shell_of_name(e->at[n])) n++;
    const char *text = n == 0                           ? NULL
                       : isdigit((unsigned char)*e->at) ? e->at
                                                        : fr_shell_value(e->shell, e->at, n);
    char *stop = NULL;
    long long value = text ? strtoll(text, &stop, 10) : 0;
    e->known &= text && stop != text && (text == e->at ? stop == text + n : *stop == '\0');
    value = bounded(e, value);
    e->at += n;
    if (braces) {
        e->known &= e->at < e->end && *e->at == '}';
        e->at++;
    }
    return value;
}

static long long multiplied(struct sum *e) {
    long long value = operand(e);
    for (blanks(e); e->known && e->at < e->end && strchr("*/%\\", *e->at); blanks(e)) {
        if (*e->at == '\\') e->at++; /* of expr */
        const char how = e->at < e->end ? *e->at++ : '*';
        const long long other = operand(e);
        if (!e->known || (how != '*' && other == 0) ||
            (how == '*' && fabs((double)value * (double)other) >= (double)most))
            return e->known = false, 0;
        value = how == '*' ? value * other : how == '/' ? value / other : value % other;
    }
    return value;
}

static long long added(struct sum *e) {
    long long value = multiplied(e);
    for (blanks(e); e->known && e->at < e->end && (*e->at == '+' || *e->at == '-'); blanks(e)) {
        const int sign = *e->at++ == '+' ? 1 : -1;
        value = bounded(e, value + sign * multiplied(e));
    }
    return value;
}

bool fr_shell_compute(const struct fr_shell *s, const char *text, size_t n, long long *out,
                      const char **rest) {
    struct sum e = {.shell = s, .at = text, .end = text + n, .known = true};
    *out = added(&e);
    blanks(&e);
    *rest = e.at;
    return e.known;
}

/* ---- words ------------------------------------------------------------------------------------ */

const char *fr_shell_closing(const char *at, char opens, char closes) {
    int depth = 0;
    for (; *at; at++) {
        depth += *at == opens;
        if (*at == closes && --depth == 0) return at;
    }
    return NULL;
}

static size_t arithmetic(const struct fr_shell *s, const char *word, size_t from,
                         const char *end, size_t behind, char *out) {
    const char *rest;
    long long number;
    if (!end ||
        !fr_shell_compute(s, word + from, (size_t)(end - word) - from, &number, &rest) ||
        rest != end)
        return 0;
    snprintf(out, WORD, "%lld", number);
    return (size_t)(end - word) + behind;
}

/* "${...}"; @return its length, 0 where it has no value. */
static size_t braced(const struct fr_shell *s, const char *word, char *out) {
    const char *name = word + 2, *end = fr_shell_closing(word + 1, '{', '}');
    char other[WORD];
    size_t n = 0;
    if (!end) return 0;
    while (fr_shell_of_name(name[n])) n++;
    const char *value = fr_shell_value(s, name, n), *how = name + n;
    const bool colon = *how == ':';
    how += colon;
    if (n == 0 || (how != end && !strchr("-=+", *how))) return 0;
    if (*how == '+' && how != end && !value) return *out = '\0', (size_t)(end + 1 - word);
    if (how != end && (*how == '+' || !value || (colon && !*value))) {
        snprintf(other, sizeof other, "%.*s", (int)(end - how - 1), how + 1);
        fr_shell_expand(s, other + strspn(other, "\"'"), out);
        out[strcspn(out, "\"'")] = '\0';
    } else if (value)
        snprintf(out, WORD, "%s", value);
    else
        return 0;
    return (size_t)(end + 1 - word);
}

/* Finds the value of "$..." at @p word; @return how much of it, 0 where it has no value. */
static size_t expand_one(const struct fr_shell *s, const char *word, char *out) {
    size_t n = 0;
    if (strncmp(word, "$((", 3) == 0) {
        const char *end = fr_shell_closing(word + 1, '(', ')');
        return arithmetic(s, word, 3, end ? end - 1 : NULL, 2, out);
    }
    if (strncmp(word, "$(expr ", 7) == 0)
        return arithmetic(s, word, 7, fr_shell_closing(word + 1, '(', ')'), 1, out);
    if (word[1] == '[') return arithmetic(s, word, 2, strchr(word, ']'), 1, out);
    if (word[1] == '{') return braced(s, word, out);
    while (fr_shell_of_name(word[1 + n])) n++;
    const char *value = n ? fr_shell_value(s, word + 1, n) : NULL;
    if (value) snprintf(out, WORD, "%s", value);
    return value ? n + 1 : 0;
}

void fr_shell_expand(const struct fr_shell *s, const char *word, char *out) {
    size_t used = 0;
    while (*word && used + 1 < WORD) {
        char value[WORD] = "";
        size_t n = *word == '$' ? expand_one(s, word, value) : 0;
        if (!n) {
            out[used++] = *word++;
            continue;
        }
        for (const char *c = value; *c && used + 1 < WORD; c++) out[used++] = *c;
        word += n;
    }
    out[used] = '\0';
}
