/** Standard input with every number written to ten significant digits, for a digest that holds
 *  across processors and libraries of mathematics, and without what a clock decides: the value of
 *  "elapsed_s".
 *
 *  A number starts where no letter, digit, dot or underscore stands before it, so that the 8 of
 *  "fp8" and the parts of "1.2.3" stay as they are. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_B = 1 << 24 };

static int is_clock(const char *line, const char *at) {
    static const char key[] = "\"elapsed_s\": ";
    size_t length = sizeof key - 1;
    return (size_t)(at - line) >= length && strncmp(at - length, key, length) == 0;
}

static int starts_number(const char *line, const char *at) {
    unsigned char before = at > line ? (unsigned char)at[-1] : ' ';
    return isdigit((unsigned char)*at) && !isalnum(before) && before != '.' && before != '_';
}

static void write_line(const char *line) {
    for (const char *at = line; *at;) {
        if (!starts_number(line, at)) {
            putchar(*at++);
            continue;
        }
        char *end = NULL;
        double value = strtod(at, &end);
        if (is_clock(line, at)) fputs("CLOCK", stdout);
        else if (end - at < 9) printf("%.*s", (int)(end - at), at); /* short: it is what it is */
        else printf("%.10g", value);
        at = end;
    }
}

int main(void) {
    char *line = malloc(LINE_MAX_B);
    if (!line) return 1;
    while (fgets(line, LINE_MAX_B, stdin)) write_line(line);
    free(line);
    return 0;
}
