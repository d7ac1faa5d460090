/** @file
 *  Does an answer fit a screen, and say what every answer says? */
#ifndef FR_TESTS_SCREEN_H
#define FR_TESTS_SCREEN_H

#include <string.h>

#include "tests/cmocka.h"

enum { FR_SCREEN_LINES = 40, FR_SCREEN_COLUMNS = 80 };

static inline int fr_screen_letters(const char *line, size_t bytes) {
    int n = 0;
    for (size_t i = 0; i < bytes; i++) n += (line[i] & 0xC0) != 0x80;
    return n;
}

/** 40 lines of 80 columns; a question, then at once the answer; what to type next. */
static inline void fr_screen_fits(const char *command, const char *text) {
    int lines = 0;
    bool next = false;
    const char *second = strchr(text, '\n');
    for (const char *at = text; *at; lines++) {
        size_t bytes = strcspn(at, "\n");
        if (fr_screen_letters(at, bytes) > FR_SCREEN_COLUMNS)
            fail_msg("%s: wider than %d columns: %.*s", command, FR_SCREEN_COLUMNS, (int)bytes,
                     at);
        next = next || strncmp(at, "next ", 5) == 0;
        at += bytes + (at[bytes] == '\n');
    }
    if (lines > FR_SCREEN_LINES || lines < 5)
        fail_msg("%s: %d lines, want 5 to %d\n%s", command, lines, FR_SCREEN_LINES, text);
    if (!next) fail_msg("%s: does not say what to type next\n%s", command, text);
    if (!second || second[1] == '\n' || second[1] == ' ')
        fail_msg("%s: the second line does not answer\n%s", command, text);
}

/** The @p i-th command of the rows "next", without the breaks of its lines, into @p line. @return false past the last */
static inline bool fr_screen_next(const char *text, int i, char *line, size_t capacity) {
    const char *at = strstr(text, "\nnext ");
    size_t used = 0;
    for (; at && i >= 0; i--) {
        at = strstr(at, "forerun ");
        if (at && i > 0) at += 1;
    }
    if (!at) return false;
    for (; *at && used + 1 < capacity; at++) {
        if (*at == '\\' && at[1] == '\n') {
            at += 1 + strspn(at + 2, " ");
            continue;
        }
        if (*at == '\n') break;
        line[used++] = *at;
    }
    line[used] = '\0';
    return true;
}

#endif
