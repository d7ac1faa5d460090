#include "base/text/brief.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/wrap.h"

/* ---- rows ------------------------------------------------------------------------------------- */

static struct fr_brief_row *add(struct fr_brief *brief, fr_brief_kind kind, int stays,
                                const char *label) {
    if (brief->n == FR_BRIEF_ROWS) {
        brief->left_out++;
        return NULL;
    }
    struct fr_brief_row *row = &brief->row[brief->n++];
    *row = (struct fr_brief_row){.kind = kind, .stays = stays};
    snprintf(row->label, sizeof row->label, "%s", label);
    return row;
}

void fr_brief_head(struct fr_brief *brief, const char *words) {
    struct fr_brief_row *row = add(brief, FR_BRIEF_HEAD, FR_BRIEF_MUST, "");
    if (row) fr_text_addf(&row->words, "%s", words);
}

void fr_brief_row(struct fr_brief *brief, int stays, const char *label, const char *format,
                  ...) {
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    struct fr_brief_row *row = add(brief, FR_BRIEF_LIST, stays, label);
    if (row) fr_text_addf(&row->words, "%s", line);
}

void fr_brief_words(struct fr_brief *brief, int stays, const char *label,
                    struct fr_text *words) {
    if (words->length) {
        struct fr_brief_row *row = add(brief, FR_BRIEF_LIST, stays, label);
        if (row) fr_text_addf(&row->words, "%s", fr_text_get(words));
    }
    fr_text_free(words);
}

void fr_brief_lines(struct fr_brief *brief, int stays, const char *label,
                    struct fr_text *lines) {
    const char *at = fr_text_get(lines);
    for (bool first = true; *at; first = false) {
        size_t length = strcspn(at, "\n"), skip = FR_BRIEF_LABEL;
        if (skip > length) skip = length;
        fr_brief_row(brief, stays, first ? label : "", "%.*s", (int)(length - skip), at + skip);
        at += length + (at[length] == '\n');
    }
    fr_text_free(lines);
}

void fr_brief_blank(struct fr_brief *brief) {
    if (brief->n > 0 && brief->row[brief->n - 1].kind != FR_BRIEF_BLANK)
        add(brief, FR_BRIEF_BLANK, FR_BRIEF_SPARE + 1, "");
}

