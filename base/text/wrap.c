#include "base/text/wrap.h"

#include <string.h>

int fr_letters(const char *words, size_t length) {
    int n = 0;
    for (size_t i = 0; i < length; i++) n += (words[i] & 0xC0) != 0x80;
    return n;
}

/* Bytes to the next blank, with a "%" that belongs to a number. */
static size_t word(const char *prose) {
    size_t n = strcspn(prose, " ");
    while (strncmp(prose + n, " %", 2) == 0) n += 1 + strcspn(prose + n + 1, " ");
    return n;
}

/* Bytes to the next blank that follows @p after, or to the end. */
static size_t piece(const char *prose, const char *after) {
    size_t n = strcspn(prose, " ");
    while (prose[n] && !strchr(after, prose[n - 1])) n += 1 + strcspn(prose + n + 1, " ");
    return n;
}

/* Broken at blanks that follow one of @p after; NULL: at any. */
static void wrap(struct fr_text *text, const char *prose, const char *after, int column,
                 int indent, int columns) {
    bool begun = false;
    prose += strspn(prose, " ");
    while (*prose) {
        size_t length = after ? piece(prose, after) : word(prose);
        int wide = fr_letters(prose, length);
        if (begun && wide > columns - column - 1) {
            fr_text_addf(text, "\n%*s", indent, "");
            column = indent;
            begun = false;
        }
        fr_text_addf(text, "%s%.*s", begun ? " " : "", (int)length, prose);
        column += begun + wide;
        begun = true;
        prose += length + strspn(prose + length, " ");
    }
}

void fr_wrap(struct fr_text *text, const char *prose, int column, int indent, int columns) {
    wrap(text, prose, NULL, column, indent, columns);
}

void fr_wrap_list(struct fr_text *text, const char *list, int column, int indent, int columns) {
    wrap(text, list, ",;", column, indent, columns);
}

void fr_end_line(struct fr_text *text) {
    while (text->length && text->data[text->length - 1] == ' ')
        text->data[--text->length] = '\0';
    fr_text_addf(text, "\n");
}

void fr_wrap_head(struct fr_text *text, const char *head, const char *prose, int columns) {
    enum { PROSE = 11 };
    fr_text_addf(text, "%-*s", PROSE, head);
    fr_wrap(text, prose, PROSE, PROSE, columns);
    fr_end_line(text);
}

void fr_wrap_cell(struct fr_text *text, int column, const char *prose) {
    fr_wrap(text, prose, column, column, FR_COLUMNS);
    fr_end_line(text);
}
