#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/meant.h"

static bool reserve(struct fr_text *text, size_t more) {
    if (text->failed) return false;
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < needed) capacity *= 2;
    char *grown = fr_realloc(text->data, capacity, 1);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->data = grown;
    text->capacity = capacity;
    return true;
}

void fr_text_add(struct fr_text *text, const char *bytes, size_t length) {
    if (!reserve(text, length)) return;
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void fr_text_addf(struct fr_text *text, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fr_text_addv(text, fmt, ap);
    va_end(ap);
}

void fr_text_addv(struct fr_text *text, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int length = vsnprintf(NULL, 0, fmt, ap);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, fmt, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void fr_text_free(struct fr_text *text) {
    free(text->data);
    *text = (struct fr_text){0};
}

const char *fr_text_get(const struct fr_text *text) { return text->data ? text->data : ""; }

void fr_line_addf(char *line, size_t capacity, size_t *used, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int wanted = vsnprintf(line + *used, capacity - *used, fmt, ap);
    va_end(ap);
    if (wanted < 0) return;
    *used = (size_t)wanted < capacity - *used ? *used + (size_t)wanted : capacity - 1;
}

enum { WORD_MAX = 48 };

static int min3(int a, int b, int c) {
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Optimal string alignment distance, letters compared without case. */
static int distance(const char *a, const char *b) {
    int la = (int)strlen(a), lb = (int)strlen(b);
    int d[WORD_MAX + 1][WORD_MAX + 1];
    if (la > WORD_MAX || lb > WORD_MAX) return la > lb ? la : lb;
    for (int i = 0; i <= la; i++) d[i][0] = i;
    for (int j = 0; j <= lb; j++) d[0][j] = j;
    for (int i = 1; i <= la; i++)
        for (int j = 1; j <= lb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[la][lb];
}

const char *fr_nearest(const char *word, const char *const *known) {
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 3 + 2;
    for (; *known; known++) {
        int d = distance(word, *known);
        bool prefix = strlen(word) >= 3 && strncmp(word, *known, strlen(word)) == 0;
        if (prefix && d > 1) d = 1;
        if (d < best_distance) {
            best_distance = d;
            best = *known;
        }
    }
    return best;
}

const char *fr_suggest(const char *word, const char *const *known) {
    struct fr_meant meant = fr_meant(word, known);
    return meant.count ? meant.known[0] : NULL;
}

int fr_place_in(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

int fr_named_with_argument(const char *text, const char *const *names, char word[32],
                           const char **argument) {
    size_t length = strcspn(text, ":");
    *argument = text[length] ? text + length + 1 : NULL;
    snprintf(word, 32, "%.*s", (int)length, text);
    for (int i = 0; names[i]; i++)
        if (strlen(names[i]) == length && strncmp(text, names[i], length) == 0) return i;
    return -1;
}