void fr_brief_command(struct fr_brief *brief, const char *label, const char *command,
                      const char *more) {
    struct fr_brief_row *row = add(brief, FR_BRIEF_COMMAND, FR_BRIEF_MUST, label);
    if (row) fr_text_addf(&row->words, "%s%s%s", command, *more ? "\n" : "", more);
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* One line: what is longer loses its last words. */
static void print_head(const char *words, int columns, struct fr_text *text) {
    size_t length = strlen(words);
    if (fr_letters(words, length) <= columns) {
        fr_text_addf(text, "%s\n", words);
        return;
    }
    length = 0;
    for (size_t n = strcspn(words, " "); fr_letters(words, n) <= columns - 4;) {
        length = n;
        n += words[n] == ' ';
        n += strcspn(words + n, " ");
    }
    fr_text_addf(text, "%.*s ...\n", (int)length, words);
}

/* The longest piece that no comma or semicolon breaks. */
static int longest_piece(const char *words) {
    int most = 0;
    while (*words) {
        size_t n = strcspn(words, ",;");
        int letters = fr_letters(words, n);
        if (letters > most) most = letters;
        words += n + (words[n] != '\0');
    }
    return most;
}

static void print_list(const struct fr_brief_row *row, int columns, struct fr_text *text) {
    enum { LONG = 48 };
    const char *words = fr_text_get(&row->words);
    fr_text_addf(text, "%-*s", FR_BRIEF_LABEL, row->label);
    if (longest_piece(words) < LONG)
        fr_wrap_list(text, words, FR_BRIEF_LABEL, FR_BRIEF_LABEL, columns);
    else
        fr_wrap(text, words, FR_BRIEF_LABEL, FR_BRIEF_LABEL, columns);
    fr_end_line(text);
}

static void print_command(const struct fr_brief_row *row, int columns, struct fr_text *text) {
    enum { MORE = 4, BACKSLASH = 2 };
    const char *at = fr_text_get(&row->words);
    int column = FR_BRIEF_LABEL;
    fr_text_addf(text, "%-*s", FR_BRIEF_LABEL, row->label);
    for (bool begun = false; *at; begun = true) {
        size_t length = strcspn(at, "\n");
        int wide = fr_letters(at, length);
        if (begun && column + 1 + wide > columns - BACKSLASH) {
            fr_text_addf(text, " \\\n%*s", FR_BRIEF_LABEL + MORE, "");
            column = FR_BRIEF_LABEL + MORE;
            begun = false;
        }
        fr_text_addf(text, "%s%.*s", begun ? " " : "", (int)length, at);
        column += begun + wide;
        at += length + (at[length] == '\n');
    }
    fr_end_line(text);
}

static int lines_of(const char *text) {
    int n = 0;
    for (const char *at = text; *at; at++) n += *at == '\n';
    return n;
}

/* So many lines of a row, and that it goes on. */
static void cut(struct fr_text *lines, int most) {
    char *at = lines->data;
    if (!at || lines_of(at) <= most) return;
    for (int n = 0; n < most; n++) at = strchr(at, '\n') + 1;
    lines->length = (size_t)(at - lines->data) - 1;
    lines->data[lines->length] = '\0';
    char *last = strrchr(lines->data, ' '); /* a word gives way to the dots */
    if (last && last > lines->data) {
        lines->length = (size_t)(last - lines->data);
        lines->data[lines->length] = '\0';
    }
    fr_text_addf(lines, " ...\n");
}

static void print_row(const struct fr_brief_row *row, int columns, struct fr_text *text) {
    struct fr_text lines = {0};
    switch (row->kind) {
    case FR_BRIEF_HEAD:
        print_head(fr_text_get(&row->words), columns, &lines);
        break;
    case FR_BRIEF_LIST:
        print_list(row, columns, &lines);
        cut(&lines, FR_BRIEF_ROW_LINES);
        break;
    case FR_BRIEF_COMMAND:
        print_command(row, columns, &lines);
        break;
    case FR_BRIEF_BLANK:
        fr_text_addf(&lines, "\n");
    }
    fr_text_addf(text, "%s", fr_text_get(&lines));
    text->failed = text->failed || lines.failed || row->words.failed;
    fr_text_free(&lines);
}

static int height(const struct fr_brief_row *row, int columns) {
    struct fr_text lines = {0};
    print_row(row, columns, &lines);
    int n = lines_of(fr_text_get(&lines));
    fr_text_free(&lines);
    return n;
}

static void drop(struct fr_brief *brief, int i) {
    fr_text_free(&brief->row[i].words);
    memmove(&brief->row[i], &brief->row[i + 1],
            (size_t)(brief->n - i - 1) * sizeof *brief->row);
    brief->n--;
}

/* The row that goes first: the last of those that stay least; -1: all must stay. */
static int least_needed(const struct fr_brief *brief) {
    int which = -1, stays = FR_BRIEF_MUST;
    for (int i = 0; i < brief->n; i++)
        if (brief->row[i].stays >= stays && brief->row[i].stays > FR_BRIEF_MUST) {
            stays = brief->row[i].stays;
            which = i;
        }
    return which;
}

static void fit(struct fr_brief *brief, int columns) {
    int lines = 0, which;
    for (int i = 0; i < brief->n; i++) lines += height(&brief->row[i], columns);
    while (lines + (brief->left_out > 0) > FR_BRIEF_LINES &&
           (which = least_needed(brief)) >= 0) {
        lines -= height(&brief->row[which], columns);
        brief->left_out += brief->row[which].kind != FR_BRIEF_BLANK;
        drop(brief, which);
    }
}

void fr_brief_print(struct fr_brief *brief, int columns, struct fr_text *text) {
    fit(brief, columns);
    for (int i = 0; i < brief->n; i++) {
        print_row(&brief->row[i], columns, text);
        fr_text_free(&brief->row[i].words);
    }
    if (brief->left_out > 0)
        fr_text_addf(text, "%-*s%d more row%s: --all\n", FR_BRIEF_LABEL, "", brief->left_out,
                     brief->left_out == 1 ? "" : "s");
    brief->n = 0;
}
