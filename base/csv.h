/** @file
 *  A table with a header, as spreadsheets write it (RFC 4180).
 *
 *  Cells are separated by commas; a cell that holds a comma, a quote or a line break stands in
 *  double quotes, with quotes doubled.  A byte order mark, CR LF and empty lines are accepted.  Cells are
 *  text: what they mean is for the reader of the table to say. */
#ifndef FR_BASE_CSV_H
#define FR_BASE_CSV_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

struct fr_csv {
    char name[256]; /**< of the file, for messages */
    char *text;     /**< what the cells point into */
    int n_columns, n_rows;
    const char **column; /**< [n_columns] */
    const char **cell;   /**< [n_rows][n_columns] */
    int *line;           /**< [n_rows], of the file, from 1 */
};

/** Read @p path ("-" is standard input).  A table without a header, with a repeated column, an
 *  unclosed quote or a row of another width is refused with its line.  Free with fr_csv_free,
 *  also on error.  @return FR_OK, FR_ERR_INPUT, FR_ERR_NOMEM. */
fr_status fr_csv_read(const char *path, struct fr_csv *csv, struct fr_error *err);
/** The same for @p length bytes called @p name; they are copied. */
fr_status fr_csv_parse(const char *text, size_t length, const char *name, struct fr_csv *csv,
                       struct fr_error *err);
void fr_csv_free(struct fr_csv *csv);

/** Index of the column called @p name, or -1. */
int fr_csv_find(const struct fr_csv *csv, const char *name);

/** The cell of @p row in column @p name; NULL when there is no such column. */
const char *fr_csv_get(const struct fr_csv *csv, int row, const char *name);

/** fr_fail with the line of @p row and, where not NULL, the column. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
fr_status
fr_csv_fail(const struct fr_csv *csv, int row, const char *column, struct fr_error *err,
            const char *fmt, ...);

/** Append @p cell, quoted where it must be.  Cells that a spreadsheet would compute get a ' in
 *  front (fr_csv_read takes it off again); numbers do not. */
void fr_csv_put(struct fr_text *text, const char *cell);

#endif
