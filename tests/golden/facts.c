/** A JSON document on standard input as one fact a line, `name value`, for people who compare two builds.
 *
 *      {"plan": {"tp": 8}, "reasons": ["a", "b"], "top": [...]}     plan.tp 8
 *                                                                   reasons ["a", "b"]
 *                                                                   top 10 items 5e1f0c3a9b7d2468
 *
 *  Numbers are as they are printed, in the order of the document.  A list on one line where it is short and of plain
 *  values; else its length and a digest of its bytes.  Text before and after the document ("exit 0") is kept. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

enum { TEXT_MAX_B = 1 << 26, NAME_MAX_B = 512, LIST_LINE = 200 };

static char text[TEXT_MAX_B], *at = text;

static void skip(void) { at += strspn(at, " \t\n,:"); }

static void skip_string(void) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\') at++;
    at += *at == '"';
}

/* Past one value. */
static void skip_value(void) {
    int depth = 0;
    do {
        skip();
        if (*at == '"')
            skip_string();
        else if (*at == '{' || *at == '[')
            at++, depth++;
        else if (*at == '}' || *at == ']')
            at++, depth--;
        else
            at += strcspn(at, " \t\n,:]}");
    } while (depth > 0 && *at);
}

/* Without line breaks, a blank for each run of them. */
static void print_line(const char *from, const char *to) {
    for (; from < to; from++) {
        if (*from == '\n') continue;
        if (*from == ' ' && (from[1] == ' ' || from[-1] == '\n' || from[1] == ']')) continue;
        putchar(*from);
    }
    putchar('\n');
}

static void print_list(const char *name) {
    const char *from = at;
    bool nested = false;
    int items = 0;
    for (at++, skip(); *at && *at != ']'; skip(), items++) {
        nested = nested || *at == '{' || *at == '[';
        skip_value();
    }
    at += *at == ']';
    size_t length = (size_t)(at - from);
    printf("%s ", name);
    if (!nested && length < LIST_LINE)
        print_line(from, at);
    else
        printf("%d items %016llx\n", items,
               (unsigned long long)fr_digest_bytes(FR_DIGEST_START, from, length));
}

static void print_value(const char *name);

static void print_object(const char *name) {
    at++;
    for (skip(); *at == '"'; skip()) {
        char inner[NAME_MAX_B];
        const char *key = at + 1;
        skip_string();
        snprintf(inner, sizeof inner, "%s%s%.*s", name, *name ? "." : "", (int)(at - 1 - key),
                 key);
        for (char *c = inner; *c; c++) *c = *c == ' ' ? '_' : *c;
        skip();
        print_value(inner);
    }
    at += *at == '}';
}

static void print_value(const char *name) {
    const char *from = at;
    if (*at == '{') {
        print_object(name);
    } else if (*at == '[') {
        print_list(name);
    } else {
        skip_value();
        printf("%s %.*s\n", name, (int)(at - from), from);
    }
}

/* Lines that are no document, up to @p to; NULL: all. */
static void print_rest(const char *to) {
    for (; *at && at != to; at++) putchar(*at);
    if (to && *at == '\n') putchar(*at++);
}

int main(void) {
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    text[length] = '\0';
    print_rest(*at == '{' ? at : strstr(text, "\n{"));
    if (*at == '{') print_object("");
    at += strspn(at, "\n");
    print_rest(NULL);
    return ferror(stdin) != 0;
}
