/** @file
 *  An answer that fits a screen: at most 40 lines of 80 columns, each row a label and its words.
 *
 *  Rows are added in the order in which they are printed.  A row that is too many is left out: of the rows that may be
 *  left out the least important first, and a last row says how many.  So a verb adds all it has to say.
 *
 *      struct fr_brief brief = {0};
 *      fr_brief_head(&brief, "llama-3-70b on 512 GPUs of dgx-h100");
 *      fr_brief_row(&brief, FR_BRIEF_MUST, "best", "tp %d, pp %d", 8, 4);
 *      fr_brief_print(&brief, FR_COLUMNS, text);
 */
#ifndef FR_BASE_TEXT_BRIEF_H
#define FR_BASE_TEXT_BRIEF_H

#include "base/text.h"

enum { FR_BRIEF_LINES = 40, FR_BRIEF_ROWS = 128, FR_BRIEF_LABEL = 11, FR_BRIEF_ROW_LINES = 7 };

/** How a row is laid out. */
typedef enum {
    FR_BRIEF_HEAD, /**< without a label, from the first column */
    FR_BRIEF_LIST, /**< broken behind commas and semicolons where that fits, else at blanks */
    FR_BRIEF_COMMAND, /**< broken with a backslash where its text has a newline */
    FR_BRIEF_BLANK,
} fr_brief_kind;

/** How long a row stays: those of a larger number go first. */
enum { FR_BRIEF_MUST, FR_BRIEF_SHOULD, FR_BRIEF_MAY, FR_BRIEF_SPARE };

struct fr_brief_row {
    fr_brief_kind kind;
    int stays; /**< FR_BRIEF_MUST, ... */
    char label[FR_BRIEF_LABEL];
    struct fr_text words;
};

/** Begin with zeros. */
struct fr_brief {
    struct fr_brief_row row[FR_BRIEF_ROWS];
    int n, left_out; /**< rows; rows beyond FR_BRIEF_ROWS */
};

/** The question.  @p words are cut to one line where they are longer. */
void fr_brief_head(struct fr_brief *brief, const char *words);

/** A row.  At most FR_BRIEF_LABEL - 1 letters of @p label are shown; "" goes on with the row
 *  above. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void fr_brief_row(struct fr_brief *brief, int stays, const char *label, const char *format, ...);
/** The same of @p words, which are freed; none where they are empty. */
void fr_brief_words(struct fr_brief *brief, int stays, const char *label,
                    struct fr_text *words);
/** Several rows at once: lines of "label      words", as fr_wrap_head writes them.  @p lines are freed. */
void fr_brief_lines(struct fr_brief *brief, int stays, const char *label,
                    struct fr_text *lines);

/** An empty line, none beside another. */
void fr_brief_blank(struct fr_brief *brief);

/** A command to be typed next, with @p more at its end ("": none); it may be broken where it has a newline in place of a
 *  blank. */
void fr_brief_command(struct fr_brief *brief, const char *label, const char *command,
                      const char *more);

/** Append all rows, FR_BRIEF_LINES lines at most, and free them. */
void fr_brief_print(struct fr_brief *brief, int columns, struct fr_text *text);

#endif
