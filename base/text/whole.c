#include "base/text/whole.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

/* "1,024" without its separators: three digits after each of them. */
static bool is_grouped(const char *text, char out[24]) {
    size_t n = strspn(text, digits), used = n;
    if (n < 1 || n > 3 || !text[n]) return false;
    memcpy(out, text, n);
    for (text += n; *text; text += 4) {
        if (!strchr(",_' ", *text) || strspn(text + 1, digits) != 3 || used + 4 > 24)
            return false;
        memcpy(out + used, text + 1, 3);
        used += 3;
    }
    out[used] = '\0';
    return true;
}

/* The factor of "k", "K" or "M" in thousands; 0: it is none. */
static int thousands(const char *text) {
    text += strspn(text, " ");
    if (text[0] == '\0' || text[1] != '\0') return 0;
    return *text == 'k' || *text == 'K' ? 1 : *text == 'M' ? 2 : 0;
}

/* The only digits of a word: "3" of "stage3"; not of what counts nodes. */
static bool is_among_letters(const char *text, char out[24]) {
    const char *first = strpbrk(text, digits);
    size_t n = first ? strspn(first, digits) : 0;
    if (n < 1 || n > 15 || strpbrk(first + n, digits) || strstr(text, "node")) return false;
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(" _-", *at)) return false;
    if (first > text && first[-1] == '-' && first - text == 1) return false; /* "-8" */
    snprintf(out, 24, "%.*s", (int)n, first);
    return true;
}

const char *fr_whole_meant(const char *text, char *out, size_t capacity) {
    char number[24], *end = NULL;
    double value = strtod(text, &end);
    int power = end != text ? thousands(end) : 0;
    *out = '\0';
    if (is_grouped(text, number))
        snprintf(out, capacity, "; write %s", number);
    else if (power > 0 && fabs(value) < 1e9 && value > 0)
        snprintf(out, capacity, "; write %.0f or %.0f", value * pow(1000, power),
                 value * pow(1024, power));
    else if (end != text && !*end && value == floor(value) && fabs(value) < 1e15)
        snprintf(out, capacity, "; write %.0f", value);
    else if (is_among_letters(text, number))
        snprintf(out, capacity, "; write %s", number);
    return out;
}
